"""Four commands lead from nothing to a figure with three built-in losses."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
UV = BIN / "uv"
COMMANDS = (
    "rankplug new loss my_loss",
    "uv pip install --quiet --python {python} --no-deps -e my_loss",
    'rankplug sweep "loss=[my_loss,lambdarank,xe_ndcg,approx_ndcg]" backend=lightgbm "dataset=synthetic[queries=200]"'
    " --trials 3",
    "rankplug results --metric ndcg@5 --plot figure.png",
)


@pytest.mark.skipif(not UV.exists(), reason="uv is not installed beside this Python")
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_stranger_gets_from_nothing_to_a_figure_in_four_commands(tmp_path, record_property):
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "beside.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    script = tmp_path / "venv" / "bin" / "rankplug"
    script.write_text(f"#!{python}\nfrom rankplug.cli import main\nmain()\n")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "RANKPLUG_RESULTS": str(tmp_path / "results")}
    for command in COMMANDS:
        began = time.perf_counter()
        words = shlex.split(command.format(python=python))
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        record_property(command, f"{time.perf_counter() - began:.1f} s")
        print(f"{time.perf_counter() - began:6.1f} s  {command}")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert len(COMMANDS) < 5

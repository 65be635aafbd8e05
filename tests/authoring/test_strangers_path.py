"""Four commands lead from nothing to a figure with three built-in losses."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
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


FROM_PAPER_TO_VERDICT = (
    "rankplug new study my_paper",
    "uv pip install --quiet --python {python} --no-deps -e my_paper",
    "rankplug cite my_paper",
    "rankplug reproduce my_paper --profile smoke",
    "rankplug results --where \"loss = 'xe_ndcg'\" --metric ndcg@5",
)

needs_uv = pytest.mark.skipif(not UV.exists(), reason="uv is not installed beside this Python")


def follow(commands: tuple[str, ...], folder: Path) -> None:
    """Run commands one after another in an environment of a stranger's, which has rankplug and what they install."""
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "beside.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    # Kernels of notebooks are started with this Python too.
    kernel = folder / "venv" / "share" / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    script = folder / "venv" / "bin" / "rankplug"
    script.write_text(f"#!{python}\nfrom rankplug.cli import main\nmain()\n")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "RANKPLUG_RESULTS": str(folder / "results")}
    for command in commands:
        words = shlex.split(command.format(python=python))
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@needs_uv
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_four_commands_lead_from_nothing_to_a_figure(tmp_path):
    follow(COMMANDS, tmp_path)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@needs_uv
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_five_commands_lead_from_a_new_paper_to_a_verdict(tmp_path):
    follow(FROM_PAPER_TO_VERDICT, tmp_path)
    claims = json.loads((tmp_path / "report" / "my_paper" / "verdicts.json").read_text())["claims"]
    assert [claim["exhibit"] for claim in claims] == ["Table 1", "Figure 1"]
    assert {claim["verdict"] for claim in claims} <= {"holds", "fails", "no difference", "inconclusive"}
    page = (tmp_path / "report" / "my_paper.html").read_text()
    assert "The title of the paper" in page and "learns faster" in page

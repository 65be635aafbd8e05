"""Plugins as packages in an environment of their own: scaffolded ones, and that of the tutorial, which goes again."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
UV = BIN / "uv"
TUTORIAL = Path(__file__).parents[2] / "plugins" / "tutorial"
TRAIN = """
import rankplug as rp
train, valid, test = rp.load("synthetic[queries=80]", transforms=["standardise"])
quick = {"torch": "torch[epochs=30,lr=0.01]", "lightgbm": "lightgbm", "xgboost": "xgboost"}
scorers = {"torch": "linear", "lightgbm": "trees[rounds=20,leaves=7]", "xgboost": "trees[rounds=20,leaves=7]"}
chance = rp.metric("ndcg@5").mean([0.0] * train.documents, train.labels, train.starts)
for engine, backend in quick.items():
    model = rp.fit(backend, scorer=scorers[engine], loss="permutahedron", train=train, valid=valid, progress=False)
    reached = rp.evaluate(model, train, "ndcg@5").mean()
    assert reached > chance + 0.05, (engine, reached, chance)
"""
pytestmark = [
    pytest.mark.skipif(not UV.exists(), reason="uv is not installed beside this Python"),
    pytest.mark.slow,
    pytest.mark.timeout(1200),
]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs a command in an environment that has rankplug and what commands install."""
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "beside.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    # Kernels of notebooks are started with this Python too.
    kernel = tmp_path / "venv" / "share" / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    script = tmp_path / "venv" / "bin" / "rankplug"
    script.write_text(f"#!{python}\nfrom rankplug.cli import main\nmain()\n")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"PATH": path, "VIRTUAL_ENV": str(tmp_path / "venv"), "RANKPLUG_RESULTS": str(tmp_path / "results")}

    def run(*words: str, code: int = 0) -> str:
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert done.returncode == code, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    return run


def follow(run: Callable[..., str], *commands: str) -> None:
    for command in commands:
        run(*shlex.split(command))


def test_four_commands_lead_from_nothing_to_a_figure(run, tmp_path):
    follow(
        run,
        "rankplug new loss my_loss",
        "uv pip install --quiet --no-deps -e my_loss",
        'rankplug sweep "loss=[my_loss,lambdarank,xe_ndcg,approx_ndcg]" backend=lightgbm'
        ' "dataset=synthetic[queries=200]" --trials 3',
        "rankplug results --metric ndcg@5 --plot figure.png",
    )
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_five_commands_lead_from_a_new_paper_to_a_verdict(run, tmp_path):
    follow(
        run,
        "rankplug new study my_paper",
        "uv pip install --quiet --no-deps -e my_paper",
        "rankplug cite my_paper",
        "rankplug reproduce my_paper --profile smoke",
        "rankplug results --where \"loss = 'xe_ndcg'\" --metric ndcg@5",
    )
    claims = json.loads((tmp_path / "report" / "my_paper" / "verdicts.json").read_text())["claims"]
    assert [claim["exhibit"] for claim in claims] == ["Table 1", "Figure 1"]
    assert {claim["verdict"] for claim in claims} <= {"holds", "fails", "no difference", "inconclusive"}
    page = (tmp_path / "report" / "my_paper.html").read_text()
    assert "The title of the paper" in page and "learns faster" in page


def test_the_tutorial_plugin_comes_works_and_goes(run, tmp_path):
    def losses() -> dict[str, str]:
        listed = json.loads(run("rankplug", "plugins", "--kind", "loss", "--json"))["plugins"]
        return {plugin["name"]: plugin["distribution"] for plugin in listed}

    assert "permutahedron" not in losses()
    run("uv", "build", "--quiet", "--wheel", "--out-dir", ".", str(TUTORIAL))
    (wheel,) = tmp_path.glob("*.whl")
    run("uv", "pip", "install", "--quiet", "--no-deps", str(wheel))
    assert losses()["permutahedron"] == "rankplug-permutahedron"
    (report,) = json.loads(run("rankplug", "check", "permutahedron", "--json"))
    assert report["distribution"] == "rankplug-permutahedron"
    run("python", "-c", TRAIN)
    run(
        "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        str(TUTORIAL / "pyproject.toml"),
        str(TUTORIAL / "tests"),
    )
    run("uv", "pip", "uninstall", "--quiet", "rankplug-permutahedron")
    assert "permutahedron" not in losses()
    assert "there is no loss called permutahedron" in run("rankplug", "check", "permutahedron", code=1)

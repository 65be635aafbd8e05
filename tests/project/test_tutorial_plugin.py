"""The tutorial plugin as a stranger's package: built, installed, found, checked, trained on three engines, removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "plugins" / "tutorial"
BIN = Path(sys.executable).parent
UV = BIN / "uv"
CLI = "import sys; from rankplug.cli import main; sys.argv[0] = 'rankplug'; main()"
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
    print(engine, round(reached - chance, 3))
"""


@pytest.mark.skipif(not UV.exists(), reason="uv is not installed beside this Python")
@pytest.mark.slow
def test_the_tutorial_plugin_comes_works_and_goes(tmp_path):
    subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", tmp_path, TUTORIAL], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "beside.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def pip(*words):
        subprocess.run([UV, "pip", words[0], "--quiet", "--python", python, *words[1:]], check=True)

    def run(code, *words, check=True):
        command = [python, "-c", code, *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=variables, check=check)

    def losses():
        listed = json.loads(run(CLI, "plugins", "--kind", "loss", "--json").stdout)["plugins"]
        return {plugin["name"]: plugin["distribution"] for plugin in listed}

    assert "permutahedron" not in losses()
    pip("install", "--no-deps", wheel)
    assert losses()["permutahedron"] == "rankplug-permutahedron"
    (report,) = json.loads(run(CLI, "check", "permutahedron", "--json").stdout)
    assert report["distribution"] == "rankplug-permutahedron"
    assert [line.split()[0] for line in run(TRAIN).stdout.splitlines()] == ["torch", "lightgbm", "xgboost"]
    pip("uninstall", "rankplug-permutahedron")
    assert "permutahedron" not in losses()
    gone = run(CLI, "check", "permutahedron", check=False)
    assert gone.returncode == 1 and "there is no loss called permutahedron" in gone.stderr


@pytest.mark.slow
def test_the_tutorial_plugin_keeps_its_own_tests():
    code = (
        "import sys, pytest; from rankplug.authoring import plugins_of_file;"
        "plugins_of_file('rankplug_permutahedron/plugin.py');"
        "sys.exit(pytest.main(['-q', '-c', 'pyproject.toml', 'tests', '-p', 'no:cacheprovider']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TUTORIAL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

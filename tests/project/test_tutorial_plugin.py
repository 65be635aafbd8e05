"""The tutorial plugin as a stranger's package: built, installed, found, checked, trained on three engines, removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
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

needs_uv = pytest.mark.skipif(not UV.exists(), reason="uv is not installed beside this Python")


class Environment:
    """A virtual environment in which a plugin comes and goes."""

    def __init__(self, folder: Path) -> None:
        self.python = folder / "bin" / "python"
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)

    def pip(self, *words: str | Path) -> None:
        """Run uv's pip for this environment."""
        done = subprocess.run(
            [UV, "pip", words[0], "--quiet", "--python", self.python, *words[1:]], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run its Python outside of the repository."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            [self.python, *words], capture_output=True, text=True, cwd=self.python.parent, env=variables
        )

    def losses(self) -> dict[str, str]:
        """Return the installed losses with their distributions."""
        done = self.run("-c", CLI, "plugins", "--kind", "loss", "--json")
        assert done.returncode == 0, done.stderr
        return {plugin["name"]: plugin["distribution"] for plugin in json.loads(done.stdout)["plugins"]}


def build(folder: Path) -> Path:
    """Build a wheel of the tutorial's plugin."""
    subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", folder, TUTORIAL], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def comes_works_and_goes(environment: Environment, wheel: Path) -> None:
    """Check the life of the plugin in an environment that has rankplug."""
    assert "permutahedron" not in environment.losses()
    environment.pip("install", "--no-deps", wheel)
    assert environment.losses()["permutahedron"] == "rankplug-permutahedron"
    checked = environment.run("-c", CLI, "check", "permutahedron", "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)[0]["distribution"] == "rankplug-permutahedron"
    trained = environment.run("-c", TRAIN)
    assert trained.returncode == 0, trained.stderr
    assert [line.split()[0] for line in trained.stdout.splitlines()] == ["torch", "lightgbm", "xgboost"]
    environment.pip("uninstall", "rankplug-permutahedron")
    assert "permutahedron" not in environment.losses()
    gone = environment.run("-c", CLI, "check", "permutahedron")
    assert gone.returncode == 1 and "there is no loss called permutahedron" in gone.stderr


@needs_uv
@pytest.mark.slow
def test_the_tutorial_plugin_comes_works_and_goes_beside_this_environment(tmp_path):
    wheel = build(tmp_path)
    assert {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()} == {
        "rankplug_permutahedron",
        "rankplug_permutahedron-0.1.0.dist-info",
    }
    environment = Environment(tmp_path / "venv")
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "beside.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    comes_works_and_goes(environment, wheel)


@needs_uv
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_tutorial_plugin_comes_works_and_goes_in_a_clean_environment(tmp_path):
    environment = Environment(tmp_path / "venv")
    pins = ["--constraint", ROOT / "constraints.txt", "--overrides", ROOT / "overrides.txt"]
    environment.pip("install", *pins, f"rankplug[torch,lightgbm,xgboost] @ {ROOT.as_uri()}")
    comes_works_and_goes(environment, build(tmp_path))


@pytest.mark.slow
def test_the_tutorial_plugin_keeps_its_own_tests():
    code = (
        "import sys, pytest; from rankplug.authoring import plugins_of_file;"
        "plugins_of_file('rankplug_permutahedron/plugin.py');"
        "sys.exit(pytest.main(['-q', '-c', 'pyproject.toml', 'tests', '-p', 'no:cacheprovider']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TUTORIAL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

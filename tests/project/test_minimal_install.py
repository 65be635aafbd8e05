"""Without the extras a loss, a metric and a fit work, and everything else says which extra it needs."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = sorted(
    line.partition(">")[0]
    for extra in PROJECT["optional-dependencies"].values()
    for line in extra
    if not line.startswith("rankplug")
)
WITHOUT = f"""
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name in {OPTIONAL!r} else find(name, *rest)
import rankplug as rp
"""
DATA = "train, valid, test = rp.load('synthetic[queries=20,documents=5]')\n"


def run(code: str, *words: str) -> str:
    done = subprocess.run([sys.executable, "-c", WITHOUT + code, *words], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_losses_metrics_and_models_need_no_extra() -> None:
    code = f"""{DATA}
scores = rp.fit("lbfgs", loss="xe_ndcg", train=train, valid=valid).predict(test)
rp.loss("lambdarank").evaluate([0.5, 1.0], [1, 0], [0, 2])
print(0 <= rp.metric("ndcg@5").mean(scores, test.labels, test.starts) <= 1, rp.evaluate(scores, test, "mrr").size > 0)
"""
    assert run(code) == "True True"


NEEDS = {
    "rp.torch_loss('mse')": "torch",
    "rp.loss('mse').evaluate([0.5, 1.0], [1, 0], [0, 2])  # written as a PyTorch expression": "torch",
    "rp.lightgbm_objective('mse')": "lightgbm",
    "rp.xgboost_objective": "xgboost",
    "rp.results('there')": "results",
    "rp.sweep({'loss': 'mse', 'backend': 'lbfgs'}, data='synthetic[queries=20]', store='there')": "results",
    "from rankplug.plotting import new_figure; new_figure()": "notebooks",
}
REFUSALS = """
import json, os, sys
os.chdir(sys.argv[1])
messages = {}
for code in json.loads(sys.argv[2]):
    try:
        exec(code)
    except Exception as error:
        messages[code] = str(error)
print(json.dumps(messages))
"""


def test_what_needs_an_extra_says_which(tmp_path: Path) -> None:
    messages = json.loads(run(REFUSALS, str(tmp_path), json.dumps(list(NEEDS))))
    for code, extra in NEEDS.items():
        end = f"is not installed, which this needs; install it with: pip install 'rankplug[{extra}]'"
        assert messages[code].endswith(end), messages[code]

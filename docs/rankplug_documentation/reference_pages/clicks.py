"""The page about clicks, with what ``benchmarks/rankplug_benchmarks/clicks_study.py`` found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from rankplug.statistics import t_interval
from rankplug_documentation.parameter_table import table

EVIDENCE = "evidence/clicks/clicks.json"
WORDS = {
    "ips": "`ips`, harvested propensities",
    "em": "`ips[propensities=regression_em]`",
    "dual": "`dual`",
    "native": "`native`, the engines' own lambdarank on impressions, beside itself without positions",
}
NAIVE = {"native": "native naive"}
"""Ways that are compared with another one than a loss of ours on click rates."""
HEAD = """# Clicks

What stands on top is seen, and what is seen is clicked: click rates tell of positions as much as of relevance. Lists
may carry how often each document was shown at each position and clicked there, and every loss, sampler, scorer and
backend then learns without the bias:

```python
import rankplug as rp

log = rp.load("synthetic[queries=100,documents=10]", transforms=["click_log[impressions=100]"])
model = rp.fit("lightgbm", loss="lambdarank", train=log.train, valid=log.valid, debias="ips")
rp.evaluate(model, log.test, "ndcg@5").mean(), model.record.chosen["propensities"]
```

A log of your own is counted by `rp.Clicks.from_log`, an impression a row, and given to `rp.Lists`:

```python
import numpy as np

X, starts = np.random.default_rng(0).random((4, 3)), [0, 2, 4]
documents, positions, clicked = [0, 1, 1, 0, 2, 3, 3, 2], [1, 2, 1, 2, 1, 2, 1, 2], [1, 0, 0, 1, 1, 1, 0, 1]
clicks = rp.Clicks.from_log(documents, positions, clicked, size=4)
lists = rp.Lists(X, clicks.labels(), starts, clicks=clicks)
```

| `debias=` | what it does |
| --- | --- |
| `ips` | labels are clicks over examinations; documents that were shown at several positions tell the propensities |
| `ips[propensities=regression_em]` | expectation maximisation, with relevance regressed on features, tells them |
| `ips[propensities=(1,0.5,0.3)]` | they are given, one a position |
| `dual[rounds=4]` | rankers and propensities by turns, each fitted to what the other says; no position need be random |
| `native` | hands positions to LightGBM's and XGBoost's own lambdarank (`native=true`); one list an impression |

All clicks on a document over the propensities of all its impressions, $\\sum c / \\sum p$, are in expectation its
relevance under a position-based model. Labels of the training and of the validation part become grades whose gain,
$2^y - 1$, is proportional to it. That is done to lists and not inside a loss, so it is the same for all;
`lists.clicks.labels(propensities)` gives these labels to training loops of your own. `rankplug train --debias ips` and
the part `debias` of a sweep do the same. The transform [`click_log`](transforms.md) simulates users of three click
models and keeps their truth.
"""


def write_clicks_page(docs: Path) -> None:
    """Write the page."""
    (docs / "clicks.md").write_text(clicks_page(json.loads((docs / EVIDENCE).read_text())), encoding="utf-8")


def clicks_page(found: dict[str, Any]) -> str:
    """Return the page that tells of a study's runs."""
    setting, runs = found["setting"], found["runs"]
    if not runs:
        return HEAD
    seeds = len({run["seed"] for run in runs})
    scorers = ", ".join(f"`{fitter}`" for fitter in setting["backends"].values())
    lines = [
        HEAD,
        "## What it wins back",
        "",
        f"Measured on `{setting['data']}`, lists of training cut to ten documents, all of which are shown, with"
        f" `{setting['log']}`, over {seeds} seeds that draw queries, documents and clicks anew, by NDCG@5 on test"
        f" queries with true labels, of {scorers}. The sizes were chosen by seeds 100 to 103. Of the gap between"
        " click rates (*naive*) and true labels, debiasing closes the share shown, with the 95 % interval of what it"
        " adds in points; `python -m rankplug_benchmarks.clicks_study` runs it again.",
        "",
    ]
    for way, words in WORDS.items():
        own = [run for run in runs if {"true", NAIVE.get(way, "naive"), way} <= set(run["quality"])]
        if not own:
            continue
        lines += [f"### {words}", ""]
        lines += table(["backend", "loss", "naive", "debiased", "true", "of the gap", "points more"], _rows(own, way))
        lines += ["", f"{_distance(own, way)}{_counted(own, way)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _groups(runs: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, float]]]:
    groups: dict[tuple[str, str], list[dict[str, float]]] = {}
    for run in runs:
        groups.setdefault((run["backend"], run["loss"]), []).append(run["quality"])
    return groups


def _closed(own: list[dict[str, float]], way: str) -> tuple[float, Any]:
    """Return the share of the gap that is closed, and the interval of what is won."""
    naive = NAIVE.get(way, "naive")
    won = [one[way] - one[naive] for one in own]
    gap = np.mean([one["true"] - one[naive] for one in own])
    return float(np.mean(won) / gap), t_interval(won, unit="trials")


def _rows(runs: list[dict[str, Any]], way: str) -> list[list[str]]:
    rows = []
    for (backend, loss), own in _groups(runs).items():
        share, won = _closed(own, way)
        means = [f"{np.mean([one[name] for one in own]):.3f}" for name in (NAIVE.get(way, "naive"), way, "true")]
        points = f"{100 * won.point:+.1f} [{100 * won.low:+.1f}, {100 * won.high:+.1f}]"
        rows.append([f"`{backend}`", f"`{loss}`", *means, f"{100 * share:.0f} %", points])
    return rows


def _distance(runs: list[dict[str, Any]], way: str) -> str:
    """Return a sentence that tells how far propensities are from the truth, where a way has any."""
    errors = [run["errors"][way] for run in runs if way in run["errors"]]
    if not errors:
        return ""
    return (
        f"Propensities lie at most {max(errors):.3f} from the truth at any position, {np.median(errors):.3f} in the"
        " median run. "
    )


def _counted(runs: list[dict[str, Any]], way: str) -> str:
    """Return a sentence that counts where half of the gap is closed and the interval lies above zero."""
    groups = _groups(runs)
    met = 0
    for own in groups.values():
        share, won = _closed(own, way)
        met += share >= 0.5 and won.low > 0
    seeds = sorted({len(own) for own in groups.values()})
    counted = " to ".join(str(number) for number in dict.fromkeys((seeds[0], seeds[-1])))
    return (
        f"At least half of the gap is closed, with an interval above zero, for {met} of {len(groups)} pairs, over"
        f" {counted} seeds."
    )

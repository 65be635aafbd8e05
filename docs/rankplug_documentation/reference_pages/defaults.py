"""The page about defaults, written from what ``benchmarks/rankplug_benchmarks/defaults_study.py`` found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankplug_documentation.parameter_table import table

EVIDENCE = "evidence/defaults/defaults.json"
POINT = 0.01
HEAD = """# Defaults

`rp.fit("torch", loss="xe_ndcg", train=train, valid=valid)` says nothing about rates, sizes or features, and should
not have to. This page, made by `make docs`, compares every backend as it comes (*usual*) with the best single feature
and with the best of a random search (*tuned*), by mean NDCG@10 over test queries that chose nothing: validation data
choose iterations and draws, fold by fold, and the training part chooses the feature and its sign. Made data have 40
documents a list and 1,000 test queries; real collections take all their five folds. `python -m
rankplug_benchmarks.defaults_study STORE` runs it again, or on with more draws.

Defaults of networks and linear models, and rates, rounds and penalties of trees, were settled in view of the test
parts of these same collections, by some twenty settings, so that *usual* is flattered here and *tuned* is not. Leaves
of trees and their share of features were settled before their test parts were looked at, by some hundred settings of
LightGBM. Each was trained on 60 % of the queries for training and validation of a fold, or of made data of other
seeds and sizes; half of the others chose the iteration, half measured. The folds of a real collection exchange parts,
so each of its queries had a say in some fold. That a tree sees at least eight features came after a first look, for
data of four features; of these collections it concerns LETOR 2.0 alone.

A search of few draws is a weak one. Where a backend has few draws, or a collection is missing, no more has been run.

A tree sees three features of ten, but at least eight, and has as many leaves as a 6th of the root of the number of
training queries, from 4 to 31: few where a hundred queries would be learnt by heart, more where there are thousands.

A network and a linear model see features on a scale of their own, part of the model: the logarithm of each feature's
size with its sign, then mean 0 and deviation 1 over the training documents. `torch[scaling=none]` takes them as they
are. A network's training is counted in steps, of which it takes 1,000 or ten epochs, whichever is more, with a rate
that falls to 0 as a cosine; without a `patience` of yours it stops after ten of its fifty looks at the validation
part that were no better.
"""


def write_defaults_page(docs: Path) -> None:
    """Write the page."""
    (docs / "defaults.md").write_text(defaults_page(json.loads((docs / EVIDENCE).read_text())))


def defaults_page(findings: list[dict[str, Any]]) -> str:
    """Return the page that tells of some findings."""
    backends = list(dict.fromkeys(finding["backend"] for finding in findings))
    collections = list(dict.fromkeys(finding["collection"] for finding in findings))
    found = {(finding["collection"], finding["backend"]): finding for finding in findings}

    def cell(collection: str, backend: str) -> str:
        one = found.get((collection, backend))
        return f"{one['usual']:.3f} / {one['tuned']:.3f}" if one else ""

    rows = [
        [name, f"{next(finding['feature'] for finding in findings if finding['collection'] == name):.3f}"]
        + [cell(name, backend) for backend in backends]
        for name in collections
    ]
    lines = [HEAD, "Usual / tuned:", ""]
    lines += table(["collection", "best feature", *(f"`{backend}`" for backend in backends)], rows)
    summary = []
    for backend in backends:
        own = [finding for finding in findings if finding["backend"] == backend]
        beats = sum(one["usual"] > one["feature"] for one in own)
        near = sum(one["usual"] >= one["tuned"] - POINT for one in own)
        gap = sum(one["tuned"] - one["usual"] for one in own) / len(own)
        draws = sorted({one["draws"] for one in own})
        counted = str(draws[0]) if len(draws) == 1 else f"{draws[0]} to {draws[-1]}"
        words = (f"`{backend}`", f"`{own[0]['loss']}`", counted, f"{beats} of {len(own)}", f"{near} of {len(own)}")
        summary.append([*words, f"{100 * gap:+.1f}"])
    lines.append("Over the collections; a search of as many draws as there are candidates is a whole grid:")
    lines.append("")
    head = ["backend", "loss", "draws", "usual beats the feature", "within a point of tuned, or above"]
    lines += table([*head, "tuned minus usual, points"], summary)
    return "\n".join(lines).rstrip() + "\n"

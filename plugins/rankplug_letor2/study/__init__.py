"""LETOR's own baselines, as a study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankplug.studies import (
    Claim,
    Evidence,
    Exhibit,
    Margin,
    Observation,
    Results,
    Study,
    not_run,
    reached,
    read_published,
)
from rankplug_letor2.study import rows
from rankplug_letor2.study.protocol import GROUP, MEASURES, NOT_HERE, runs

POINTS = Margin(
    0.05, "Five points, what the official rows differ by at NDCG@1 among themselves.", scale=100, unit="points"
)


def official_row_reached(model: str) -> Callable[[Results], Evidence]:
    """Return the statistic that compares a row of ours with the official one, measure by measure."""

    def gather(results: Results) -> Evidence:
        if not rows.is_the_release(results):
            return not_run("not on the five folds of LETOR 2.0, whose numbers the row has")
        return reached({name: rows.difference(results, model, metric) for name, metric in MEASURES.items()})

    return gather


def rows_within_their_intervals(results: Results) -> str:
    """Count for each of our rows the measures whose interval over the folds holds the official number."""
    if not rows.is_the_release(results):
        return ""
    counts = [f"{model} {rows.measures_within(results, model)}" for model in results.models(GROUP)]
    return f"of {len(MEASURES)} measures: {', '.join(counts)}"


def row_not_here(reason: str) -> Callable[[Results], Evidence]:
    """Return the statistic of a row that has no run, with the reason."""
    return lambda results: not_run(reason)


def row_claim(model: str, statistic: Callable[[Results], Evidence], **facts: Any) -> Claim:
    """Return the claim that our row of a model is the official one."""
    claim_id, text = model.lower().replace(".", "-") + "-row", f"Our {model} gives the official row of the release."
    return Claim(claim_id, text, statistic, "Rows", section="Baselines", **facts)


study = Study(
    name="letor2",
    title="Official baselines of LETOR",
    citation="T.-Y. Liu, J. Xu, T. Qin, W. Xiong, H. Li, LETOR: Benchmark dataset for research on learning to rank for"
    " information retrieval, SIGIR Workshop on Learning to Rank for Information Retrieval, 2007",
    notebook="rankplug_letor2:letor2.ipynb",
    runs=runs,
    exhibits=(
        Exhibit("Rows", "Our rows beside the official ones, on the test parts", rows.table),
        Exhibit("Parts", "MAP on the training, validation and test parts", rows.map_of_parts),
    ),
    claims=(
        *(
            row_claim(model, official_row_reached(model), margin=POINTS, role="main")
            for model in ("RankSVM", "ListNet", "RankBoost", "FRank", "AdaRank.MAP", "AdaRank.NDCG")
        ),
        *(row_claim(model, row_not_here(reason)) for model, reason in NOT_HERE.items()),
    ),
    observations=(
        Observation(
            "numbers-within-intervals",
            "How many of our numbers lie within their interval over the five folds of the official ones.",
            rows_within_their_intervals,
            "Rows",
        ),
    ),
    published=lambda: read_published("rankplug_letor2.study"),
    findings=(
        "The release's numbers of FRank on the training parts are those on the test parts, copied: only validation and"
        " test parts can be compared. The weight of a step of FRank is derived from its loss here, and may differ from"
        " the paper's.",
        "MHR-BC has no row of ours: the release names it and prints its numbers, and what it minimises and how is in no"
        " source at hand.",
        "The release does not tell by which NDCG its AdaRank.NDCG trains. Here it is that at 5, as in AdaRank's paper,"
        " by the release's own discount.",
        "The release prints single runs on its five folds. Ours have no seed either, so the interval of a difference is"
        " that over the folds.",
    ),
)

"""Tests of each new combination against the best of the papers' own."""

from __future__ import annotations

import pandas as pd

from rankplug.statistics import LEVEL, holm
from rankplug.studies import Results, interval_of, p_value_of
from rankplug_crossover.study.protocol import METRIC, cells, whole_grids
from rankplug_crossover.study.quality import best_of_papers, identities


def candidates(results: Results, group: str) -> list[str]:
    """Return the combinations of the grid that no paper has."""
    models = set(results.models(group))
    return [cell.model for cell in cells() if cell.model in models and not cell.paper]


def better_than_papers(results: Results, group: str, metric: str = METRIC) -> pd.DataFrame:
    """Compare every combination that the papers lack with the best one in them, best first.

    The reference is the best on the *test* data, so that nothing in the papers is better; whoever beats it by a test
    beats them all. One-sided tests by the design of the data, corrected by Holm for all candidates together.
    """
    reference = best_of_papers(results, group, metric)
    rows = []
    for model in candidates(results, group):
        sample = results.difference(group, metric, model, reference)
        interval = interval_of(sample)
        rows.append(
            {"collection": group, "model": model, "reference": reference, "difference": 100 * interval.point}
            | {"low": 100 * interval.low, "high": 100 * interval.high, "over": sample.extent, "p": p_value_of(sample)}
        )
    frame = pd.DataFrame(rows).merge(identities(results, group), on="model")
    corrected = holm(frame["p"], level=LEVEL / 2)
    frame = frame.assign(**{"p (Holm)": corrected.p_values, "better": corrected.rejected})
    return frame.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the ten new combinations with the largest lead over the best of the papers, on each collection."""
    frames = [better_than_papers(results, group).head(10) for group in whole_grids(results)]
    return pd.concat(frames, ignore_index=True), None

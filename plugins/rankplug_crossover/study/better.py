"""Which combinations are better than anything in the papers: paired tests against the best of the papers' own."""

from __future__ import annotations

import pandas as pd

from rankplug.statistics import holm, paired_t_test, t_interval
from rankplug.studies import Results
from rankplug_crossover.study.protocol import METRIC, cells, name_of, paper_of
from rankplug_crossover.study.quality import best_of_papers, identities, query_values

LEVEL = 0.05


def better_than_papers(results: Results, group: str, metric: str = METRIC) -> pd.DataFrame:
    """Every combination nobody published against the best published one, best first.

    The reference is the best on the *test* data, so that nothing in the papers is better; whoever beats it by a test
    beats them all. One-sided paired t tests over queries, corrected by Holm for all the new combinations together.
    """
    values = query_values(results, group, metric)
    reference = best_of_papers(results, group, metric)
    new = [model for cell in cells() if (model := name_of(*cell)) in values and not paper_of(model)]
    rows = []
    for model in new:
        test = paired_t_test(values[model], values[reference], unit="queries")
        interval = t_interval(100 * (values[model] - values[reference]), unit="queries")
        rows.append(
            {"collection": group, "model": model, "reference": reference, "difference": interval.point}
            | {"low": interval.low, "high": interval.high, "t": test.statistic, "queries": test.pairs}
            | {"p": test.p_value / 2 if test.difference > 0 else 1 - test.p_value / 2}
        )
    frame = pd.DataFrame(rows).merge(identities(results, group), on="model")
    corrected = holm(frame["p"], level=LEVEL)
    frame = frame.assign(**{"p (Holm)": corrected.p_values, "better": corrected.rejected})
    return frame.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """The ten that lead the best of the papers most, or trail it least, on each collection."""
    frames = [better_than_papers(results, group).head(10) for group in results.groups()]
    return pd.concat(frames, ignore_index=True), None

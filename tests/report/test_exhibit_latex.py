"""Tables of a report in LaTeX are shaped as papers print them."""

from __future__ import annotations

import math

import pandas as pd

from rankplug.report.exhibit_tables import exhibit_latex


def test_ours_stands_beside_what_is_published_with_intervals_and_the_best_in_bold() -> None:
    made = [
        ("A", "NDCG@1", 41.25, 0.5, 40.0),
        ("B", "NDCG@1", 42.5, math.nan, math.nan),
        ("A", "NDCG@5", 50.0, 0.25, 49.0),
    ]
    table = pd.DataFrame(
        {
            "published on": "Web_30K", "ours on": "synthetic", "model": model, "metric": metric, "ours": ours,
            "half width": half, "trials": 5, "published": published, "published half width": math.nan,
            "difference": ours - published, "combination": "0123456789abcdef",
        }
        for model, metric, ours, half, published in made
    )  # fmt: skip
    lines = exhibit_latex(table).splitlines()
    assert lines[1:6] == [
        r"\begin{tabular}{llrrrr}",
        r"\toprule",
        r" &  & \multicolumn{2}{c}{NDCG@1} & \multicolumn{2}{c}{NDCG@5} \\",
        r"\cmidrule(lr){3-4} \cmidrule(lr){5-6}",
        r"data & model & ours & published & ours & published \\",
    ]
    assert lines[7] == r"Web\_30K & A & $41.25 \pm 0.5$ & $40$ & $\mathbf{50} \pm 0.25$ & $49$ \\"
    assert lines[8] == r"Web\_30K & B & $\mathbf{42.5}$ &  &  &  \\"
    assert "0123456789abcdef" not in "".join(lines)


def test_other_tables_keep_their_columns_but_for_digests_and_ends_of_intervals() -> None:
    table = pd.DataFrame(
        {"loss": ["a_b"], "mean": [0.5], "low": [0.4], "high": [0.6], "trials": [3], "combination": "x"}
    )
    lines = exhibit_latex(table).splitlines()
    assert lines[3] == r"loss & mean & trials \\"
    assert lines[5] == r"a\_b & $0.5\;[0.4, 0.6]$ & 3 \\"

"""Tables of a report: links and intervals of their cells in HTML, and the shape that papers print in LaTeX."""

from __future__ import annotations

import math
import re

import pandas as pd
import pytest

from rankplug.report.exhibit_tables import exhibit_latex, links_to, table_html, unlinked


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"ours": 0.5, "half width": 0.02}, "3 trials, 95 % interval 0.48 to 0.52"),
        ({"difference": 0.5, "low": 0.25, "high": 0.75}, "3 trials, 95 % interval 0.25 to 0.75"),
        ({"ours": 0.5, "half width": float("nan")}, "3 trials"),
        ({"share": 0.5}, "3 trials"),
    ],
)
def test_a_number_has_trials_and_interval_in_its_title(columns, told):
    table = pd.DataFrame([{"model": "a", **columns, "combination": "0" * 16}])
    html = table_html(table, (), links_to({"0" * 16: 3}))
    assert re.search(f'title="{told}">0.5</a>', html)


def test_an_empty_column_is_left_out():
    table = pd.DataFrame({"ours": [0.5, 0.25], "difference": [float("nan")] * 2, "source": ["", "text"]})
    html = table_html(table, (), unlinked)
    assert re.findall("<th(?: [^>]*)?>(.*?)</th>", html) == ["ours", "source"]


def test_latex_sets_ours_beside_the_published_number() -> None:
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


def test_latex_of_other_tables_keeps_their_columns() -> None:
    table = pd.DataFrame(
        {"loss": ["a_b"], "mean": [0.5], "low": [0.4], "high": [0.6], "trials": [3], "combination": "x"}
    )
    lines = exhibit_latex(table).splitlines()
    assert lines[3] == r"loss & mean & trials \\"
    assert lines[5] == r"a\_b & $0.5\;[0.4, 0.6]$ & 3 \\"

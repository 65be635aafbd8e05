"""Tables of a report: which cells lead to runs, what a cell tells, and which columns and rows are there."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from rankplug.report.exhibit_tables import links_to, table_html
from rankplug.studies import unlinked


def test_a_number_of_an_unknown_combination_stays_plain():
    assert links_to({})("0.5", ["0123456789abcdef"]) == "0.5"


def test_a_number_of_several_combinations_leads_to_each():
    known = {"0" * 16: 3, "1" * 16: 18}
    html = links_to(known)("0.5", list(known))
    assert re.findall('href="combinations/([01]+).html"', html) == list(known)
    assert html.startswith('<a href="combinations/0000000000000000.html" title="3 or 18 trials">0.5</a>')


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"ours": 0.5, "half width": 0.02}, "3 trials, 95 % interval 0.48 to 0.52"),
        ({"difference": 0.5, "low": 0.25, "high": 0.75}, "3 trials, 95 % interval 0.25 to 0.75"),
        ({"ours": 0.5, "half width": float("nan")}, "3 trials"),
        ({"share": 0.5}, "3 trials"),
    ],
)
def test_a_number_tells_its_trials_and_interval_to_the_pointer(columns, told):
    table = pd.DataFrame([{"model": "a", **columns, "combination": "0" * 16}])
    html = table_html(table, (), links_to({"0" * 16: 3}))
    assert re.search(f'title="{told}">0.5</a>', html)


def test_a_long_table_says_how_much_is_left_to_its_file():
    assert "50 more rows" in table_html(pd.DataFrame({"x": range(250)}), (), unlinked)


def test_a_table_without_rows_says_so_in_place_of_heads_alone():
    html = table_html(pd.DataFrame({"model": [], "ours": []}), (), unlinked)
    assert "<th" not in html and "No run of this profile gives a row" in html


def test_a_column_in_which_no_row_has_anything_is_left_out():
    table = pd.DataFrame({"ours": [0.5, 0.25], "difference": [float("nan")] * 2, "source": ["", "text"]})
    html = table_html(table, (), unlinked)
    assert re.findall("<th(?: [^>]*)?>(.*?)</th>", html) == ["ours", "source"]

"""Tables of a report in HTML and LaTeX, and executed notebooks as pages."""

from __future__ import annotations

import math
import re

import nbformat
import pandas as pd
import pytest

from rankplug.report.exhibit_tables import exhibit_latex, table_html
from rankplug.report.notebook_page import notebook_html


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
    html = table_html(table, (), {"0" * 16: 3})
    assert re.search(f'title="{told}">0.5</a>', html)


def test_an_empty_column_is_left_out():
    table = pd.DataFrame({"ours": [0.5, 0.25], "difference": [float("nan")] * 2, "source": ["", "text"]})
    html = table_html(table, (), {})
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
    assert lines[1] == r"\begin{tabular}{llrrrr}"
    assert lines[3] == r"data & model & \multicolumn{2}{c}{NDCG@1} & \multicolumn{2}{c}{NDCG@5} \\"
    assert lines[4] == r" &  & ours & published & ours & published \\"
    assert lines[6] == r"Web\_30K & A & $41.25 \pm 0.5$ & $40$ & $\mathbf{50} \pm 0.25$ & $49$ \\"
    assert lines[7] == r"Web\_30K & B & $\mathbf{42.5}$ &  &  &  \\"
    assert "0123456789abcdef" not in "".join(lines)


def test_latex_of_other_tables_keeps_their_columns() -> None:
    table = pd.DataFrame(
        {"loss": ["a_b"], "mean": [0.5], "low": [0.4], "high": [0.6], "trials": [3], "combination": "x"}
    )
    lines = exhibit_latex(table).splitlines()
    assert lines[3] == r"loss & mean & trials \\"
    assert lines[5] == r"a\_b & $0.5\;[0.4, 0.6]$ & 3 \\"


def cells(*sources):
    return [nbformat.v4.new_code_cell(source, outputs=[]) for source in sources]


def test_code_without_outputs_is_folded_with_the_next(tmp_path):
    shown = nbformat.v4.new_output("stream", text="an output")
    text = nbformat.v4.new_markdown_cell("a text")
    sources = [*cells("one = 1", " ", "two = 2"), nbformat.v4.new_code_cell("three()", outputs=[shown]), text]
    path = tmp_path / "silent.ipynb"
    last = nbformat.v4.new_markdown_cell("the end")
    nbformat.write(nbformat.v4.new_notebook(cells=[*sources, *cells("four = 4"), last]), path)
    page = notebook_html(path)
    folds = re.findall(r"<details><summary>code</summary><pre><code>(.*?)</code>", page, re.DOTALL)
    assert folds == ["one = 1\n\ntwo = 2\n\nthree()", "four = 4"]
    assert page.index("three()") < page.index("an output") < page.index("a text") < page.index("four = 4")


def test_a_long_notebook_lists_its_parts(tmp_path):
    headings = ["One", "Two: $w$", "Two", "Two", "a <b>"]
    cells = [nbformat.v4.new_markdown_cell("# Title")]
    cells += [nbformat.v4.new_markdown_cell(f"Before.\n\n## {heading}\n\nText.") for heading in headings]
    long, short = tmp_path / "long.ipynb", tmp_path / "short.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), long)
    nbformat.write(nbformat.v4.new_notebook(cells=cells[:-1]), short)
    page = notebook_html(long)
    listed = re.findall(r'<li><a href="#([^"]+)">', page)
    assert listed == re.findall(r'<section class="text" id="([^"]+)">', page) == list(dict.fromkeys(listed))
    assert len(listed) == len(headings) and "<math" in page[: page.index("</ul>")] and "<b>" not in page
    assert 'class="contents"' not in notebook_html(short)


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}', "[" * 9999]
)
def test_a_damaged_notebook_is_said_to_be_so(text, tmp_path, capfd):
    (tmp_path / "damaged.ipynb").write_text(text)
    assert "The executed notebook is damaged" in notebook_html(tmp_path / "damaged.ipynb")
    assert capfd.readouterr() == ("", "")

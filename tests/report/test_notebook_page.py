"""An executed notebook as a page: what is rendered, what is folded, and what is shown in place of what is damaged."""

from __future__ import annotations

import re

import nbformat
import pytest

from rankplug.report.notebook_page import notebook_html
from rankplug.report.safe_html import safe_text


def cells(*sources):
    return [nbformat.v4.new_code_cell(source, outputs=[]) for source in sources]


def test_outputs_keep_tables_and_lose_scripts():
    cleaned = safe_text("<style>p{}</style><table onclick='x()'><tr><th>a</th></tr></table><script>x()</script>")
    assert cleaned == "<table><tbody><tr><th>a</th></tr></tbody></table>"


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

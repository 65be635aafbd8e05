"""The page "Which loss should I use?" says what the evidence says, and the papers' pages have idea and result."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from rankplug_documentation.paper_pages import idea_of
from rankplug_documentation.reproduction import ORDER, evidence_in
from rankplug_documentation.which_loss import questions, which_loss_page

from rankplug.registry import registry
from rankplug.studies import study

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("question", questions(), ids=lambda one: one["question"])
def test_every_claim_and_loss_of_a_question_exists(question):
    installed = {plugin.specification.name for plugin in registry().plugins("loss")}
    assert set(question["losses"]) <= installed
    for name, ids in question["claims"].items():
        assert set(ids) <= {claim.id for claim in study(name).claims}


def test_another_verdict_gives_another_answer(tmp_path):
    (tmp_path / "evidence").mkdir()
    for file in (DOCS / "evidence").glob("*.json"):
        text = file.read_text(encoding="utf-8")
        (tmp_path / "evidence" / file.name).write_text(text.replace('"no difference"', '"holds"'), encoding="utf-8")
    row = "](evidence/xendcg.md#beats-lambdamart)"
    told = [[line for line in which_loss_page(docs).splitlines() if row in line] for docs in (DOCS, tmp_path)]
    assert "**no difference**" in told[0][0] and "**holds**" in told[1][0]


@pytest.mark.parametrize("name", ORDER)
def test_the_idea_of_a_paper_is_what_its_notebook_says_before_the_runs(name):
    cells = idea_of(nbformat.read(study(name).notebook_path, as_version=4)).cells
    source = "\n".join(cell.source for cell in cells)
    assert "live(" in source and "study.run(" not in source and "controls(study" not in source
    assert any(cell.source.startswith(("## The idea", "## Cross two")) for cell in cells)
    assert name in evidence_in(DOCS / "evidence")

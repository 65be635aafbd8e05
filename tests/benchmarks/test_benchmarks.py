"""The benchmarks: contestants compute the same, and timings are summarised within rounds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rankplug_benchmarks import evaluation, losses
from rankplug_benchmarks.command import SUBJECTS
from rankplug_benchmarks.rounds import BEGIN, END, Row, SelfTimed, Timings, fill_page, interleave, write_report
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app


@pytest.mark.parametrize("name", losses.FORMULAS)
def test_dense_formulas_equal_our_losses(name: str) -> None:
    batch = losses.Batch(np.array([5, 1, 12, 7]))
    ours = rp.torch_loss(name)(batch.packed, batch.labels, batch.starts)
    dense = losses.FORMULAS[name](batch.padded, batch.padded_labels, batch.mask).mean()
    assert ours.item() == pytest.approx(dense.item(), rel=1e-5)


@pytest.mark.parametrize(
    "peer", [pytest.param(name, marks=[pytest.mark.slow] * (name == "ranx")) for name in evaluation.PEERS]
)
def test_evaluators_agree_on_ndcg(peer: str) -> None:
    calls = evaluation.evaluations(120, [peer])
    theirs = calls[peer][0]()
    ours = np.nan_to_num(calls["ours"][0]()[: theirs.size])
    assert np.nan_to_num(theirs) == pytest.approx(ours, abs=1e-6)


def test_rounds_with_a_slow_peer_are_discarded() -> None:
    timings = Timings({"ours": [1.0, 3.0, 1.0], "peer": [2.0, 6.0, 2.0]}).without_outliers()
    assert timings.seconds["ours"] == [1.0, 1.0]
    assert timings.ratio("ours", "peer") == (0.5, 0.5, 0.5)


def test_interleaved_contestants_alternate_their_order() -> None:
    order: list[str] = []

    def contestant(name: str) -> SelfTimed:
        def run() -> float:
            order.append(name)
            return 1.0

        return SelfTimed(run)

    interleave({"a": contestant("a"), "b": contestant("b")}, rounds=2)
    assert order == ["a", "b", "b", "a", "a", "b"]


def test_page_shows_headline_rows_only(tmp_path) -> None:
    rows = [Row("fast", 0.5, 0.4, 0.6, at_most=0.9, headline=True), Row("detail", 1.0, 1.0, 1.0)]
    write_report(tmp_path / "results" / "x.json", rows)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter")
    fill_page(page, tmp_path / "results")
    text = page.read_text()
    assert "| fast | 1 | 0.5 | 0.4 to 0.6 | <= 0.9: met |" in text and "detail" not in text and "old" not in text
    assert json.loads((tmp_path / "results" / "x.json").read_text())["rows"][1]["what"] == "detail"


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_every_subject_runs_at_tiny_sizes(name: str) -> None:
    answer = CliRunner().invoke(app, ["bench", name, "--quick", "--rounds", "1"])
    assert answer.exit_code == 0, answer.output
    assert "took" in answer.output

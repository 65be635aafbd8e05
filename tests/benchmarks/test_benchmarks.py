"""Every benchmark runs at tiny sizes, and compares like with like."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from rankplug_benchmarks import metrics, peers
from rankplug_benchmarks.data_sets import reading, synthetic
from rankplug_benchmarks.gradients import packed_formulas, padded, padded_formulas
from rankplug_benchmarks.harness import reports
from rankplug_benchmarks.harness.subjects import Effort, chosen, subjects
from rankplug_benchmarks.quality import over_time
from rankplug_data.synthetic import collection

from rankplug.system import use_threads

QUICK_ONES = ("synthetic",)
"""Those that take less than five seconds."""
NAMES = [
    name if name in QUICK_ONES else pytest.param(name, marks=pytest.mark.slow)
    for name in (subject.name for subject in subjects())
]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_at_tiny_size_and_finds_finite_numbers(name, monkeypatch):
    monkeypatch.delenv("RANKPLUG_DATA", raising=False)
    with use_threads(1):
        report = reports.run(chosen([name])[0], Effort(rounds=1, quick=True))
    assert report.quick and report.measurements + report.curves + report.tables
    assert all(
        np.isfinite([measurement.value, measurement.low, measurement.high]).all() for measurement in report.measurements
    )
    assert all(curve.points for curve in report.curves)


@pytest.mark.slow
def test_all_evaluators_agree_to_12_digits_on_what_they_are_timed_for():
    for cutoff in metrics.CUTOFFS:
        contest = metrics.Contest(1_200, cutoff)
        differences = {name: contest.largest_difference(name) for name in metrics.CONTESTANTS}
        assert max(differences.values()) < 1e-12, differences


@pytest.mark.slow
def test_all_readers_find_the_same_values():
    with reading.written(8) as path:
        assert reading.share_that_differs(path, "scikit-learn") == 0
        rounded = reading.share_that_differs(path, "xgboost")
        assert rounded < 0.05, "XGBoost rounds some values to a neighbouring float"


@pytest.mark.slow
def test_reading_is_much_faster_than_scikit_learn_and_holds_one_matrix():
    with reading.written(60) as path, use_threads(1):
        values = {
            measurement.what.split(": ")[1]: measurement.value
            for measurement in reading.measure_reading(path, Effort(rounds=3), 1)
        }
        assert values["scikit-learn over ours"] > 8
        assert values["xgboost over ours"] > 1
    with reading.written(200) as path:
        assert reading.peak_memory(path) < 1.3


@pytest.mark.parametrize("in_memory", [True, False])
def test_made_data_have_the_size_asked_for_and_settings_stay_as_they_were(in_memory):
    before = collection.IN_MEMORY_BYTES, os.environ.get("RANKPLUG_CACHE")
    megabytes, seconds = synthetic.make("mslr", 4.0, in_memory)
    assert megabytes == pytest.approx(4.0, rel=0.3)
    assert seconds > 0
    assert (collection.IN_MEMORY_BYTES, os.environ.get("RANKPLUG_CACHE")) == before


@pytest.mark.parametrize(
    "loss",
    [
        "cross_entropy",
        *(pytest.param(loss, marks=pytest.mark.slow) for loss in ("ranknet", "urank", "approx_ndcg", "lambdaloss")),
    ],
)
def test_padded_formulas_have_the_gradient_of_ours(loss):
    batch = padded.Batch(6)
    formula = next(contest[3] for contest in padded.CONTESTS if contest[0] == loss)
    batch.ours(loss, None)()
    batch.dense(formula)()
    ours, theirs = batch.packed.grad.numpy().copy(), batch.padded.grad[batch.mask].numpy()
    np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-6)
    batch.sparse(getattr(packed_formulas, loss))()
    np.testing.assert_allclose(batch.packed.grad.numpy(), ours, rtol=2e-3, atol=2e-6)


@pytest.mark.parametrize("loss", ["listmle", "xe_ndcg"])
def test_packed_formulas_that_draw_have_the_mean_of_padded_ones(loss):
    batch = padded.Batch(3)
    ways = [
        lambda: getattr(padded_formulas, loss)(batch.padded, batch.padded_labels, batch.mask),
        lambda: getattr(packed_formulas, loss)(batch.packed, batch.packed_lists),
    ]
    with torch.no_grad():
        draws = [torch.stack([way() for _ in range(400)]).numpy() for way in ways]
    errors = np.hypot(*(drawn.std(0) / 20.0 for drawn in draws))
    assert (np.abs(draws[0].mean(0) - draws[1].mean(0)) <= 4.5 * errors + 1e-4).all()


def test_a_curve_over_time_is_the_best_so_far_and_the_median_of_the_seeds():
    paths = [[(1.0, 0.5), (2.0, 0.4), (4.0, 0.7)], [(1.0, 0.3), (2.0, 0.6), (4.0, 0.6)]]
    points = over_time(paths)
    assert points[0] == (1.0, pytest.approx(0.4)) and points[-1] == (pytest.approx(4.0), pytest.approx(0.65))
    values = [value for _, value in points]
    assert values == sorted(values)


def test_every_peer_has_a_program_and_something_to_run():
    for peer in peers.PEERS:
        assert (Path(peers.__file__).parent / peer.program).is_file()
        assert sum(map(bool, (peer.losses, peer.predictions, peer.readings, peer.trainings))) == 1


def test_a_peer_that_ends_is_told_with_its_reason(tmp_path):
    peer = peers.Peer("none", "1", (), "prediction/peer_trees.py", predictions=("machine code",))
    (tmp_path / "lleaves.py").write_text("raise SystemExit('no compiler here')")
    with (
        peers.PeerProcess(peer, tmp_path, "machine code", 1, rows=np.ones((1, 2)), model=np.array("")) as process,
        pytest.raises(peers.PeerError, match="machine code of none 1 ended: no compiler here"),
    ):
        process.contestant()

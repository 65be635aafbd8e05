"""The training loop behaves the same for every engine: early stopping, curves, interruption, divergence, progress."""

from __future__ import annotations

import math
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankplug as rp
from rankplug.errors import DivergedError
from rankplug.training._training_loop import TOLERANCE, Selection

ENGINES = [
    ("lightgbm", "trees[leaves=4,rounds=12,min_data=2]"),
    ("xgboost", "trees[leaves=4,rounds=12]"),
    ("torch[epochs=12,batch=4,lr=0.05]", "mlp[layers=(8,)]"),
]


def made(queries, seed):
    noise = np.random.default_rng(seed)
    features = noise.normal(size=(queries * 10, 4)).astype(np.float32)
    labels = np.digitize(features[:, 0] + noise.normal(size=queries * 10), [0.5, 1.5]).astype(np.float32)
    return rp.Lists(features, labels, np.arange(0, queries * 10 + 1, 10))


@pytest.fixture(scope="module")
def train():
    return made(20, seed=0)


@pytest.fixture(scope="module")
def valid():
    return made(20, seed=1)


@pytest.mark.parametrize(("backend", "scorer"), ENGINES)
def test_the_model_kept_is_the_best_on_validation_and_its_curve_value_is_its_own(backend, scorer, train, valid):
    model = rp.fit(backend, scorer=scorer, loss="cross_entropy", train=train, valid=valid, selection="ndcg@3")
    curve = model.curve.columns["valid ndcg@3"]
    own = rp.metric("ndcg@3").mean(model.predict(valid), valid.labels, valid.starts)
    assert own == pytest.approx(curve[model.best_iteration], abs=1e-9)
    assert own >= max(curve) - 1e-6
    assert len(model.curve.columns["train ndcg@3"]) == len(curve) == 12


@pytest.mark.parametrize(("backend", "scorer"), ENGINES)
def test_training_stops_when_patience_runs_out(backend, scorer, train, valid):
    model = rp.fit(
        backend, scorer=scorer.replace("12", "200"), loss="cross_entropy", train=train, valid=valid, patience=2
    )
    assert model.record.stopped in ("patience", "finished")
    if model.record.stopped == "patience":
        assert model.record.iterations == model.best_iteration + 3


@pytest.mark.parametrize(("backend", "scorer"), ENGINES)
def test_a_callback_sees_every_iteration_and_may_stop(backend, scorer, train, valid):
    seen = []

    def stop_at_five(iteration, metrics):
        seen.append((iteration, metrics["valid ndcg@5"]))
        return iteration == 4

    model = rp.fit(backend, scorer=scorer, loss="cross_entropy", train=train, valid=valid, callbacks=[stop_at_five])
    assert [iteration for iteration, _ in seen] == [0, 1, 2, 3, 4]
    assert model.record.stopped == "callback"


@pytest.mark.parametrize(
    ("backend", "scorer"), [*ENGINES, ("lbfgs", "linear"), ("cutting_planes", "linear"), ("rankboost", "stumps")]
)
def test_an_interruption_returns_the_best_model_so_far(backend, scorer, train, valid):
    def interrupt(iteration, metrics):
        if iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 4 iterations"):
        model = rp.fit(backend, scorer=scorer, loss="cross_entropy", train=train, valid=valid, callbacks=[interrupt])
    assert model.record.stopped == "interrupted"
    assert np.isfinite(model.predict(valid)).all()


INTERRUPTED = """
import signal, numpy as np, rankplug as rp
# What is started in a shell's background is told to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
noise = np.random.default_rng(0)
features = noise.normal(size=(2000, 5)).astype(np.float32)
lists = rp.Lists(features, noise.integers(0, 3, 2000), np.arange(0, 2001, 20))

def tell(iteration, metrics):
    print(iteration, flush=True)

model = rp.fit("lightgbm", scorer="trees[rounds=1000000]", loss="cross_entropy", train=lists, callbacks=[tell])
print(model.record.stopped, np.isfinite(model.predict(lists)).all())
"""


def test_ctrl_c_in_a_terminal_returns_the_model():
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    ) as run:
        for line in run.stdout:
            if line.strip() == "5":
                run.send_signal(signal.SIGINT)
            if not line.strip().isdigit():
                break
        assert line.split() == ["interrupted", "True"]
    assert run.returncode == 0


@pytest.mark.parametrize(("backend", "scorer"), ENGINES)
def test_a_loss_that_turns_nan_stops_with_the_last_good_model(backend, scorer, train, valid, monkeypatch):
    from rankplug.losses import Objective

    honest = Objective.__call__

    def nan_from_the_fourth(self, scores, *, iteration=0, **settings):
        out = honest(self, scores, iteration=iteration, **settings)
        if iteration >= 3:
            out.value[:] = out.gradient[:] = math.nan
        return out

    monkeypatch.setattr(Objective, "__call__", nan_from_the_fourth)
    with pytest.raises(DivergedError, match="no longer finite at iteration 3") as caught:
        rp.fit(backend, scorer=scorer, loss="cross_entropy", train=train, valid=valid)
    assert caught.value.model.record.iterations == 3
    assert np.isfinite(caught.value.model.predict(valid)).all()


def test_without_validation_data_the_last_iteration_is_kept(train):
    model = rp.fit("lightgbm", scorer="trees[rounds=7,leaves=4,min_data=2]", loss="cross_entropy", train=train)
    assert model.best_iteration == 6
    assert model.booster.num_trees() == 7


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30)


@given(rows)
def test_the_kept_iteration_is_the_first_lexicographic_maximum(values):
    selection = Selection(("ndcg@1", "ndcg@3"))
    for iteration, row in enumerate(values):
        selection.improves(iteration, row)
    assert selection.best_iteration == values.index(max(values))


def test_a_difference_within_the_tolerance_leaves_the_decision_to_the_next_metric():
    selection = Selection(("ndcg@1", "ndcg@3"))
    assert selection.improves(0, (0.5, 0.3))
    assert not selection.improves(1, (0.5 + TOLERANCE / 2, 0.2))
    assert selection.improves(2, (0.5 - TOLERANCE / 2, 0.4))
    assert not selection.improves(3, (0.4, 0.9))


def test_of_losses_the_lowest_is_kept():
    selection = Selection(("loss",))
    assert [selection.improves(i, (value,)) for i, value in enumerate((3.0, 2.0, 2.5))] == [True, True, False]


def test_a_metric_that_is_undefined_gives_way_to_one_that_is_not():
    selection = Selection(("ndcg@5",))
    assert selection.improves(0, (float("nan"),))
    assert selection.improves(1, (0.1,))
    assert not selection.improves(2, (float("nan"),))

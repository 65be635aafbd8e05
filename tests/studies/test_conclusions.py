"""Conclusions over a scoreboard are those that pandas and SciPy draw from the same numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankplug.store import Result, Store, Trial
from rankplug.studies import Runs, Study, best_methods, loss_records, noise_effects, scoreboard

NOISE = "gumbel[samples=2]"
LEVELS = {
    "MSE": ("lightgbm", "mse", "", 0.40), "noisy MSE": ("lightgbm", "mse", NOISE, 0.45),
    "RankNet": ("lightgbm", "ranknet", "", 0.50), "noisy RankNet": ("lightgbm", "ranknet", NOISE, 0.48),
    "ListNet": ("torch", "listnet", "", 0.70), "ListMLE": ("torch", "listmle", "", 0.699),
}  # fmt: skip
"""Backend, loss, sampler and mean of each model."""
TRIALS = 5


def runs(profile, data):
    for name, transforms in (("plain", []), ("flipped", ["label_flips[share=0.3]"]), ("longer", [])):
        models = {
            model: {"backend": backend, "loss": loss, **({"sampler": sampler} if sampler else {})}
            for model, (backend, loss, sampler, _) in LEVELS.items()
        }
        documents = 9 if name == "longer" else 8
        shared = {"dataset": f"synthetic[queries=20,documents={documents}]", "transforms": transforms}
        yield Runs(name, models, shared, trials=TRIALS, place="MSLR")


def value(model, trial, flipped):
    noise = np.random.default_rng([trial, *model.encode()]).normal(0, 0.002)
    return LEVELS[model][3] + 0.01 * trial - 0.1 * flipped + noise


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """Compare the models on a store of made results."""
    store = Store(tmp_path_factory.mktemp("conclusions"))
    for group in runs("quick", None):
        for model in LEVELS:
            for trial in group.trials_of(model):
                tests = str(trial.number)
                values = np.full(4, value(model, trial.number, group.name == "flipped"))
                record = {"test_fingerprint": tests, "pool": tests, "data": {"train": tests}, "started": 1.0}
                one = Trial(trial.combination, 1, trial.number)
                store.write(Result(one, {"ndcg@5": values}, ("a", "b", "c", "d"), record=record))
    study = Study("paper", "A paper", "none", "made:made.ipynb", runs, (), (), pd.DataFrame)
    return scoreboard([study], store=store, profiles=["quick"])


def test_the_best_method_is_told_of_collections_that_no_transform_changed_further(board):
    one, other = best_methods(board)
    assert one.collection.dataset != other.collection.dataset and str(other.method) == "ListNet"
    assert str(one.method) == "ListNet" and one.collection.transforms == () and one.count == len(LEVELS)
    assert [str(rival) for rival in one.rivals] == ["ListMLE"]
    assert one.standing.interval.point == pytest.approx(np.mean([value("ListNet", n, False) for n in range(TRIALS)]))


def test_noise_is_judged_by_pairs_that_differ_by_nothing_else(board):
    (effect,) = noise_effects(board)
    assert effect.sampler == "gumbel" and len(effect.differences) == effect.with_interval == 6
    expected = []
    for model in ("MSE", "RankNet"):
        for flipped in (False, True, False):
            found = [value(f"noisy {model}", n, flipped) - value(model, n, flipped) for n in range(TRIALS)]
            low, high = stats.t.interval(0.95, TRIALS - 1, np.mean(found), stats.sem(found))
            expected.append((np.mean(found), low, high))
    given = sorted((difference.point, difference.low, difference.high) for difference in effect.differences)
    assert np.allclose(given, sorted(expected))
    assert (effect.better, effect.worse) == (3, 3)
    assert effect.mean == pytest.approx(np.mean([point for point, *_ in expected]))


def test_losses_are_compared_on_their_own_backend(board):
    records = loss_records(board)
    assert list(records) == ["lightgbm", "torch"]
    first, *others = records["lightgbm"]
    assert (first.loss, first.unbeaten, first.collections, first.behind) == ("ranknet", 2, 2, 0.0)
    assert {one.loss: one.unbeaten for one in others} == {"ranknet with gumbel": 0, "mse with gumbel": 0, "mse": 0}
    behind = {one.loss: one.behind for one in others}
    means = {model: np.mean([value(model, n, False) for n in range(TRIALS)]) for model in LEVELS}
    assert behind["mse"] == pytest.approx(means["RankNet"] - means["MSE"])
    assert [(one.loss, one.unbeaten) for one in records["torch"]] == [("listnet", 2), ("listmle", 2)]

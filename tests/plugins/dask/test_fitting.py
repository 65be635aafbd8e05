"""A model fitted by several workers is the one that a single machine fits, and no query is split over workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankplug_dask.fitting import split_lists

import rankplug as rp
from rankplug.errors import FitError

SCORER = "trees[rounds=8,leaves=6,min_data=5]"


def coarse_lists(queries: int, seed: int) -> rp.Lists:
    """Make lists whose features have few values, so that every machine bins them alike whatever part it sees."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(3, 30, queries)
    features = draw.integers(0, 12, (int(lengths.sum()), 6)).astype(np.float32)
    labels = np.clip((features[:, 0] + features[:, 1] + draw.normal(0, 3, len(features))) // 6, 0, 4)
    return rp.Lists(features, labels, np.concatenate([[0], np.cumsum(lengths)]))


@given(lengths=st.lists(st.integers(1, 50), min_size=1, max_size=30), data=st.data())
def test_parts_are_whole_lists_in_order(lengths: list[int], data: Any) -> None:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    lists = rp.Lists(np.arange(starts[-1], dtype=np.float32)[:, None], np.zeros(starts[-1]), starts)
    parts = split_lists(lists, data.draw(st.integers(1, len(lengths))))
    assert all(len(part) for part in parts)
    assert [length for part in parts for length in part.lengths] == lengths
    np.testing.assert_array_equal(np.concatenate([part.features for part in parts]), lists.features)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Start two workers in processes of their own."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("loss", ["lambdarank", "urank", "xe_ndcg"])
def test_two_workers_fit_what_one_machine_fits(client: Any, backend: str, loss: str) -> None:
    train, valid = coarse_lists(120, seed=1), coarse_lists(40, seed=2)
    alone = rp.fit(backend, loss=loss, scorer=SCORER, train=train, valid=valid)
    together = rp.fit_on_cluster(client, backend, loss=loss, scorer=SCORER, train=train, valid=valid)
    quality = [rp.evaluate(model, valid, "ndcg@10").mean() for model in (alone, together)]
    assert quality[1] == pytest.approx(quality[0], abs=0.02)
    if loss != "xe_ndcg":  # which draws noise by a list's place on its worker
        assert together.record.best_iteration == alone.record.best_iteration
        np.testing.assert_allclose(together.predict(valid), alone.predict(valid), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(
            together.record.curve.columns["valid ndcg@5"], alone.record.curve.columns["valid ndcg@5"], atol=1e-6
        )


@pytest.mark.slow
def test_workers_load_their_own_parts(client: Any) -> None:
    from dask.delayed import delayed

    parts = [delayed(coarse_lists)(60, seed=seed) for seed in (3, 4)]
    joined = rp.Lists.concatenate([coarse_lists(60, seed=seed) for seed in (3, 4)])
    together = rp.fit_on_cluster(client, "lightgbm", loss="lambdarank", scorer=SCORER, train=parts)
    alone = rp.fit("lightgbm", loss="lambdarank", scorer=SCORER, train=joined)
    np.testing.assert_allclose(together.predict(joined), alone.predict(joined), rtol=1e-3, atol=1e-4)
    with pytest.raises(FitError, match="2 workers need at least as many parts"):
        rp.fit_on_cluster(client, "lightgbm", loss="lambdarank", train=parts[:1])


@pytest.mark.slow
@pytest.mark.parametrize("debias", ["ips", "dual[rounds=2]"])
def test_clicks_are_debiased_as_on_one_machine(client: Any, debias: str) -> None:
    log = rp.load("synthetic[queries=200,documents=8]", transforms=["click_log[impressions=100,swaps=0.2]"])
    asked: dict[str, Any] = {"loss": "mse", "scorer": SCORER, "train": log.train, "valid": log.valid, "debias": debias}
    alone, together = rp.fit("lightgbm", **asked), rp.fit_on_cluster(client, "lightgbm", **asked)
    assert together.record.combination["debias"] == debias
    assert together.record.chosen["propensities"] == pytest.approx(alone.record.chosen["propensities"], abs=0.05)
    quality = [rp.evaluate(model, log.test, "ndcg@5").mean() for model in (alone, together)]
    assert quality[1] == pytest.approx(quality[0], abs=0.06)

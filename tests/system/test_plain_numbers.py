"""Arrays arrive as they were given, or are refused: nothing is unmasked, rounded or overflows on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import rankplug as rp
from rankplug.errors import DataError

PLAIN = {
    "features": [[0.1, 1.0], [0.4, 0.0], [0.2, 3.0]],
    "labels": [0.0, 1.0, 2.0],
    "scores": [0.3, 0.1, 0.2],
    "starts": [0, 3],
    "ids": [7, 7, 7],
    "weights": [1.0, 2.0, 1.0],
}


def hidden(values):
    """Return the same as a masked array that hides the last value."""
    mask = np.zeros(np.shape(values), np.bool_)
    mask.flat[-1] = True
    return np.ma.masked_array(values, mask)


TAKES = {
    "Lists": (("features", "labels", "starts"), rp.Lists),
    "metric": (("scores", "labels", "starts"), rp.metric("ndcg@5")),
    "loss.evaluate": (("scores", "labels", "starts"), rp.loss("mse").evaluate),
    "sampler.draw": (("scores", "starts"), rp.sampler("gumbel").draw),
    "Ranker.fit": (
        ("features", "labels", "ids", "weights"),
        lambda X, y, qid, weights: rp.Ranker("mse").fit(X, y, qid=qid, sample_weight=weights),
    ),
    "torch_loss": (("labels", "starts"), lambda labels, starts: rp.torch_loss("mse")(torch.ones(3), labels, starts)),
}


@pytest.mark.parametrize("taker", TAKES)
def test_masked_values_are_refused(taker):
    names, function = TAKES[taker]
    for name in names:
        arguments = [hidden(np.asarray(PLAIN[other])) if other == name else PLAIN[other] for other in names]
        with pytest.raises(DataError, match="a masked array hides 1 of them"):
            function(*arguments)


@pytest.mark.parametrize("taker", [taker for taker, (names, _) in TAKES.items() if "starts" in names])
def test_offsets_with_fractions_are_refused_not_cut(taker):
    names, function = TAKES[taker]
    with pytest.raises(DataError, match=r"^starts must be whole numbers, got 1\.9 at position 1$"):
        function(*([0, 1.9, 3] if name == "starts" else PLAIN[name] for name in names))


@pytest.mark.parametrize("name", ["features", "labels"])
@pytest.mark.parametrize("large", [1e39, 10**400])
def test_a_number_beyond_single_precision_is_refused(name, large):
    changed = PLAIN | {name: [[large, 1.0], *PLAIN[name][1:]] if name == "features" else [large, 0.0, 1.0]}
    with pytest.raises(DataError, match=f"^{name} must be numbers that float32 can hold"):
        rp.Lists(changed["features"], changed["labels"], changed["starts"])


@pytest.mark.parametrize("ids", [[1.0, np.nan, np.nan], [1, None, 2], pd.Series(["a", pd.NA, "b"], dtype="string")])
def test_a_missing_query_id_is_named_with_its_place(ids):
    with pytest.raises(DataError, match=r"^query ids must not be missing, got .* at position 1$"):
        rp.Lists.from_query_ids(PLAIN["features"], PLAIN["labels"], ids)
    with pytest.raises(DataError, match=r"^qid must not be missing, got .* at position 1$"):
        rp.Ranker("mse").fit(PLAIN["features"], PLAIN["labels"], qid=ids)

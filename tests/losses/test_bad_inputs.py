"""Wrong names, parameters and arrays are refused by losses and metrics."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import RankplugError

PAIR = ([0.5, 0.1], [0, 1], [0, 2])


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: rp.loss("lamdarank"), "did you mean lambdarank"),
        (lambda: rp.loss("lambdarank["), "expected a parameter's name at character 12"),
        (lambda: rp.loss("lambdarank[sigma=0]"), "sigma=0 is not possible"),
        (lambda: rp.loss("lambdarank[sigma=nan]"), "sigma='nan' is not possible"),
        (lambda: rp.loss("lambdarank[sigma=1,sigma=2]"), "sigma appears twice"),
        (lambda: rp.loss(None), "not by None"),
        (lambda: rp.loss("mse").on([0, -1], [0, 2]), "labels of zero or more"),
        (lambda: rp.loss("mse").on(["good", "bad"], [0, 2]), "labels must be numbers"),
        (lambda: rp.loss("mse").on([0, 1, 2], [0, 3], weights=[1, 2]), "one a list \\(1\\) or one a document \\(3\\)"),
        (lambda: rp.loss("mse").on([0, 1], [0, 2], weights=[1, -2]), "weights must be finite and zero or more"),
        (lambda: rp.loss("mse").on([0, 1], [0, 2], sampler="gumble"), "did you mean gumbel"),
        (lambda: rp.loss("mse").evaluate([0.5], [0, 1], [0, 2]), "2 documents, but 1 scores"),
        (lambda: rp.loss("mse").evaluate([0.5, np.inf], [0, 1], [0, 2]), "the score of document 1 is inf"),
        (lambda: rp.loss("mse").evaluate(*PAIR, seed=0.5), "seed must be a whole number"),
        (lambda: rp.loss("mse").evaluate(*PAIR, step="jump"), "known: gradient, newton"),
        (lambda: rp.metric("ncdg@5"), "did you mean ndcg"),
        (lambda: rp.metric("ndcg@five"), "expected a whole number after @"),
        (lambda: rp.metric("ndcg@0"), "k=0 is not possible"),
        (lambda: rp.metric("ndcg[gain=cubic]"), "known: exponential, linear"),
        (lambda: rp.metric("ndcg@5").mean([0.5, np.nan], [0, 1], [0, 2]), "the score of document 1 is nan"),
        (lambda: rp.metric("map").mean([0.5, 0.1], [0, np.inf], [0, 2]), "label inf of document 1"),
    ],
)
def test_wrong_arguments_are_refused_by_name(attempt, words):
    with pytest.raises(RankplugError, match=words):
        attempt()

r"""Debiasing: learning relevance from clicks, with any loss, sampler, scorer and backend.

Labels of the training and of the validation part become estimates of relevance from clicks, added up over all
impressions of a document, so that the iteration is chosen without the bias too. ``ips`` takes propensities that are
given or estimated before training; its labels are clicks over expected examinations, a ratio, or with
``estimator=inverse`` the inverse propensity score (Joachims et al., WSDM 2017; Wang et al., WSDM 2018). ``dual``
alternates: a ranker is fitted by propensities, and propensities by the ranker. The name is that of Ai et al. (SIGIR
2018), whose algorithm takes gradient steps of both models on each batch; that is not implemented. ``native`` hands
positions to an engine's own objective.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from rankplug.data import Lists
from rankplug.errors import DataError
from rankplug.registry import Parameters
from rankplug.training import FitLists, Model
from rankplug_clicks.clicks import Clicks, Probabilities
from rankplug_clicks.plugin import Dual, InversePropensity
from rankplug_clicks.propensities import harvest, propensities_by, regression_em, relative


def inverse_propensity(parameters: InversePropensity, train: Lists, valid: Lists | None, fit: FitLists) -> Model:
    """Fit to relevance that clicks and propensities estimate."""
    clicks = _clicks_of(train)
    if parameters.propensities == "harvest":
        propensities = harvest(clicks)
    elif parameters.propensities == "regression_em":
        propensities = regression_em(clicks, train.features)
    else:
        propensities = clicks.check_propensities(parameters.propensities)
    return _fit(train, valid, propensities, fit, parameters.estimator)


def dual(parameters: Dual, train: Lists, valid: Lists | None, fit: FitLists) -> Model:
    """Fit rankers and propensities in turn, from those that there would be if relevance did not depend on position."""
    clicks = _clicks_of(train)
    propensities = relative(clicks.clicked.sum(axis=0) / np.maximum(clicks.shown.sum(axis=0), 1))
    model = _fit(train, valid, propensities, fit)
    for _ in range(parameters.rounds - 1):
        propensities = propensities_by(model.predict(train), train, clicks, propensities)
        model = _fit(train, valid, propensities, fit)
    return model


def native(parameters: Parameters, train: Lists, valid: Lists | None, fit: FitLists) -> Model:
    """Fit by an engine's own objective, from the position of each document."""
    positions = _clicks_of(train).only_positions
    if positions is None:
        raise DataError(
            "an engine's own debiasing needs the one position at which each document was shown: one list an impression,"
            " as click_log[lists=impressions] makes them"
        )
    return fit(train, valid, positions)


def _clicks_of(lists: Lists) -> Clicks:
    assert lists.clicks is not None
    return Clicks.of(lists.clicks)


def _fit(
    train: Lists,
    valid: Lists | None,
    propensities: Probabilities,
    fit: FitLists,
    estimator: Literal["ratio", "inverse"] = "ratio",
) -> Model:
    def debiased(lists: Lists) -> Lists:
        return (
            lists if lists.clicks is None else replace(lists, labels=_clicks_of(lists).labels(propensities, estimator))
        )

    model = fit(debiased(train), None if valid is None else debiased(valid), None)
    model.record.chosen["propensities"] = propensities.tolist()
    return model

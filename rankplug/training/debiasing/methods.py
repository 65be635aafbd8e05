r"""Debiasing: learning relevance from clicks that tell of positions too, with any loss, sampler, scorer and backend.

A sampler wraps the scores that a loss sees, debiasing its labels: they become clicks by inverse propensity
(Joachims et al., WSDM 2017; Wang et al., WSDM 2018), added up over all impressions of a document, of the training and
of the validation part alike, so that the iteration is chosen without the bias too. Lists carry the clicks, see
:class:`rankplug.Clicks`.

``ips`` takes propensities that are given or estimated before training. ``dual`` alternates (Ai et al., SIGIR 2018): a
ranker is fitted by propensities, and propensities by the ranker, whose scores isotonic regression turns into relevance,
so that the scale of a loss's scores does not matter. ``native`` hands positions to an engine's own objective.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rankplug.data import Clicks, Integers, Lists, harvest, regression_em
from rankplug.errors import DataError, ParameterError, did_you_mean
from rankplug.registry import Named, Parameters, parse, read_parameters
from rankplug.training._models import Model
from rankplug.training.debiasing.dual_learning import first_propensities, propensities_by

Fit = Callable[[Lists, Lists | None, Integers | None], Model]


class InversePropensity(Parameters):
    """Parameters of ``ips``."""

    propensities: Literal["harvest", "regression_em"] | tuple[float, ...] = Field(
        "harvest",
        description="how they are estimated: from documents shown at several positions, or with relevance regressed on"
        " the features; or one a position",
    )


class Dual(Parameters):
    """Parameters of ``dual``."""

    rounds: int = Field(4, ge=1, description="rankers fitted, each by the propensities that the one before gives")


METHODS: dict[str, type[Parameters]] = {"ips": InversePropensity, "dual": Dual, "native": Parameters}


class Debiasing:
    """A way to learn from clicks, with its parameters.

    Args:
        reference: its name, such as ``"ips[propensities=regression_em]"``.
    """

    def __init__(self, reference: Named) -> None:
        self.reference = parse(reference)
        name = self.reference.name
        if name not in METHODS:
            raise ParameterError(f"{name} is no debiasing: {did_you_mean(name, METHODS)}")
        self.parameters = read_parameters(METHODS[name], self.reference.parameters, f"debiasing {name}")

    @staticmethod
    def named(reference: Named | Debiasing) -> Debiasing:
        """Return the debiasing of a name, or the debiasing itself."""
        return reference if isinstance(reference, Debiasing) else Debiasing(reference)

    def __str__(self) -> str:
        return str(self.reference)

    def __repr__(self) -> str:
        return f"<debiasing {self}>"

    def fit(self, train: Lists, valid: Lists | None, fit: Fit) -> Model:
        """Fit lists that carry clicks.

        Args:
            train: lists to learn from.
            valid: lists that choose the iteration.
            fit: fits plain lists for training and validation, and what is told of positions to an engine's objective.
        """
        clicks = train.clicks
        if clicks is None:
            raise DataError(
                f"{self} needs clicks beside the labels of the training data; give rankplug.Lists(..., clicks=...) or"
                " Ranker.fit(..., clicks=...), or load with the transform click_log"
            )
        if isinstance(self.parameters, InversePropensity):
            found = _estimated(self.parameters, train, clicks)
            model = fit(_debiased(train, found), _debiased(valid, found), None)
        elif isinstance(self.parameters, Dual):
            found = first_propensities(clicks)
            model = fit(_debiased(train, found), _debiased(valid, found), None)
            for _ in range(self.parameters.rounds - 1):
                found = propensities_by(model.predict(train), train, clicks, found)
                model = fit(_debiased(train, found), _debiased(valid, found), None)
        else:
            found = None
            model = fit(train, valid, _positions(clicks))
        if found is not None:
            model.record.chosen["propensities"] = [float(value) for value in found]
        model.record.combination["debias"] = str(self)
        return model


def _estimated(parameters: InversePropensity, train: Lists, clicks: Clicks) -> NDArray[np.float64]:
    if parameters.propensities == "harvest":
        return harvest(clicks)
    if parameters.propensities == "regression_em":
        return regression_em(clicks, train.features)
    return clicks.check_propensities(parameters.propensities)


LabelledLists = TypeVar("LabelledLists", Lists, Lists | None)


def _debiased(lists: LabelledLists, propensities: NDArray[np.float64]) -> LabelledLists:
    """Return lists with labels of clicks without bias; those without clicks keep theirs."""
    if lists is None or lists.clicks is None:
        return lists
    return replace(lists, labels=lists.clicks.labels(propensities))


def _positions(clicks: Clicks) -> Integers:
    positions = clicks.only_positions
    if positions is None:
        raise DataError(
            "an engine's own debiasing needs the one position at which each document was shown: one list an impression,"
            " as click_log[lists=impressions] makes them"
        )
    return positions

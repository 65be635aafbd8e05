r"""Cutting planes as a backend: for convex losses, also where they have no derivative.

At every ``w_t`` the sum of the lists' losses ``R`` is bounded from below by its tangent plane, and the next weights
minimise ``|w|^2/C`` plus the highest of all planes so far. In the dual, with the planes' slopes as rows of ``A`` and
their offsets ``b``, that is ``max b'a - C/4 |A'a|^2`` over the simplex, and ``w = -C/2 A'a``. The best objective seen
less the dual's value bounds what is left to gain, so a run ends with a certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from rankplug.errors import FitError
from rankplug.training import Model, Problem, Record
from rankplug_lbfgs.plugin import CuttingPlanesParameters
from rankplug_lbfgs.regularised import RegularisedLearner, Weights, WeightsModel, fit, read_model

PAIR_STEPS = 20_000


def minimise(learner: RegularisedLearner, watch: Callable[[], bool]) -> None:
    """Leave the weights with the lowest objective in the learner."""
    w = np.zeros(learner.scorer.weights)
    slopes: list[Weights] = []
    offsets: list[float] = []
    shares = np.empty(0)
    best, best_w = np.inf, w
    learner.ended = "iterations"
    for _ in range(learner.settings.planes):
        risk, slope = learner.risk(w)
        objective = risk + float(w @ w) / learner.C
        if objective < best:
            best, best_w = objective, w
        learner.w, learner.loss = best_w, best / len(learner.problem.train)
        if watch():
            return
        slopes.append(slope)
        offsets.append(risk - float(slope @ w))
        first = np.append(shares, 0.0 if shares.size else 1.0)
        shares = highest_bound(np.array(slopes), np.array(offsets), learner.C, first)
        w = -learner.C / 2.0 * (shares @ np.array(slopes))
        bound = float(np.array(offsets) @ shares) - float(w @ w) / learner.C
        if best - bound <= learner.settings.tolerance * max(abs(best), 1e-12):
            learner.ended = "tolerance"
            return


def highest_bound(slopes: Weights, offsets: Weights, C: float, shares: Weights) -> Weights:
    """Find the point of the simplex with the highest ``b'a - C/4 |A'a|^2``, from a first one.

    Share moves from the plane that least deserves it to the one that most does, by the exact step between the two.
    """
    products = slopes @ slopes.T * (C / 2.0)
    rise = offsets - products @ shares
    scale = max(float(np.abs(offsets).max()), float(np.abs(products).max()), 1e-12)
    for _ in range(PAIR_STEPS):
        to = int(np.argmax(rise))
        held = np.flatnonzero(shares > 0)
        source = int(held[np.argmin(rise[held])])
        gain = rise[to] - rise[source]
        if gain <= 1e-12 * scale:
            break
        bend = products[to, to] + products[source, source] - 2.0 * products[to, source]
        step = shares[source] if bend <= 0 else min(float(shares[source]), float(gain / bend))
        shares[to] += step
        shares[source] -= step
        rise -= step * (products[:, to] - products[:, source])
    return shares


class CuttingPlanes:
    """The backend ``cutting_planes``."""

    def fit(self, problem: Problem) -> Model:
        if not problem.loss.specification.convex:
            raise FitError(f"cutting planes bound only convex losses from below, and {problem.loss} is none; use lbfgs")
        return fit(problem, minimise, cast(CuttingPlanesParameters, problem.backend_parameters).planes)

    def load(self, content: bytes, record: Record) -> WeightsModel:
        return read_model(content, record, "cutting_planes")


engine = CuttingPlanes()

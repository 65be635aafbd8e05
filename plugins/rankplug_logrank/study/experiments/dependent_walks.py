"""Section 4: L-BFGS where the sample of rankings depends on w, as that of a Markov chain does.

Small made problems, ExpGain for MAP, three samples: drawn once before training, as the paper does; drawn anew at every
evaluation, without regard to w; and the states of a Metropolis walk whose law is the current ``Pr(y)``.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import building_block, key_of, uniform
from rankplug.studies import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Doubles = NDArray[np.float64]
LISTS, GOODS, BADS, FEATURES, PROBLEMS = 20, 3, 9, 5, 100
LABELS = np.repeat([1.0, 0.0], [GOODS, BADS])
TIES = np.random.default_rng(0).random((LISTS, LABELS.size))
"""Order of documents with equal scores, by chance, as good documents come first in a list."""
RANKINGS, STEPS_BETWEEN, ITERATIONS, C = 80, 5, 50, 10.0
AT_THE_END, CONVERGED = 10, 0.01
"""Evaluations over which the gradient is averaged where a run ended, and the share that a converged run has left."""
ONCE, ANEW, BY_LAW = "drawn once", "drawn anew at every evaluation", "a walk by the current law"
SAMPLES = (ONCE, ANEW, BY_LAW)


class RankingSample(NamedTuple):
    """Rankings of one list."""

    inversions: Doubles
    gains: Doubles
    chances: Doubles | None
    """None where the law is to be renormalised on the sample."""


@building_block
def walk_by_law(scores, order, goods, key, between, inversions, gains):
    """Fill the states of a walk that exchanges neighbours, by the law ``exp(w.phi(y))``; good documents come first."""
    documents, counter = scores.size, 0
    for state in range(gains.size):
        for _ in range(between):
            position = int(uniform(key, counter) * (documents - 1))
            coin = uniform(key, counter + 1)
            counter += 2
            above, below = order[position], order[position + 1]
            change = 0.0
            if (above < goods) != (below < goods):
                change = 2.0 * (scores[below] - scores[above])
            if change >= 0.0 or coin < math.exp(change):
                order[position], order[position + 1] = below, above
        seen_good, seen_bad, precision = 0, 0, 0.0
        for position in range(documents):
            document = order[position]
            if document < goods:
                inversions[state, document] = seen_bad
                seen_good += 1
                precision += seen_good / (position + 1.0)
            else:
                inversions[state, document] = seen_good - goods
                seen_bad += 1
        gains[state] = precision / goods


def drawn(kind: str, scores: Doubles, query: int, evaluation: int) -> RankingSample:
    """Return the rankings of a list at one evaluation of the objective."""
    if kind == BY_LAW:
        inversions, gains = np.zeros((RANKINGS, scores.size)), np.zeros(RANKINGS)
        order = np.lexsort((TIES[query], -scores))
        key = np.uint64(key_of(0, evaluation, query, 0))
        walk_by_law(scores, order, GOODS, key, STEPS_BETWEEN, inversions, gains)
        return RankingSample(inversions, gains, np.full(RANKINGS, 1 / RANKINGS))
    return drawn_without_scores(query, 0 if kind == ONCE else evaluation)


@functools.lru_cache(maxsize=4096)
def drawn_without_scores(query: int, seed: int) -> RankingSample:
    """Return rankings as the losses draw them."""
    from rankplug_logrank.parameters import RankingSet
    from rankplug_logrank.rankings import sample_rankings

    wanted = RankingSet.model_validate({"gain": "map", "samples": RANKINGS, "p_best": 0.5})
    sample = sample_rankings(LABELS, wanted, seed=seed, query=query)
    return RankingSample(sample.inversions.astype(float), 1 - sample.deltas, None)


def list_objective(scores: Doubles, sample: RankingSample) -> tuple[float, Doubles]:
    """Return ExpGain of a list on a sample, and its gradient with respect to the scores."""
    if sample.chances is None:
        exponents = -2 * sample.inversions @ scores
        chances = np.exp(exponents - exponents.max())
        chances /= chances.sum()
    else:
        chances = sample.chances
    expected = float(chances @ sample.gains)
    by_gain = chances * sample.gains / expected
    return -math.log(expected), 2 * (by_gain - chances) @ sample.inversions


@functools.cache
def run_frame() -> pd.DataFrame:
    """Return how L-BFGS ended on each problem with each sample, and the training MAP it reached."""
    import pandas as pd
    from scipy.optimize import minimize

    rows = []
    for problem in range(PROBLEMS):
        noise = np.random.default_rng(problem)
        features = noise.normal(size=(LISTS, LABELS.size, FEATURES))
        features[:, :GOODS] += 0.6 * noise.normal(size=FEATURES)
        for kind in SAMPLES:
            objective = Objective(features, kind)
            start = objective.gradient_length(np.zeros(FEATURES))
            optimum = minimize(
                objective,
                np.zeros(FEATURES),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": ITERATIONS, "ftol": 1e-8},
            )
            left = objective.gradient_length(optimum.x) / start
            ended = (optimum.nit, optimum.nfev, left, float(left > CONVERGED), training_map(features @ optimum.x, TIES))
            rows.append((problem, kind, *ended))
    columns = ["problem", "sample", "iterations", "evaluations", "gradient left", "not converged", "training MAP"]
    return pd.DataFrame(rows, columns=columns)


class Objective:
    """ExpGain of all lists of a problem as a function of w, on rankings that each evaluation may draw anew."""

    def __init__(self, features: Doubles, kind: str) -> None:
        self.features, self.kind, self.evaluations = features, kind, 0

    def __call__(self, w: Doubles) -> tuple[float, Doubles]:
        self.evaluations += 1
        value, slope = float(w @ w) / C, 2 * w / C
        for query, own in enumerate(self.features):
            scores = own @ w
            loss, pull = list_objective(scores, drawn(self.kind, scores, query, self.evaluations))
            value, slope = value + loss, slope + pull @ own
        return value, slope

    def gradient_length(self, w: Doubles) -> float:
        """Return the length of the gradient's mean over evaluations, without what the noise of that mean adds to it."""
        slopes = np.array([self(w)[1] for _ in range(AT_THE_END)])
        square = (slopes.mean(0) ** 2).sum() - slopes.var(0, ddof=1).sum() / AT_THE_END
        return math.sqrt(max(0.0, square))


def training_map(scores: Doubles, ties: Doubles) -> float:
    """Return mean average precision of the lists, whose first documents are good.

    Args:
        scores: of all documents, a row a list.
        ties: random numbers by which documents of equal scores are ordered, as all are where a run ends at w = 0.
    """
    ranks = np.argsort(np.lexsort((ties, -scores), axis=1), axis=1)[:, :GOODS]
    return float(((1 + np.arange(GOODS)) / (1 + np.sort(ranks, axis=1))).mean())


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the share of the gradient that is left where each run ended, and the training MAP it reached."""
    from rankplug.plotting import PALETTE, new_figure

    frame = run_frame()
    figure, (left, right) = new_figure(2, width=3.6, height=2.8)
    for index, (kind, paint) in enumerate(zip(SAMPLES, PALETTE, strict=False)):
        rows = frame[frame["sample"] == kind]
        side = index + np.linspace(-0.2, 0.2, len(rows))
        left.plot(side, rows["gradient left"].clip(lower=1e-8), "o", color=paint, markersize=2.5)
        right.plot(side, rows["training MAP"], "o", color=paint, markersize=2.5, label=kind)
    left.axhline(CONVERGED, color="#555555", linewidth=0.8, linestyle="--")
    left.set(xlabel="runs, side by side", ylabel="share of the gradient that is left", yscale="log", xticks=[])
    right.set(xlabel="runs, side by side", ylabel="training MAP", xticks=[])
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return frame, figure

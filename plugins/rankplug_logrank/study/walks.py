"""Walks over rankings: how they look, how far they spread, and what L-BFGS makes of samples that depend on w."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankplug.compiled import building_block, key_of, uniform
from rankplug.plotting import PALETTE, new_figure
from rankplug.studies import Results
from rankplug_logrank.parameters import RankingSet
from rankplug_logrank.rankings import sample_rankings
from rankplug_logrank.study.identities import comes_from_a_ranking
from rankplug_logrank.study.protocol import GAINS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


GOODS, BADS = 4, 12
FLIPS = 60
Signs = NDArray[np.int64]


class Walk(NamedTuple):
    """The states of one walk."""

    signs: Signs
    """1 where the good document g stands above the bad one b: shape (states, goods, bads)."""
    matches: bool
    """True if the counts that the sampler keeps are those of a ranking in every state."""
    deltas: NDArray[np.float64]
    """Delta_MAP of each state."""


@functools.cache
def walk(best: bool, goods: int = GOODS, bads: int = BADS, flips: int = FLIPS, seed: int = 0) -> Walk:
    """Return one walk of the sampler from the best or the worst ranking."""
    drawn = RankingSet.model_validate(
        {"gain": "map", "samples": flips + 1, "walk": flips, "p_best": float(best), "distinct": False}
    )
    sample = sample_rankings(np.repeat([1.0, 0.0], [goods, bads]), drawn, seed=seed)
    # The first ranking is the ideal one, which belongs to every set and to no walk.
    bads_above, goods_below = sample.inversions[1:, :goods], -sample.inversions[1:, goods:]
    highest_first = np.argsort(np.argsort(-goods_below, axis=1, kind="stable"), axis=1)
    signs = np.where(highest_first[:, None, :] < bads_above[:, :, None], -1, 1)
    matches = bool(((signs < 0).sum(1) == goods_below).all() and comes_from_a_ranking(signs).all())
    return Walk(signs, matches, sample.deltas[1:])


def flip_chances(signs: Signs, branch: str = "symmetric") -> NDArray[np.float64]:
    """Return alpha of every pair of one ranking, ``(K + 1) / (n+ + n-)``."""
    goods, bads = signs.shape
    bads_below = (signs > 0).sum(1, keepdims=True)
    goods_under_bad = (signs < 0).sum(0, keepdims=True)
    tendency = bads - bads_below + goods_under_bad
    if branch == "symmetric":
        tendency = np.where(signs > 0, tendency, goods + bads - tendency)
    alpha: NDArray[np.float64] = (tendency + 1) / (goods + bads)
    return alpha


def distance_of(signs: Signs) -> NDArray[np.float64]:
    """Return Delta_MAP of rankings."""
    positions = np.arange(signs.shape[1])
    ranks = positions + np.sort((signs < 0).sum(2), axis=1)
    distances: NDArray[np.float64] = 1 - ((1 + positions) / (1 + ranks)).mean(1)
    return distances


@functools.cache
def flip_frame() -> pd.DataFrame:
    """Return the flips that give a ranking again, with sign, alpha in two readings, and the change of Delta_MAP."""
    rows: list[tuple[Any, ...]] = []
    for best in (True, False):
        for state, signs in enumerate(walk(best).signs):
            flipped = np.repeat(signs[None], signs.size, axis=0)
            pairs = np.unravel_index(np.arange(signs.size), signs.shape)
            flipped[np.arange(signs.size), *pairs] *= -1
            change = np.abs(distance_of(flipped) - distance_of(signs[None]))
            symmetric, local = (flip_chances(signs, branch)[pairs] for branch in ("symmetric", "local"))
            for pair in np.flatnonzero(comes_from_a_ranking(flipped)):
                facts = (signs[pairs][pair], symmetric[pair], local[pair], change[pair])
                rows.append(("best" if best else "worst", state, *facts))
    columns = ["restart", "state", "sign", "alpha symmetric", "alpha local", "change of Delta"]
    return pd.DataFrame(rows, columns=columns)


def flips_that_leave() -> int:
    """Return how many flips of the first states of two walks make a sign matrix that is no ranking's."""
    count = 0
    for best in (True, False):
        for signs in walk(best).signs:
            flipped = np.repeat(signs[None], signs.size, axis=0)
            flipped[np.arange(signs.size), *np.unravel_index(np.arange(signs.size), signs.shape)] *= -1
            count += int((~comes_from_a_ranking(flipped)).sum())
    return count


def correlation(sign: int, branch: str) -> float:
    """Return Spearman's correlation of alpha and the size of the change."""
    from scipy.stats import spearmanr

    frame = flip_frame()
    frame = frame[frame["sign"] == sign]
    return float(spearmanr(frame[f"alpha {branch}"], frame["change of Delta"]).statistic)


def draw_walks(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw a state with alpha of its pairs, two walks, and alpha against the change that a flip makes."""
    frame = flip_frame()
    figure, (left, middle, right) = new_figure(3, width=3.4, height=3.0, width_ratios=(1.25, 1, 1))
    _draw_state(left, walk(True).signs[walk(True).deltas.argmax()])
    for best, name, paint in ((True, "best", PALETTE[0]), (False, "worst", PALETTE[3])):
        for seed in range(4):
            label = f"from the {name}" if seed == 0 else None
            middle.plot(walk(best, seed=seed).deltas, color=paint, alpha=0.7, linewidth=1, label=label)
    middle.set(xlabel="flips", ylabel=r"$\Delta_{MAP}$", ylim=(0, 1), title="walks from the two restarts")
    middle.legend(loc="center right", bbox_to_anchor=(1, 0.66), fontsize=8)
    for sign, marker, paint in ((1, "o", PALETTE[2]), (-1, "^", PALETTE[1])):
        rows = frame[frame["sign"] == sign]
        label = f"good document {'above' if sign > 0 else 'below'}"
        right.scatter(
            rows["alpha symmetric"],
            rows["change of Delta"],
            9,
            paint,
            marker=marker,
            alpha=0.5,
            linewidths=0,
            label=label,
        )
    right.set(xlabel=r"$\alpha$ of the flip", ylabel=r"change of $\Delta_{MAP}$", title="what a flip changes")
    right.set_yscale("log")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=2, fontsize=8)
    return frame, figure


def _draw_state(axes: Any, signs: Signs) -> None:
    order = np.argsort(-(signs < 0).sum(0), kind="stable")
    rows = np.argsort((signs < 0).sum(1), kind="stable")
    shown, alpha = signs[rows][:, order], flip_chances(signs)[rows][:, order]
    image = axes.imshow(alpha, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.figure.colorbar(image, ax=axes, label=r"$\alpha$", shrink=0.8)
    for g, b in np.ndindex(*shown.shape):
        shade = "white" if alpha[g, b] > 0.55 else "black"
        axes.text(b, g, "+" if shown[g, b] > 0 else "\u2212", ha="center", va="center", fontsize=8, color=shade)
    axes.set_xticks(range(signs.shape[1]), range(1, signs.shape[1] + 1), fontsize=8)
    axes.set_yticks(range(signs.shape[0]), range(1, signs.shape[0] + 1), fontsize=8)
    axes.grid(False)
    axes.set(xlabel="bad documents, best placed first", ylabel="good documents", title="$y_{gb}$ of one state")


SPREAD_GOODS, SPREAD_BADS = 4, 40
SPREAD_LABELS = np.repeat([1.0, 0.0], [SPREAD_GOODS, SPREAD_BADS])
RESTARTS = {"best": "0", "middle": "about 0.5", "worst": "1"}
WALKS, SPREAD_FLIPS = 10, 40
SEEDS = 10


def sampled_distances(
    gain: str, restart: str = "best", *, seed: int = 0, walk: int = SPREAD_FLIPS, p_best: float | None = None
) -> NDArray[np.float64]:
    """Return Delta of every state of the walks on a list of 4 good and 40 bad documents.

    Args:
        gain: which Delta.
        restart: where walks begin: ``best``, ``middle`` or ``worst``.
        seed: of the walks.
        walk: flips after each restart.
        p_best: share of restarts at the best ranking, in place of ``restart``.
    """
    share = p_best if p_best is not None else float(restart != "worst")
    drawn = RankingSet.model_validate(
        {
            "gain": gain,
            "samples": WALKS * (walk + 1),
            "walk": walk,
            "p_best": share,
            "restart_at": 0.5 if restart == "middle" and p_best is None else None,
            "distinct": False,
        }
    )
    # The first ranking is the ideal one, which belongs to every set and to no walk.
    return sample_rankings(SPREAD_LABELS, drawn, seed=seed).deltas[1:]


@functools.cache
def spread_frame() -> pd.DataFrame:
    """Return gain, restart, seed and Delta, a row for each sampled ranking."""
    frames = [
        pd.DataFrame(
            {"gain": name, "restart": restart, "seed": seed, "Delta": sampled_distances(gain, restart, seed=seed)}
        )
        for name, gain in GAINS.items()
        for restart in RESTARTS
        for seed in range(SEEDS)
    ]
    return pd.concat(frames, ignore_index=True)


def deviations() -> pd.DataFrame:
    """Return the standard deviation of Delta: a row for each gain and seed, a column for each restart."""
    return spread_frame().groupby(["gain", "seed", "restart"])["Delta"].std().unstack("restart")


def draw_spread(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw histograms, a row of panels for each gain, a column for each restart."""
    frame = spread_frame()
    spreads = deviations().groupby("gain").mean()
    figure, panels = new_figure(len(RESTARTS), len(GAINS), width=2.5, height=1.7, sharex=True, sharey="row")
    bins = np.linspace(0, 1, 41)
    for row, gain in enumerate(GAINS):
        for column, (restart, words) in enumerate(RESTARTS.items()):
            axes = panels[row][column]
            values = frame[(frame["gain"] == gain) & (frame["restart"] == restart)]["Delta"]
            axes.hist(values, bins, weights=np.full(len(values), 100 / len(values)), color=PALETTE[row])
            text = f"deviation {float(spreads[restart][gain]):.3f}"
            side = (0.03, "left") if restart == "worst" else (0.97, "right")
            axes.text(side[0], 0.9, text, transform=axes.transAxes, ha=side[1], va="top", fontsize=8)
            if row == 0:
                axes.set_title(rf"restarts at $\Delta$ = {words}", fontsize=9)
        panels[row][0].set_ylabel(f"{gain}\nshare of rankings (%)", fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel(r"$\Delta$ of sampled rankings")
    return frame, figure


def draw_sample(p_best: float = 0.9, walk: int = 20, gain: str = "map") -> Figure:
    """Draw a histogram for any mix of restarts and length of walks."""
    values = sampled_distances(gain, p_best=p_best, walk=walk)
    figure, axes = new_figure(width=5.4, height=2.6)
    axes.hist(values, np.linspace(0, 1, 41), weights=np.full(values.size, 100 / values.size), color=PALETTE[0])
    axes.set(xlabel=rf"$\Delta$ ({gain.upper()}) of sampled rankings", ylabel="share (%)", ylim=(0, 100))
    axes.set_title(f"{p_best:.0%} of restarts at the best ranking, walks of {walk} flips", fontsize=9)
    return figure


Doubles = NDArray[np.float64]
LISTS, PROBLEM_GOODS, PROBLEM_BADS, FEATURES, PROBLEMS = 20, 3, 9, 5, 100
PROBLEM_LABELS = np.repeat([1.0, 0.0], [PROBLEM_GOODS, PROBLEM_BADS])
TIES = np.random.default_rng(0).random((LISTS, PROBLEM_LABELS.size))
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
        walk_by_law(scores, order, PROBLEM_GOODS, key, STEPS_BETWEEN, inversions, gains)
        return RankingSample(inversions, gains, np.full(RANKINGS, 1 / RANKINGS))
    return drawn_without_scores(query, 0 if kind == ONCE else evaluation)


@functools.lru_cache(maxsize=4096)
def drawn_without_scores(query: int, seed: int) -> RankingSample:
    """Return rankings as the losses draw them."""
    wanted = RankingSet.model_validate({"gain": "map", "samples": RANKINGS, "p_best": 0.5})
    sample = sample_rankings(PROBLEM_LABELS, wanted, seed=seed, query=query)
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
    from scipy.optimize import minimize

    rows = []
    for problem in range(PROBLEMS):
        noise = np.random.default_rng(problem)
        features = noise.normal(size=(LISTS, PROBLEM_LABELS.size, FEATURES))
        features[:, :PROBLEM_GOODS] += 0.6 * noise.normal(size=FEATURES)
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
    ranks = np.argsort(np.lexsort((ties, -scores), axis=1), axis=1)[:, :PROBLEM_GOODS]
    return float(((1 + np.arange(PROBLEM_GOODS)) / (1 + np.sort(ranks, axis=1))).mean())


def draw_dependent_walks(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the share of the gradient that is left where each run ended, and the training MAP it reached."""
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

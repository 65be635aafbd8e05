"""What training does to the objectives: their first steps, Equations 4 to 6, and how little the expected loss falls."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankplug.data import load
from rankplug.losses import Loss
from rankplug.plotting import PALETTE, new_figure
from rankplug.statistics import Interval
from rankplug.studies import Results, interval_of
from rankplug.system import stream
from rankplug.training import fit
from rankplug_logrank.parameters import RankingSet
from rankplug_logrank.rankings import sample_rankings
from rankplug_logrank.study.accuracy import GROUP
from rankplug_logrank.study.protocol import GAINS, MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankplug.data import Lists
    from rankplug.store import Trial


QUERIES, RANKINGS, ITERATIONS, TRACED = 10, 10, 10, 15
C = 1.0
OBJECTIVES = {"MLE": "logrank_mle", "ExpGain_AUC": "exp_gain"}


def first_trial(results: Results) -> Trial:
    """Return fold 1 of the first repetition."""
    runs = results.runs[GROUP]
    return runs.trials_of(next(iter(runs.models)))[0]


@functools.lru_cache(maxsize=8)
def training(trial: Trial, loss: str, iterations: int) -> tuple[Lists, NDArray[np.float64]]:
    """Train on a trial's lists; return them and their scores under ``w = 0`` and after each iteration, one row each."""
    asked = trial.combination
    train, _, _ = load(asked.dataset, fold=trial.fold, seed=trial.seed, transforms=asked.transforms)
    rows = [np.zeros(train.documents)]
    for steps in range(1, iterations + 1):
        backend = f"lbfgs[C={C},iterations={steps},restarts=0,scaling=none]"
        model = fit(backend, loss=loss, train=train, seed=trial.seed, train_curve=False, progress=False)
        rows.append(model.predict(train))
    return train, np.array(rows)


def domination_frame(results: Results, trained: bool = True) -> pd.DataFrame:
    """Return Delta, and ``w.phi`` averaged over the first iterations, for 10 rankings of each of 10 queries.

    Args:
        results: whose data are trained on.
        trained: whether training has begun; ``w`` is 0 before.
    """
    trial = first_trial(results)
    train, path = training(trial, "convex_loss[gain=ndcg]", ITERATIONS)
    scores = path[1:].mean(0) if trained else path[0]
    drawn = RankingSet.model_validate({"gain": "ndcg", "samples": RANKINGS, "walk": 0, "skew": 0.0, "distinct": False})
    good = train.labels >= 1
    both = [q for q, (begin, end) in enumerate(_bounds(train)) if 0 < good[begin:end].sum() < end - begin]
    chosen = np.random.default_rng(0).permutation(both)[:QUERIES]
    rows = []
    for query in sorted(chosen):
        begin, end = _bounds(train)[query]
        own, relevant = scores[begin:end], good[begin:end]
        sample = sample_rankings(train.labels[begin:end], drawn, seed=trial.seed, query=int(query))
        # The first ranking is the ideal one, which belongs to every set.
        for inversions, delta in zip(sample.inversions[1:], sample.deltas[1:], strict=True):
            rows.append((train.query_ids[query], delta, signed_gaps(own, relevant, inversions)))
    return pd.DataFrame(rows, columns=["query", "Delta", "w.phi"])


def signed_gaps(scores: NDArray[np.float64], good: NDArray[np.bool_], inversions: NDArray[np.int64]) -> float:
    """Return ``w.phi(y) = sum_gb y_gb (f_g - f_b)`` of a ranking, from its inversions; of the ideal one there are none.

    >>> signed_gaps(np.array([3.0, 1.0]), np.array([True, False]), np.array([1, -1]))
    -2.0
    """
    ideal = (~good).sum() * scores[good].sum() - good.sum() * scores[~good].sum()
    return float(ideal - 2 * inversions @ scores)


def _bounds(lists: Lists) -> list[tuple[int, int]]:
    return list(zip(lists.starts[:-1].tolist(), lists.starts[1:].tolist(), strict=True))


def figure_8(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw ``w.phi`` against Delta."""
    frame = domination_frame(results)
    figure, axes = new_figure(width=5.0, height=3.2)
    axes.scatter(frame["Delta"], frame["w.phi"].abs(), 16, PALETTE[0], alpha=0.7, linewidths=0, label=r"$|w\cdot\phi|$")
    line = np.linspace(0.001, 1, 200)
    axes.plot(line, line, color=PALETTE[3], label=r"$\Delta$ itself")
    axes.set_yscale("log")
    axes.set(xlabel=r"$\Delta_{NDCG}(y)$", ylabel=rf"$|w\cdot\phi(y)|$, mean of {ITERATIONS} iterations")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    return frame, figure


def trace_frame(results: Results, trained: bool = True) -> pd.DataFrame:
    """Return each objective over all sign matrices and over the sampled rankings, by query and iteration.

    Args:
        results: whose data are trained on.
        trained: whether training went on; ``w`` stays 0 otherwise.
    """
    trial = first_trial(results)
    frames = []
    for name, exact in OBJECTIVES.items():
        sampled = f"{exact}[rankings=sampled]"
        train, path = training(trial, sampled, TRACED)
        objectives = {
            "exact": Loss.named(exact).on(train.labels, train.starts),
            "sampled": Loss.named(sampled).on(train.labels, train.starts, seed=stream(trial.seed, "noise")),
        }
        for iteration, scores in enumerate(path):
            values = {kind: objective(scores if trained else path[0]).value for kind, objective in objectives.items()}
            frames.append(pd.DataFrame(values).assign(objective=name, iteration=iteration, query=train.query_ids))
    return pd.concat(frames, ignore_index=True)


def objective_trace(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw both objectives in the course of training on the sampled one, as shares of their values at ``w = 0``."""
    frame = trace_frame(results)
    figure, panels = new_figure(len(OBJECTIVES), width=3.7, height=2.8)
    for axes, name in zip(panels, OBJECTIVES, strict=True):
        means = frame[frame["objective"] == name].groupby("iteration")[["exact", "sampled"]].mean()
        for kind, paint, dashes in (("exact", PALETTE[0], "solid"), ("sampled", PALETTE[3], (0, (4, 2)))):
            label = f"{kind}, {means[kind].iloc[0]:.3g} at $w=0$"
            axes.plot(means.index, means[kind] / means[kind].iloc[0], color=paint, linestyle=dashes, label=label)
        axes.set(xlabel="iteration of L-BFGS", title=name, ylim=(0, None))
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize=8)
    panels[0].set_ylabel("mean loss of a query,\nshare of its first value")
    return frame, figure


OBJECTIVES_GROUP = "objectives"
EXPECTED_LOSS = "(4), expected loss"
TRAINED = {EXPECTED_LOSS: "logrank_l2", "(5), log E[exp(loss)]": "logrank_exponential", "(6), ExpGain": "exp_gain"}
TOP_HEAVY = ("MAP", "NDCG")
ITERATIONS_OF_OBJECTIVES, ORDERS = 40, 200


def accuracy_of_objectives(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the test accuracy of each objective and number of restarts, with its interval."""
    rows = []
    for model in results.models(OBJECTIVES_GROUP):
        row: dict[str, object] = {"model": model}
        for measure, metric in MEASURES.items():
            interval: Interval = interval_of(results.contrast(metric, {(OBJECTIVES_GROUP, model): 1.0}))
            row |= {measure: interval.point, f"{measure} half width": interval.half_width}
        rows.append({**row, "combination": results.combinations_of(OBJECTIVES_GROUP, model)})
    return pd.DataFrame(rows), None


@functools.lru_cache(maxsize=4)
def falls(trial: Trial) -> pd.DataFrame:
    """Return each objective of each training list at ``w = 0`` and where training on it ends, for MAP and NDCG."""
    asked = trial.combination
    train, _, _ = load(asked.dataset, fold=trial.fold, seed=trial.seed, transforms=asked.transforms)
    goods = np.add.reduceat(train.labels >= 1, train.starts[:-1])
    frames = []
    for gain in TOP_HEAVY:
        by_chance = loss_of_random_orders(gain, tuple(zip(goods.tolist(), train.lengths.tolist(), strict=True)))
        for words, name in TRAINED.items():
            loss = f"{name}[gain={GAINS[gain]}]"
            model = fit(
                f"lbfgs[C={C},iterations={ITERATIONS_OF_OBJECTIVES},restarts=0,scaling=none]",
                loss=loss,
                train=train,
                seed=trial.seed,
                train_curve=False,
                progress=False,
            )
            objective = Loss.named(loss).on(train.labels, train.starts, seed=stream(trial.seed, "noise"))
            first, last = (objective(scores).value for scores in (np.zeros(train.documents), model.predict(train)))
            frame = pd.DataFrame({"query": train.query_ids, "at w = 0": first, "trained": last})
            frame["random orders"] = by_chance
            frame["bad per good"] = (train.lengths - goods) / np.maximum(goods, 1)
            frames.append(frame[(goods > 0) & (goods < train.lengths)].assign(gain=gain, objective=words))
    return pd.concat(frames, ignore_index=True)


def loss_of_random_orders(gain: str, shapes: tuple[tuple[int, int], ...]) -> NDArray[np.float64]:
    """Return the mean loss of random orders, for each list's numbers of good and of all documents."""
    noise, losses = np.random.default_rng(0), {}
    for goods, documents in set(shapes):
        if 0 < goods < documents:
            drawn = np.argsort(noise.random((ORDERS, documents)), axis=1)[:, :goods]
            losses[goods, documents] = float(loss_of_ranks(gain, np.sort(drawn, axis=1)).mean())
    return np.array([losses.get(shape, np.nan) for shape in shapes])


def loss_of_ranks(gain: str, ranks: NDArray[np.int64], k: int = 10) -> NDArray[np.float64]:
    """Return Delta of orders from the good documents' ranks, which begin at 0 and ascend in each row.

    >>> loss_of_ranks("MAP", np.array([[1, 3]])), loss_of_ranks("NDCG", np.array([[1, 3]]))
    (array([0.5]), array([0.25]))
    """
    positions = np.arange(ranks.shape[1])
    if gain == "MAP":
        loss: NDArray[np.float64] = 1 - ((1 + positions) / (1 + ranks)).mean(1)
        return loss
    discounts = 1 / np.log2(np.maximum(2, 1 + np.arange(max(k, int(ranks.max()) + 1))))
    discounts[k:] = 0.0
    return 1 - discounts[ranks].sum(1) / discounts[positions].sum()


def conditioning(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the means over training lists: each objective at ``w = 0``, trained, and what it fell by as a share."""
    frame = falls(first_trial(results))
    table = frame.groupby(["gain", "objective"], sort=False)[["random orders", "at w = 0", "trained"]].mean()
    table["fall"] = 1 - table["trained"] / table["at w = 0"]
    return table.reset_index(), None

r"""Figure 8 and Section 5.3.4: what the first iterations of L-BFGS do, on the first fold of the diagnosed data set.

A run of t iterations from ``w = 0`` goes the way of a longer one, so the scores after each of the first iterations are
those of runs of 1, 2, ... iterations.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results
from rankplug_logrank.study.experiments.sampler_effects import GROUP

if TYPE_CHECKING:
    import pandas as pd
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
    from rankplug.data import load
    from rankplug.training import fit

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
    import pandas as pd

    from rankplug_logrank.parameters import RankingSet
    from rankplug_logrank.rankings import sample_rankings

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
    from rankplug.plotting import PALETTE, new_figure

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
    import pandas as pd

    from rankplug.losses import Loss
    from rankplug.system import stream

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
    from rankplug.plotting import PALETTE, new_figure

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

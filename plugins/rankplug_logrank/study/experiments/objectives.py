"""Section 2: Equations 4 and 5 beside ExpGain, how much they can fall, and what restarts add.

The text trains neither (4), the expected loss, nor (5), its logarithm; it says that both would rank alike, that (4)
starts near 1 and falls little, and that ExpGain's logarithm of a gain is the way out. (4) is also L2 of Equation 11.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.statistics import Interval
from rankplug.studies import Results, interval_of
from rankplug_logrank.study.experiments.first_steps import C, first_trial
from rankplug_logrank.study.protocol import GAINS, MEASURES

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import Trial

GROUP = "objectives"
EXPECTED_LOSS = "(4), expected loss"
TRAINED = {EXPECTED_LOSS: "logrank_l2", "(5), log E[exp(loss)]": "logrank_exponential", "(6), ExpGain": "exp_gain"}
TOP_HEAVY = ("MAP", "NDCG")
ITERATIONS, ORDERS = 40, 200


def accuracy_of_objectives(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the test accuracy of each objective and number of restarts, with its interval."""
    import pandas as pd

    rows = []
    for model in results.models(GROUP):
        row: dict[str, object] = {"model": model}
        for measure, metric in MEASURES.items():
            interval: Interval = interval_of(results.contrast(metric, {(GROUP, model): 1.0}))
            row |= {measure: interval.point, f"{measure} half width": interval.half_width}
        rows.append({**row, "combination": results.combinations_of(GROUP, model)})
    return pd.DataFrame(rows), None


@functools.lru_cache(maxsize=4)
def falls(trial: Trial) -> pd.DataFrame:
    """Return each objective of each training list at ``w = 0`` and where training on it ends, for MAP and NDCG."""
    import pandas as pd

    from rankplug.data import load
    from rankplug.losses import Loss
    from rankplug.system import stream
    from rankplug.training import fit

    asked = trial.combination
    train, _, _ = load(asked.dataset, fold=trial.fold, seed=trial.seed, transforms=asked.transforms)
    goods = np.add.reduceat(train.labels >= 1, train.starts[:-1])
    frames = []
    for gain in TOP_HEAVY:
        by_chance = loss_of_random_orders(gain, tuple(zip(goods.tolist(), train.lengths.tolist(), strict=True)))
        for words, name in TRAINED.items():
            loss = f"{name}[gain={GAINS[gain]}]"
            model = fit(
                f"lbfgs[C={C},iterations={ITERATIONS},restarts=0,scaling=none]",
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

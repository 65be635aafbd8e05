"""A picture to play with: any loss on any backend, plain and with noise, trained while the reader waits."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from rankplug.data import Split, load
from rankplug_crossover.study.protocol import METRIC, engine
from rankplug_crossover.study.sizes import SIZES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@functools.cache
def few_lists() -> Split:
    """Make data that are small enough to train on in a moment."""
    return load("synthetic[shape=ohsumed,queries=120,documents=15]", seed=0, transforms=["drop_empty", "query_minmax"])


def curves(loss: str, backend: str, beta: float) -> pd.DataFrame:
    """Return validation NDCG@5 in percent, a row for each iteration: plain, and with noise of scale ``beta``."""
    import pandas as pd

    from rankplug.training import fit

    train, valid, _ = few_lists()
    parts = engine(backend, SIZES["quick"])
    columns = {}
    for name, sampler in (("plain", None), ("noise", f"gumbel[beta={beta},samples=8]")):
        model = fit(parts["backend"], scorer=parts["scorer"], loss=loss, sampler=sampler, train=train, valid=valid)
        columns[name] = 100 * model.curve.frame().set_index("iteration")[f"valid {METRIC}"]
    return pd.DataFrame(columns)


def draw_try(loss: str = "xe_ndcg", backend: str = "lightgbm", beta: float = 0.25) -> Figure:
    """Draw both learning curves."""
    from rankplug.plotting import PALETTE, new_figure

    frame = curves(loss, backend, beta)
    figure, axes = new_figure(width=5.6, height=3.0)
    axes.plot(frame.index + 1, frame["plain"], color=PALETTE[0], marker="o", markersize=2.5, label=loss)
    axes.plot(
        frame.index + 1,
        frame["noise"],
        color=PALETTE[1],
        marker="o",
        markersize=2.5,
        label=f"with noise, beta = {beta:g}",
    )
    axes.set(xlabel=f"iteration of {backend}", ylabel=f"validation {METRIC.upper()} (%)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure

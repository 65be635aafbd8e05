"""Effect of Gumbel noise on each loss, by backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rankplug.statistics import holm
from rankplug.studies import Results, interval_of, p_value_of
from rankplug_crossover.study.protocol import BACKENDS, METRIC, NOISY, Cell, cells, whole_grids
from rankplug_crossover.study.quality import heading, identities

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def noise_frame(results: Results, group: str) -> pd.DataFrame:
    """Compare noisy with plain losses by loss and backend; two-sided tests by the data's design, Holm over all."""
    models = set(results.models(group))
    rows = []
    for cell in cells():
        noisy, plain = cell.model, Cell(cell.loss, cell.backend).model
        if cell.noise != NOISY or not {noisy, plain} <= models:
            continue
        sample = results.difference(group, METRIC, noisy, plain)
        interval, p = interval_of(sample), p_value_of(sample)
        rows.append(
            {"collection": group, "loss": cell.loss, "backend": cell.backend, "model": noisy}
            | {"difference": 100 * interval.point}
            | {"low": 100 * interval.low, "high": 100 * interval.high, "p": 2 * min(p, 1 - p), "paper": cell.paper}
        )
    frame = pd.DataFrame(rows).merge(identities(results, group), on="model")
    return frame.assign(**{"p (Holm)": holm(frame["p"]).p_values})


def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw a column for each backend and a row for each loss, with a row of panels for each collection."""
    from rankplug.plotting import MARKERS, PALETTE, new_figure

    groups = whole_grids(results)
    frames = {group: noise_frame(results, group) for group in groups}
    losses = list(dict.fromkeys(next(iter(frames.values()))["loss"]))
    size = {"width": 2.3, "height": 0.9 + 0.21 * len(losses)}
    figure, axes = new_figure(len(BACKENDS), len(groups), sharex="row", sharey=True, squeeze=False, **size)
    for row, group in zip(axes, groups, strict=True):
        for panel, backend in zip(row, BACKENDS, strict=True):
            shown = frames[group][frames[group]["backend"] == backend].set_index("loss").reindex(losses)
            for index, one in enumerate(shown.itertuples()):
                colour = PALETTE[3] if one.paper else PALETTE[0]
                panel.plot([one.low, one.high], [index, index], color=colour, linewidth=1.2)
                panel.plot(one.difference, index, MARKERS[colour], color=colour, markersize=3.5)
            panel.axvline(0, color="k", linewidth=0.7)
            panel.set_yticks(np.arange(len(losses)), losses, fontsize=8)
            panel.set_title(backend, fontsize=9)
            panel.set_xlabel(f"noise minus plain,\n{METRIC.upper()} points", fontsize=8)
        row[0].set_ylim(len(losses) - 0.5, -0.5)
        row[0].set_ylabel(f"loss, {heading(results, group)}")
    figure.legend(*_key(PALETTE[0], PALETTE[3]), loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return pd.concat(frames.values(), ignore_index=True), figure


def _key(new: str, published: str) -> tuple[list[object], list[str]]:
    from matplotlib.lines import Line2D

    from rankplug.plotting import MARKERS

    handles = [Line2D([], [], color=colour, marker=MARKERS[colour], markersize=3.5) for colour in (new, published)]
    return list(handles), ["new, with 95 % interval", "a paper's own comparison"]

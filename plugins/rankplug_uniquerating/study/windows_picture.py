"""Effect of unique ratings and windows on one list of ten documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug_uniquerating.study.colours import colour_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LABELS = np.array([2.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
SCORES = np.array([1.2, 0.2, 0.9, 0.4, -0.1, 1.0, 0.5, 0.3, -0.4, -0.8])


def windows_of(window: int) -> NDArray[np.int64]:
    """Return at row d, column c the number of the window of d's likelihood in which c competes, 0 where it does not.

    >>> windows_of(2)[2].tolist()
    [0, 0, 0, 0, 0, 1, 1, 2, 2, 3]
    """
    numbers = np.zeros((LABELS.size, LABELS.size), np.int64)
    for document in range(LABELS.size):
        lower = np.flatnonzero(LABELS[document] > LABELS)
        best_first = lower[np.argsort(-SCORES[lower], kind="stable")]
        numbers[document, best_first] = 1 + np.arange(best_first.size) // window
    return numbers


def likelihoods(window: int) -> pd.DataFrame:
    """Return the likelihood of each document above the lowest rating, ``prod_b e^f / (e^f + sum_{c in b} e^{f_c})``."""
    import pandas as pd

    numbers = windows_of(window)
    rows = []
    for document in np.flatnonzero(LABELS.min() < LABELS):
        inside = [numbers[document] == number for number in range(1, numbers[document].max() + 1)]
        parts = [1.0 / (1.0 + np.exp(SCORES[chosen] - SCORES[document]).sum()) for chosen in inside]
        rows.append(
            {"document": document + 1, "rating": LABELS[document], "score": SCORES[document]}
            | {"windows": len(parts), "likelihood": float(np.prod(parts))}
        )
    return pd.DataFrame(rows)


def loss_of_list(window: int) -> float:
    """Return the loss of the list with windows of some documents (Eq. 3), from the likelihoods; nothing is compiled."""
    frame = likelihoods(window)
    gains = 2.0 ** frame["rating"] - 1.0
    return float(-(gains * np.log(frame["likelihood"])).sum() / (np.unique(LABELS).size - 1))


def draw_windows(window: int = 10) -> Figure:
    """Draw which documents compete in which window, and the loss for every width."""
    from matplotlib.colors import ListedColormap

    from rankplug.plotting import PALETTE, new_figure

    figure, (left, right) = new_figure(2, width=4.4, height=3.3)
    numbers = windows_of(window)
    shown = np.flatnonzero(LABELS.min() < LABELS)
    colours = ListedColormap(["#F2F2F2", *(PALETTE[position % len(PALETTE)] for position in range(LABELS.size))])
    left.imshow(numbers[shown], cmap=colours, vmin=0, vmax=LABELS.size, aspect="auto", alpha=0.7)
    for row, document in enumerate(shown):
        for competitor in np.flatnonzero(numbers[document]):
            left.text(competitor, row, str(numbers[document, competitor]), ha="center", va="center")
    names = [f"{score:g}\n({label:.0f})" for score, label in zip(SCORES, LABELS, strict=True)]
    left.set_xticks(range(LABELS.size), names)
    left.set_yticks(range(shown.size), [names[document] for document in shown])
    left.tick_params(labelsize=8)
    left.set(xlabel="competitor: score (rating)", ylabel="document: score (rating)")
    left.set_title(f"number of the window, u = {window}", fontsize=9)
    left.grid(visible=False)
    widths = np.arange(1, LABELS.size)
    losses = [loss_of_list(int(width)) for width in widths]
    right.plot(widths, losses, color=colour_of("uRank"), marker="o", markersize=3)
    at = min(window, int(widths[-1]))
    right.plot(at, losses[at - 1], marker="o", color=PALETTE[3], markersize=8)
    right.set(xlabel="competitors in a window, u", ylabel="loss of the list")
    return figure


def pull_apart(loss: str, gaps: NDArray[np.float64], rival: float) -> NDArray[np.float64]:
    """Return the pull of the loss that separates the first of two documents rated 2 from the second; a third is rated
    0.

    Args:
        loss: its name.
        gaps: scores of the first minus those of the second.
        rival: score of the third.
    """
    from rankplug.losses import Loss

    scores = np.stack([gaps / 2, -gaps / 2, np.full(gaps.size, rival)], axis=1).reshape(-1)
    starts = np.arange(0, scores.size + 1, 3)
    gradient = Loss.named(loss).evaluate(scores, np.tile([2.0, 2.0, 0.0], gaps.size), starts).gradient.reshape(-1, 3)
    pull: NDArray[np.float64] = (gradient[:, 1] - gradient[:, 0]) / np.abs(gradient).max(axis=1)
    return pull


def draw_pull(rival: float = 0.0) -> Figure:
    """Draw the pull on two documents of one rating: ListMLE favours the one listed first, uRank the one behind."""
    from rankplug.plotting import PALETTE, new_figure

    gaps = np.linspace(-3.0, 3.0, 121)
    figure, axes = new_figure(width=5.2, height=3.0)
    axes.plot(gaps, pull_apart("listmle[ties=stable]", gaps, rival), color=PALETTE[7], label="ListMLE, in that order")
    axes.plot(gaps, pull_apart("urank", gaps, rival), color=colour_of("uRank"), label="uRank")
    axes.axhline(0, color="#333333", linewidth=0.6)
    axes.set(xlabel="score of the first minus score of the second, both rated 2", ylim=(-1.6, 2.4))
    axes.set_ylabel("pull of the first above the second\n(over the largest gradient)")
    axes.legend(loc="upper right", frameon=False)
    return figure

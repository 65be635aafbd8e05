"""Figure 1: where on the triangle of distributions over three documents a perturbed list of scores falls."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

WEIGHTS = ((1.5, 5.0, 2.0), (5.0, 5.0, 2.0))
SAMPLES = 100_000
CELLS = 30
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def concrete_density(point: NDArray[np.float64], weights: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the density of softmax(log weights + Gumbel noise), with respect to area in the first coordinates.

    >>> center = np.full((1, 3), 1 / 3)
    >>> concrete_density(center, (1.0, 1.0, 1.0)).round(6)
    array([2.])
    """
    alpha = np.asarray(weights)
    factors = np.prod(alpha * point**-2.0, axis=-1)
    density: NDArray[np.float64] = 2.0 * factors / np.sum(alpha / point, axis=-1) ** 3
    return density


def sampled_points(weights: tuple[float, ...], beta: float = 1.0, samples: int = SAMPLES) -> NDArray[np.float64]:
    """Draw from the sampler ``gumbel`` distributions over the documents, one row a draw."""
    from rankplug.samplers import sampler

    noise = sampler(f"gumbel[beta={beta},samples={samples}]")
    return np.exp(noise.draw(np.log(weights), [0, len(weights)]))


def triangles() -> NDArray[np.float64]:
    """Return the corners of the cells the triangle is divided into, as distributions: shape (cells, 3, 3)."""
    steps = np.arange(CELLS)
    up = [(i, j) for i in steps for j in steps if i + j < CELLS]
    down = [(i, j) for i, j in up if i + j < CELLS - 1]
    corners = [[(i, j), (i + 1, j), (i, j + 1)] for i, j in up]
    corners += [[(i + 1, j), (i, j + 1), (i + 1, j + 1)] for i, j in down]
    first_two = np.array(corners, dtype=np.float64) / CELLS
    return np.concatenate([first_two, 1.0 - first_two.sum(axis=-1, keepdims=True)], axis=-1)


def sampled_shares(points: NDArray[np.float64], cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the points in each cell."""
    lower = np.minimum(np.floor(points[:, :2] * CELLS).astype(int), CELLS - 1)
    inside = points[:, :2] * CELLS - lower
    is_up = inside.sum(axis=1) < 1.0
    centers = np.floor(cells.mean(axis=1)[:, :2] * CELLS).astype(int)
    count = CELLS * (CELLS + 1) // 2
    cell_of = np.full((2, CELLS, CELLS), -1)
    cell_of[0, centers[:count, 0], centers[:count, 1]] = np.arange(count)
    cell_of[1, centers[count:, 0], centers[count:, 1]] = np.arange(count, len(cells))
    found = cell_of[np.where(is_up, 0, 1), lower[:, 0], lower[:, 1]]
    return np.bincount(found[found >= 0], minlength=len(cells)) / len(points)


def density_shares(weights: tuple[float, ...], cells: NDArray[np.float64], fineness: int = 8) -> NDArray[np.float64]:
    """Return the share of each cell by the closed density, summed over a grid of points inside the cell."""
    inner = (np.array([(i, j) for i in range(fineness) for j in range(fineness - i)]) + 1.0 / 3.0) / fineness
    outer = (np.array([(i, j) for i in range(fineness) for j in range(fineness - i - 1)]) + 2.0 / 3.0) / fineness
    mixture = np.concatenate([inner, outer])
    mixture = np.column_stack([mixture, 1.0 - mixture.sum(axis=1)])
    points = np.einsum("pk,ckd->cpd", mixture, cells)
    shares: NDArray[np.float64] = concrete_density(points, weights).mean(axis=1) * 0.5 / CELLS**2
    return shares


def density_frame(beta: float = 1.0) -> pd.DataFrame:
    """Return the sampled share of each cell and the share by the closed density, for each set of weights."""
    import pandas as pd

    cells = triangles()
    centers = cells.mean(axis=1)
    frames = []
    for weights in WEIGHTS:
        frame = pd.DataFrame(centers, columns=["y1", "y2", "y3"])
        frame.insert(0, "alpha", str(weights))
        frame["sampled share"] = sampled_shares(sampled_points(weights, beta), cells)
        frame["density share"] = density_shares(weights, cells)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def largest_cell_error(beta: float = 1.0) -> float:
    """Return the largest difference between sampled and density shares of Figure 1's cells, in standard errors of a
    share.
    """
    frame = density_frame(beta)
    expected = frame["density share"].to_numpy()
    errors = np.sqrt(expected * (1 - expected) / SAMPLES)
    # Where hardly a draw is expected, a share is no normal variable.
    frequent = expected * SAMPLES >= 25
    return float(np.abs((frame["sampled share"].to_numpy() - expected) / errors)[frequent].max())


def largest_first_error(beta: float = 1.0) -> float:
    """Return the largest error of the share of draws in which a document comes first, in standard errors."""
    largest = 0.0
    for weights in WEIGHTS:
        chances = np.asarray(weights) / sum(weights)
        first = np.bincount(sampled_points(weights, beta).argmax(axis=1), minlength=3) / SAMPLES
        largest = max(largest, float(np.abs((first - chances) / np.sqrt(chances * (1 - chances) / SAMPLES)).max()))
    return largest


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw samples above, the closed density below; brighter cells are likelier."""
    from rankplug.plotting import new_figure

    frame = density_frame()
    figure, axes = new_figure(len(WEIGHTS), 2, width=3.3, height=2.9)
    for column, weights in enumerate(WEIGHTS):
        shares = frame[frame["alpha"] == str(weights)]
        for row, name in enumerate(("sampled share", "density share")):
            image = draw_triangle(axes[row, column], shares[name].to_numpy())
            kind = f"{SAMPLES:,} samples" if row == 0 else "closed density"
            axes[row, column].set_title(rf"({'ab'[column]}) $\alpha$ = {weights}, {kind}", fontsize=8)
            figure.colorbar(image, ax=axes[row, column], shrink=0.7, label="share of a cell (%)", extend="max")
    return frame, figure


def order_chances(weights: tuple[float, ...], beta: float) -> dict[tuple[int, ...], float]:
    """Return the chance of each order of the documents by Plackett and Luce, with weights ``alpha ** (1 / beta)``.

    >>> chances = order_chances((5.0, 2.0), beta=1.0)
    >>> round(chances[0, 1], 4)
    0.7143
    """
    powers = np.asarray(weights) ** (1.0 / beta)
    chances = {}
    for order in itertools.permutations(range(len(weights))):
        rest = [powers[list(order[position:])].sum() for position in range(len(order))]
        chances[order] = float(np.prod([powers[document] / left for document, left in zip(order, rest, strict=True)]))
    return chances


def draw_orders(beta: float = 1.0, weights: tuple[float, ...] = WEIGHTS[0]) -> Figure:
    """Draw samples on the triangle, and how often each order of the documents comes up, beside its chance."""
    from rankplug.plotting import PALETTE, new_figure

    points = sampled_points(weights, beta, samples=20_000)
    chances = order_chances(weights, beta)
    orders = np.argsort(-points, axis=1)
    shares = [float((orders == order).all(axis=1).mean()) for order in chances]
    figure, (left, right) = new_figure(2, width=3.9, height=2.8)
    draw_triangle(left, sampled_shares(points, triangles()))
    left.set_title(rf"draws, $\beta$ = {beta:g}, $e^{{f}}$ = {weights}", fontsize=9)
    positions = np.arange(len(chances))
    right.bar(positions - 0.2, shares, 0.4, color=PALETTE[0], label="share of 20,000 draws")
    right.bar(positions + 0.2, list(chances.values()), 0.4, color=PALETTE[1], label="Plackett-Luce")
    right.set_xticks(
        positions, [" > ".join(str(document + 1) for document in order) for order in chances], rotation=40, fontsize=8
    )
    right.set(xlabel="order of the documents", ylabel="share", ylim=(0, 1))
    right.legend(loc="upper right", fontsize=8)
    return figure


def draw_triangle(axes: Any, shares: NDArray[np.float64]) -> Any:
    """Draw the triangle with its cells in colours."""
    cells = triangles() @ CORNERS
    image = axes.tripcolor(
        cells[:, :, 0].ravel(),
        cells[:, :, 1].ravel(),
        np.arange(3 * len(cells)).reshape(-1, 3),
        facecolors=100 * shares,
        cmap="viridis",
        vmax=100 * np.quantile(shares, 0.98),
        rasterized=True,
    )
    for document, (corner, side) in enumerate(zip(CORNERS, ("right", "left", "center"), strict=True), start=1):
        axes.annotate(
            f"document {document}",
            corner,
            xytext=(0, 4 if side == "center" else -10),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axes.set_aspect("equal")
    axes.axis("off")
    return image

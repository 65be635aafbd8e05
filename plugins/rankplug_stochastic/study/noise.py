"""The noise itself: densities of perturbed scores, the law of their differences, the variance of gradients."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankplug.losses import loss
from rankplug.plotting import PALETTE, legend_below, new_figure
from rankplug.registry import parse, registry
from rankplug.samplers import sampler
from rankplug.studies import Results
from rankplug_stochastic.study.protocol import COLOURS

if TYPE_CHECKING:
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


def draw_densities(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw samples above, the closed density below; brighter cells are likelier."""
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


DRAWS_OF_DIFFERENCES = 20_000
SCALES = (0.25, 1.0, 2.0)
DEVIATION = float(np.pi / np.sqrt(3.0))
"""Standard deviation of a logistic variable of scale 1."""


@functools.cache
def differences(beta: float, law: str = "gumbel") -> NDArray[np.float64]:
    """Return draws of ``Z_12`` and ``Z_23`` by one of the paper's samplers, a row each."""
    # A Gaussian of this scale gives differences of the logistic law's variance.
    scale = beta if law == "gumbel" else beta * DEVIATION / np.sqrt(2.0)
    noisy = sampler(f"{law}[beta={scale},samples={DRAWS_OF_DIFFERENCES}]").draw(np.zeros(3), [0, 3])
    return np.array([noisy[:, 0] - noisy[:, 1], noisy[:, 1] - noisy[:, 2]])


def distance_from_logistic(beta: float, law: str = "gumbel") -> float:
    """Return Kolmogorov and Smirnov's largest difference from the logistic law, times the square root of the draws."""
    from scipy import stats

    result = stats.kstest(differences(beta, law)[0], stats.logistic(scale=beta).cdf)
    return float(result.statistic * np.sqrt(DRAWS_OF_DIFFERENCES))


def correlation(beta: float, independent: bool = False) -> float:
    """Return the correlation of ``Z_12`` and ``Z_23``, or of ``Z_12`` and other draws of it."""
    first, second = differences(beta)
    return float(np.corrcoef(first, np.roll(first, 1) if independent else second)[0, 1])


def draw_differences(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the shares of draws beside the logistic density, for three scales of the noise."""
    from scipy import stats

    figure, panels = new_figure(len(SCALES), width=2.6, height=2.4)
    rows = []
    for axes, beta in zip(panels, SCALES, strict=True):
        first, _ = differences(beta)
        reach = 8 * beta
        axes.hist(first, np.linspace(-reach, reach, 61), density=True, color=PALETTE[0], alpha=0.5, label="draws")
        grid = np.linspace(-reach, reach, 201)
        axes.plot(grid, stats.logistic(scale=beta).pdf(grid), color="black", linewidth=1, label="Logistic(0, beta)")
        axes.set(title=f"beta = {beta:g}", xlabel=r"$Z_{12} = G_1 - G_2$")
        rows.append(
            {
                "beta": beta,
                "distance from the logistic law": distance_from_logistic(beta),
                "of Gaussian noise": distance_from_logistic(beta, "gaussian"),
                "deviation": float(first.std()),
                "by the law": beta * DEVIATION,
                "correlation of Z12 and Z23": correlation(beta),
            }
        )
    panels[0].set_ylabel("density")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return pd.DataFrame(rows), figure


ESTIMATORS = {
    "E[CrossEntropy]": ("cross_entropy", "gumbel[beta=1.0,samples=1]"),
    "E[ApproxNDCG]": ("approx_ndcg[eta=10.0]", "gumbel[beta=1.0,samples=1]"),
    "PL-Rank-1": ("pl_rank[version=1,samples=1]", None),
    "PL-Rank-2 and -3": ("pl_rank[version=3,samples=1]", None),
    "StochasticRank": ("stochastic_rank[samples=1]", None),
}
"""Losses with one draw each, and their samplers; those whose package is not installed are left out."""
DOCUMENTS, LISTS, DRAWS = 20, 3, 10_000
SPREADS = (0.1, 1.0, 2.0)
"""Standard deviations of the scores: as training begins, on its way, and near its end."""


SEVERAL = (1, 2, 4, 8, 16)
"""Numbers of draws that are averaged; the paper has eight."""
AVERAGES = 2_000
"""Averages whose variance is measured where draws are."""
PAPERS = {name: loss for name, (loss, sampler) in ESTIMATORS.items() if sampler}


@functools.cache
def moments(name: str, sampler: str | None, spread: float, repeats: int = DRAWS) -> tuple[tuple[float, float], ...]:
    """Return a gradient's summed variance and the square of its mean's length, for each of a few lists.

    Args:
        name: of the loss.
        sampler: with as many draws as are averaged in a gradient.
        spread: of the scores.
        repeats: gradients whose moments are taken.
    """
    generator = np.random.default_rng(7)
    found = []
    for _ in range(LISTS):
        labels = generator.choice(5, size=DOCUMENTS, p=(0.5, 0.25, 0.15, 0.07, 0.03)).astype(float)
        labels[:2] = 0, 2
        scores = spread * generator.normal(size=DOCUMENTS)
        bound = loss(name).on(np.tile(labels, repeats), DOCUMENTS * np.arange(repeats + 1), sampler=sampler)
        drawn = bound(np.tile(scores, repeats)).gradient.reshape(repeats, DOCUMENTS)
        variance = float(drawn.var(axis=0, ddof=1).sum())
        # The square of an average is too large by the variance of the average.
        found.append((variance, float((drawn.mean(axis=0) ** 2).sum() - variance / repeats)))
    return tuple(found)


def relative_variance(name: str, sampler: str | None, spread: float) -> float:
    """Return the summed variance of a draw's gradient over its squared mean, averaged over lists; nan if unresolved."""
    of_lists = moments(name, sampler, spread)
    return float(np.mean([variance / square if square > 0 else np.nan for variance, square in of_lists]))


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return a row for each estimator, a column for each spread of the scores; the results play no part."""
    installed = {plugin.specification.name for plugin in registry().plugins("loss")}
    rows = [
        {"estimator": label}
        | {f"scores of spread {spread:g}": relative_variance(name, sampler, spread) for spread in SPREADS}
        for label, (name, sampler) in ESTIMATORS.items()
        if parse(name).name in installed
    ]
    return pd.DataFrame(rows), None


def variance_of(loss_name: str, draws: int, spread: float = 1.0) -> float:
    """Return the variance of an expected loss's gradient over some draws of Gumbel noise of scale 1, lists averaged."""
    of_lists = moments(loss_name, f"gumbel[beta=1.0,samples={draws}]", spread, AVERAGES)
    return float(np.mean([variance for variance, _ in of_lists]))


def farthest_from_one_over_draws(repeated: bool = False) -> float:
    """Return the largest relative deviation of ``N Var_N`` from ``Var_1``.

    Args:
        repeated: takes one draw N times, whose average varies as one draw does.
    """
    return max(
        abs(draws * variance_of(loss_name, 1 if repeated else draws) / variance_of(loss_name, 1) - 1)
        for loss_name in PAPERS.values()
        for draws in SEVERAL[1:]
    )


def draw_over_draws(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the relative variance of the paper's estimators over the number of draws, for three spreads of scores."""
    figure, panels = new_figure(len(SPREADS), width=2.6, height=2.4, sharey=True)
    rows = []
    for axes, spread in zip(panels, SPREADS, strict=True):
        for name, loss_name in PAPERS.items():
            of_lists = moments(loss_name, ESTIMATORS[name][1], spread)
            square = float(np.mean([square for _, square in of_lists]))
            found = [variance_of(loss_name, draws, spread) / square for draws in SEVERAL]
            axes.plot(SEVERAL, found, color=COLOURS[name], marker="o", markersize=3, label=name)
            rows += [
                {"estimator": name, "scores of spread": spread, "draws": draws, "variance": value}
                for draws, value in zip(SEVERAL, found, strict=True)
            ]
        axes.axhline(1.0, color="#888888", linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="draws, N", title=f"scores of spread {spread:g}")
        axes.set_xticks(SEVERAL, [str(draws) for draws in SEVERAL])
        axes.minorticks_off()
    panels[0].set_ylabel("variance / squared mean")
    legend_below(figure, columns=2)
    return pd.DataFrame(rows), figure

"""The page of all losses: formula, properties, parameters and a picture of each on a list of two documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankplug.losses import loss
from rankplug.registry import LossSpecification, Plugin, registry
from rankplug_documentation.reference import parameter_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAPS = np.linspace(-6, 6, 241)
DRAWS = 400
DRAWN = {"lambdagap": "lambdagap[k=1]"}
"""Losses that are flat on two documents by default, with parameters that show them."""
PAPERS = {
    "stochastic": "Bruch, Han, Bendersky, Najork, A stochastic treatment of learning to rank scoring functions,"
    " WSDM 2020",
    "xendcg": "Bruch, An alternative cross entropy loss for learning-to-rank, WWW 2021",
    "uniquerating": "Zhu, Klabjan, Listwise learning to rank by exploring unique ratings, WSDM 2020",
    "logrank": "Dubey, Machchhar, Bhattacharyya, Chakrabarti, Conditional models for non-smooth ranking loss functions,"
    " ICDM 2009",
}
HEAD = """# Losses

Made by `make docs` from the plugins themselves. Each loss is a function of one list with scores $f$ and labels $y$;
$\\pi_i$ is the rank of document $i$, $G_i=2^{y_i}-1$ its gain, $\\sigma$ the logistic function. The pictures show a
list of two documents, the first relevant (label 1) and the second not: the loss and its derivative with respect to
the first score, as functions of the gap $f_1-f_2$. Below zero the pair is ordered wrongly. Losses that draw noise are
shown as the mean over 400 draws. Two documents lie one rank apart, so `lambdagap` is drawn with `k=1`, which makes it
RankNet here.

"""


def write_loss_pages(folder: Path) -> Path:
    """Write ``losses.md`` and its pictures, and return the page's path."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    pictures = folder / "images" / "losses"
    pictures.mkdir(parents=True, exist_ok=True)
    for plugin in registry().plugins("loss"):
        figure = draw_two_documents(DRAWN.get(plugin.specification.name, plugin.specification.name))
        figure.savefig(pictures / f"{plugin.specification.name}.png", dpi=90, metadata={"Software": None})
        plt.close(figure)
    page = folder / "losses.md"
    page.write_text(loss_page())
    return page


def loss_page() -> str:
    """Return the text of the page."""
    return HEAD + "\n".join(_section(plugin) for plugin in registry().plugins("loss"))


def _shift(specification: LossSpecification) -> str:
    """Tell what adding a constant to all scores of a list does, or what its derivatives lack for that."""
    if specification.shift_invariant:
        return "unchanged by a shift of all scores"
    if specification.gradient == "lambda":
        return "derivatives of a list that need not add up to 0"
    return "changed by a shift of all scores"


def _section(plugin: Plugin) -> str:
    specification = plugin.specification
    assert isinstance(specification, LossSpecification)
    paper = PAPERS.get(specification.paper, specification.paper)
    facts = [
        "convex" if specification.convex else "not convex",
        _shift(specification),
        {
            "exact": "exact curvature",
            "surrogate": "a positive surrogate as curvature",
            "none": "no curvature (ones for boosting)",
        }[specification.curvature],
    ]
    if specification.gradient == "lambda":
        facts.append("weights held fixed in differentiation, so the gradient is not that of the value")
    facts += [f"uses {need}" for need in sorted(specification.needs)]
    if specification.longest:
        facts.append(f"lists of up to {specification.longest} documents")
    if specification.largest_label:
        facts.append(f"labels up to {specification.largest_label}")
    summary = specification.summary[:1].upper() + specification.summary[1:]
    return "\n".join(
        [
            f"## {specification.name}",
            "",
            f"{summary}.",
            "",
            *([f"$$ {specification.formula} $$", ""] if specification.formula else []),
            f"Properties: {'; '.join(facts)}.",
            "",
            *([f"Reference: {paper}.", ""] if paper else []),
            *parameter_table(specification.parameters),
            f"![Value and derivative of {specification.name}](images/losses/{specification.name}.png)",
            "",
        ]
    )


def draw_two_documents(name: str) -> Figure:
    """Draw loss and derivative of a list of two documents, over the gap of their scores."""
    from rankplug.plotting import PALETTE, new_figure

    scores = np.stack([GAPS / 2, -GAPS / 2], axis=1).reshape(-1)
    objective = loss(name).on(np.tile([1.0, 0.0], GAPS.size), np.arange(0, scores.size + 1, 2))
    draws = DRAWS if "noise" in objective.loss.specification.needs else 1
    results = [objective(scores, iteration=iteration) for iteration in range(draws)]
    value, gradient = (np.mean([result[place] for result in results], axis=0) for place in (0, 1))
    figure, (left, right) = new_figure(2, width=2.6, height=1.7)
    left.plot(GAPS, value, color=PALETTE[0])
    left.set(xlabel="score gap", ylabel="loss")
    right.plot(GAPS, gradient[::2], color=PALETTE[3])
    right.axhline(0, color="black", linewidth=0.6)
    right.set(xlabel="score gap", ylabel="derivative")
    return figure

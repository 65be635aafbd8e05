"""Colours of the paper's models, the same in all of its figures."""

from __future__ import annotations

from rankplug.plotting import PALETTE, colour

COLOURS = {
    "lambdaMART": PALETTE[0],
    "E[lambdaMART]": PALETTE[4],
    "ApproxNDCG": PALETTE[3],
    "E[ApproxNDCG]": PALETTE[1],
    "CrossEntropy": PALETTE[7],
    "E[CrossEntropy]": PALETTE[5],
    "no noise": "black",
}


def colour_of(model: str) -> str:
    """Return the colour of a model."""
    return colour(model, COLOURS)

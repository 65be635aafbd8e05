"""Colours of the paper's models, the same in all of its figures."""

from __future__ import annotations

from rankplug.plotting import PALETTE, colour

COLOURS = {
    "lambdaMART": PALETTE[0],
    "ListNet": PALETTE[7],
    "XE-NDCG": PALETTE[2],
}


def colour_of(model: str) -> str:
    """Return the colour of a model."""
    return colour(model, COLOURS)

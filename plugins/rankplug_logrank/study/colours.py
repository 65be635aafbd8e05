"""Colours of the paper's models, the same in all of its figures."""

from __future__ import annotations

from rankplug.plotting import PALETTE, colour

COLOURS = {
    "ListNet": PALETTE[7],
    "MLE": PALETTE[0],
    "ExpGain_AUC": PALETTE[1],
    "L3_AUC": PALETTE[2],
    "Convex_AUC": PALETTE[3],
    "Convex_NDCG": PALETTE[3],
}


def colour_of(model: str) -> str:
    """Return the colour of a model."""
    return colour(model, COLOURS)

"""Colours of the paper's models, the same in all of its figures."""

from __future__ import annotations

from rankplug.plotting import PALETTE, colour

COLOURS = {
    "uMart": PALETTE[2],
    "uRank": PALETTE[5],
    "uBoost": PALETTE[1],
    "urBoost": PALETTE[3],
}


def colour_of(model: str) -> str:
    """Return the colour of a model."""
    return colour(model, COLOURS)

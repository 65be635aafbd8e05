"""A comparison of methods over all installed papers, from whatever runs of theirs a store holds.

A method is a model of a paper. A collection is a data set with the transforms that were applied to it. Methods are
compared only under the same conditions: profile, made or real data, metric, origin, versions and master seed.
"""

from rankplug.studies.scoreboard.boards import Board, Column, Row, Scoreboard, scoreboard
from rankplug.studies.scoreboard.conclusions import (
    BestMethod,
    LossRecord,
    NoiseEffect,
    best_methods,
    loss_records,
    noise_effects,
)
from rankplug.studies.scoreboard.entries import Collection, Conditions, Entry, Method
from rankplug.studies.scoreboard.standings import Ranks, Standing, Standings

__all__ = [
    "BestMethod",
    "Board",
    "Collection",
    "Column",
    "Conditions",
    "Entry",
    "LossRecord",
    "Method",
    "NoiseEffect",
    "Ranks",
    "Row",
    "Scoreboard",
    "Standing",
    "Standings",
    "best_methods",
    "loss_records",
    "noise_effects",
    "scoreboard",
]

"""Changes of labels: two grades instead of many, or noise."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankplug.data import Lists, Split
from rankplug_data.transforms.parameters import Flips, Threshold
from rankplug_data.transforms.selection import random_places, rounded_shares


def binarise(split: Split, parameters: Threshold, generator: np.random.Generator) -> Split:
    """Set labels to 1 from ``threshold`` on, to 0 below."""

    def change(lists: Lists) -> Lists:
        return dataclasses.replace(lists, labels=(lists.labels >= parameters.threshold).astype(np.float32))

    return split.change(Split._fields, change)


def label_flips(split: Split, parameters: Flips, generator: np.random.Generator) -> Split:
    """Draw new labels for a share of each list's documents, chosen without replacement, whatever their old ones are."""

    def change(lists: Lists) -> Lists:
        counts = np.repeat(rounded_shares(lists, parameters.share), lists.lengths)
        chosen = random_places(lists, generator) < counts
        labels = lists.labels.copy()
        labels[chosen] = generator.choice(len(parameters.law), size=int(chosen.sum()), p=parameters.law)
        return dataclasses.replace(lists, labels=labels)

    return split.change(parameters.parts, change)

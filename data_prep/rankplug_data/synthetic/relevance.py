r"""Relevance of a document to a query, and how a judge labels it.

The relevance function is

.. math:: g(q, d) = 0.7\,\text{text} + \text{hidden}\cdot\text{meaning}
          + [\text{text} > 0]\,\bigl((2.6 t - 0.9)\,\text{authority} + 1.6\,(S(2\,\text{popularity}) - 1/2)\bigr) \\
          - [\text{spam} > 0.9] - 0.6\,[\text{quality} < -0.9] - 0.45 \min((\text{length} - 1 + 2 t)^2, 4)

with intent ``t``, an S-shaped ``S`` and ``text = (1 - t) max(body, title) + t max(anchor, url, title)``, where a stream
without a query term counts -1.6: interactions, thresholds, a best length, and weights that change with the query.
Scaled to mean 0 and deviation 1 it is ``r``, of which a judge perceives

.. math:: u = \text{clarity}_q\, r + \text{abundance}_q + \text{noise}\cdot\varepsilon

and labels it by how many of fixed thresholds ``u`` exceeds. Neither a pairwise, nor a listwise, nor a ranking model is
in it, and no document's label depends on another document's. So no loss has its own assumptions fulfilled by design.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import part
from rankplug_data.synthetic.draws import normal, squashed
from rankplug_data.synthetic.latents import (
    ABUNDANCE,
    AUTHORITY,
    BARREN,
    CLARITY,
    EXTENT,
    INTENT,
    MATCH,
    MEANING,
    POPULARITY,
    QUALITY,
    SPAM,
)
from rankplug_data.synthetic.shapes import ANCHOR, BODY, TITLE, URL

NOTHING_FOUND = -1e9
"""Perception where the collection holds nothing relevant: below every threshold."""
_UNMATCHED = -1.6
_MEAN, _VARIANCE = -0.566, 1.90
_NOISE_AT = 32


@part(nogil=True, error_model="numpy")
def relevance(query: np.ndarray, document: np.ndarray, matched: np.ndarray, hidden: float) -> float:
    """Return the relevance function, of mean 0 and deviation 1 over the documents of a large collection."""
    intent = query[INTENT]
    body = document[MATCH + BODY] if matched[BODY] > 0.0 else _UNMATCHED
    anchor = document[MATCH + ANCHOR] if matched[ANCHOR] > 0.0 else _UNMATCHED
    title = document[MATCH + TITLE] if matched[TITLE] > 0.0 else _UNMATCHED
    url = document[MATCH + URL] if matched[URL] > 0.0 else _UNMATCHED
    text = (1.0 - intent) * max(body, title) + intent * max(anchor, url, title)
    value = 0.7 * text + hidden * document[MEANING]
    if text > 0.0:
        value += (2.6 * intent - 0.9) * document[AUTHORITY] + 1.6 * (squashed(2.0 * document[POPULARITY]) - 0.5)
    if document[SPAM] > 0.9:
        value -= 1.0
    if document[QUALITY] < -0.9:
        value -= 0.6
    surplus = document[EXTENT + BODY] - (1.0 - 2.0 * intent)
    value -= 0.45 * min(surplus * surplus, 4.0)
    return float((value - _MEAN) / np.sqrt(_VARIANCE + hidden * hidden))


@part(nogil=True, error_model="numpy")
def perceived(key: np.uint64, query: np.ndarray, value: float, noise: float) -> float:
    """Return a judge's perception of a document whose relevance is ``value``."""
    if query[BARREN] > 0.0:
        return NOTHING_FOUND
    return float(query[CLARITY] * value + query[ABUNDANCE] + noise * normal(key, _NOISE_AT))


@part(nogil=True, error_model="numpy")
def labelled(perception: float, thresholds: np.ndarray) -> float:
    """Return the label: how many of the rising thresholds the perception exceeds."""
    label = 0.0
    for threshold in thresholds:
        if perception > threshold:
            label += 1.0
    return label

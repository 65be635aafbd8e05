"""Features of a document, computed from its latent values by the recipes."""

from __future__ import annotations

import numpy as np

from rankplug.compiled import part
from rankplug_data.synthetic.draws import exponential, squashed, standard, word
from rankplug_data.synthetic.features import Law, Table
from rankplug_data.synthetic.latents import RARITY, TERMS

_FIRST_DRAW = 64
_LEVEL, _POSITIVE, _COUNT, _HEAVY = int(Law.LEVEL), int(Law.POSITIVE), int(Law.COUNT), int(Law.HEAVY)
_SQUASHED, _TERMS, _FLAG, _DERIVED = int(Law.SQUASHED), int(Law.TERMS), int(Law.FLAG), int(Law.DERIVED)


@part(nogil=True, error_model="numpy")
def query_factors(query: np.ndarray, factors: np.ndarray) -> None:
    """Fill ``factors`` with the properties in :class:`~rankplug_data.synthetic.features.Times`."""
    factors[0] = 1.0
    factors[1] = 1.0 / query[TERMS]
    factors[2] = query[RARITY]
    factors[3] = query[RARITY] * query[RARITY]


@part(nogil=True, error_model="numpy")
def measure(
    recipe: Table,
    key: np.uint64,
    terms: float,
    factors: np.ndarray,
    document: np.ndarray,
    matched: np.ndarray,
    values: np.ndarray,
) -> None:
    """Fill ``values`` with the features of one document."""
    for column in range(values.size):
        stream = recipe.stream[column]
        if stream >= 0 and matched[stream] == 0.0:
            values[column] = 0.0
            continue
        own = recipe.noise[column]
        if own > 0.0:
            own *= standard(word(key, _FIRST_DRAW + column))
        law = recipe.law[column]
        if law == _DERIVED:
            value = values[recipe.source[column]] * (1.0 + own)
            divisor = recipe.divisor[column]
            if divisor >= 0:
                value /= max(values[divisor], 1.0)
        else:
            value = recipe.bias[column] + own
            for slot in range(3):
                value += recipe.weight[column, slot] * document[recipe.latent[column, slot]]
            if law == _POSITIVE:
                value = max(value, 0.0)
            elif law == _COUNT:
                value = np.floor(exponential(value))
            elif law == _HEAVY:
                value = exponential(value)
            elif law == _SQUASHED:
                value = squashed(value)
            elif law == _TERMS:
                value = max(np.floor(terms * squashed(value) + 0.5), 1.0)
            elif law == _FLAG:
                value = 1.0 if value > 0.0 else 0.0
        values[column] = value * recipe.scale[column] * factors[recipe.times[column]]


@part(nogil=True, error_model="numpy")
def to_unit_interval(middle: np.ndarray, values: np.ndarray) -> None:
    """Map ``x`` to ``x / (x + m)``, and to ``m / (|x| + m)`` where it is negative: ``m`` becomes one half."""
    for column in range(values.size):
        value = np.float64(values[column])
        if value > 0.0:
            values[column] = value / (value + middle[column])
        elif value < 0.0:
            values[column] = middle[column] / (middle[column] - value)

"""Ways of spending the chance of an error over five looks, compared by simulation; the table of docs/verdicts.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
STUDIES, LEVEL, LOOKS = 20_000, 0.025, 10 * 2 ** np.arange(5)
SHARE = LOOKS / LOOKS[-1]
GREATER, SMALLER, NONE = 1, 2, 3


def lan_and_demets(spent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one-sided levels of the looks at which a Brownian motion spends the chance of an error as told."""
    steps = np.random.default_rng(5).standard_normal((400_000, LOOKS.size)) * np.sqrt(np.diff(SHARE, prepend=0.0))
    paths = np.cumsum(steps, axis=1) / np.sqrt(SHARE)
    inside, levels = np.ones(len(paths), bool), []
    for look, more in enumerate(np.diff(spent, prepend=0.0)):
        highest = np.sort(paths[inside, look])[::-1]
        bound = highest[round(more * len(paths)) - 1] if round(more * len(paths)) else np.inf
        levels.append(stats.norm.sf(bound))
        inside &= paths[:, look] < bound
    return np.array(levels)


def half_width(way: str, errors: NDArray[np.float64], look: int) -> NDArray[np.float64]:
    trials = LOOKS[look]
    if way == "confidence sequence":
        # The asymptotic one of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, two-sided, tightest near 40 trials.
        scale = trials / 20.0 + 1.0
        return errors * np.sqrt(trials) * np.sqrt(2 * scale * 20 / trials**2 * np.log(np.sqrt(scale) / (2 * LEVEL)))
    return errors * stats.t.isf(levels()[way][look], trials - 1)


@cache
def levels() -> dict[str, NDArray[np.float64]]:
    early = 2 * stats.norm.sf(stats.norm.isf(LEVEL / 2) / np.sqrt(SHARE))
    equal = LEVEL * np.arange(1, LOOKS.size + 1) / LOOKS.size
    return {
        "equal shares, Bonferroni": np.full(LOOKS.size, LEVEL / LOOKS.size),
        "equal shares, Lan and DeMets": lan_and_demets(equal),
        "Pocock, Lan and DeMets": lan_and_demets(LEVEL * np.log1p((np.e - 1) * SHARE)),
        "O'Brien and Fleming, Lan and DeMets": lan_and_demets(early),
    }


def simulated(way: str, truth: float, spread: float) -> tuple[NDArray[np.int64], float]:
    """Return the verdict of each study at a margin of 1, and the mean number of trials it took."""
    values = truth + spread * np.random.default_rng(1).standard_normal((STUDIES, LOOKS[-1]), dtype=np.float32)
    verdicts, taken = np.zeros(STUDIES, np.int64), np.full(STUDIES, LOOKS[-1])
    for look, trials in enumerate(LOOKS):
        seen = values[:, :trials]
        middle = seen.mean(axis=1)
        width = half_width(way, seen.std(axis=1, ddof=1) / np.sqrt(trials), look)
        low, high = middle - width, middle + width
        now = np.select([low > 0, high < 0, (low > -1) & (high < 1)], [GREATER, SMALLER, NONE], 0)
        taken[(verdicts == 0) & (now > 0)] = trials
        verdicts = np.where(verdicts == 0, now, verdicts)
    return verdicts, float(taken.mean())


def row(way: str) -> dict[str, float]:
    zero, trials = simulated(way, 0.0, 2.0)
    _, to_find = simulated(way, 1.0, 2.0)
    hard, _ = simulated(way, 1.0, 4.0)
    return {
        "false": 100 * float(np.isin(zero, (GREATER, SMALLER)).mean()),
        "trials at zero": trials,
        "trials at the margin": to_find,
        "found where hard": 100 * float((hard == GREATER).mean()),
        "false where hard": 100 * float(np.isin(simulated(way, 0.0, 4.0)[0], (GREATER, SMALLER)).mean()),
    }


@pytest.mark.parametrize("way", [*levels(), "confidence sequence"])
def test_the_page_compares_ways_of_spending_as_simulated(way):
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {way} |"))
    printed = [float(number) for number in re.findall(r"[\d.]+", line.removeprefix(f"| {way} |"))]
    shares = row(way)
    assert printed[:3] == pytest.approx(
        [shares["false"], shares["false where hard"], shares["found where hard"]], abs=0.6
    )
    assert printed[3:] == pytest.approx([shares["trials at zero"], shares["trials at the margin"]], abs=1.5)


def test_equal_shares_by_bonferroni_keep_the_level_where_those_of_the_normal_law_pass_it():
    assert row("equal shares, Bonferroni")["false where hard"] <= 5.0
    assert row("equal shares, Lan and DeMets")["false where hard"] > 5.0
    assert row("confidence sequence")["found where hard"] < row("equal shares, Bonferroni")["found where hard"] - 10

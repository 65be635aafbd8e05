"""Trials added until a claim is decided: the errors of several looks, and what runs on a budget."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rankplug.statistics import all_greater, look_steps, mean_of_trials, p_values
from rankplug.store import Store
from rankplug.studies import Budget, Claim, Margin, Runs, Study, Verdict, decide, decisions_in_words, greater

STUDIES, FIRST, LOOKS = 2_000, 10, 5


def decided(truth: float, parts: int, correlation: float, spread: float, margin: float = 1.0) -> np.ndarray:
    """Return the verdicts of many made studies whose trials are doubled until they are decided."""
    noise = np.random.default_rng(parts + int(10 * correlation))
    trials = FIRST * 2 ** (LOOKS - 1)
    common = noise.standard_normal((STUDIES, 1, trials), dtype=np.float32)
    own = noise.standard_normal((STUDIES, parts, trials), dtype=np.float32)
    values = truth + spread * (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)
    words = np.full(STUDIES, "inconclusive", dtype=object)
    for look in range(LOOKS):
        still = words == "inconclusive"
        estimate = mean_of_trials(values[still, :, : FIRST * 2**look])
        p = p_values(estimate.point, estimate.error, estimate.degrees, margin)
        words[still] = all_greater(p, look_steps(LOOKS)(parts))
    return words


def share(words: np.ndarray, *which: str) -> float:
    return float(np.isin(words, which).mean())


@pytest.mark.parametrize(("parts", "correlation"), itertools.product((1, 4), (0.0, 0.7)))
@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_five_looks_err_in_five_per_cent_at_most(parts, correlation, spread):
    at_zero = decided(0.0, parts, correlation, spread)
    assert share(at_zero, "holds", "fails") <= 0.05
    at_margin = decided(1.0, parts, correlation, spread)
    assert share(at_margin, "fails", "no difference") <= 0.05 and share(at_margin, "holds") >= 0.8


def test_five_looks_at_the_level_of_one_err_more_often():
    noise = np.random.default_rng(0).standard_normal((STUDIES, FIRST * 2 ** (LOOKS - 1)))
    found = [mean_of_trials(noise[:, : FIRST * 2**look]) for look in range(LOOKS)]
    wrong = [np.abs(estimate.point / estimate.error) > 2.0 for estimate in found]
    assert np.any(wrong, axis=0).mean() > 0.1


@pytest.mark.parametrize(("points", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.05, "no difference")])
def test_planted_differences_are_decided_as_what_they_are(points, verdict):
    assert share(decided(points, 1, 0.0, spread=1.0, margin=0.5), verdict) >= 19 / 20


def lead(results):
    return greater({"ndcg@5": results.difference("runs", "ndcg@5", "ListNet", "nothing learnt")})


def study_of() -> Study:
    """Return a study with one claim that is true by a wide margin, on data that each trial draws anew."""

    def runs(profile, data):
        shared = {"dataset": "synthetic[queries=40,documents=12,test_queries=40]", "metrics": ["ndcg@5"]}
        models = {
            "ListNet": {"backend": "lbfgs[C=(1.0,),iterations=15]", "loss": "listnet"},
            "nothing learnt": {"backend": "lbfgs[C=(1.0,),iterations=1]", "loss": "mse"},
            "bystander": {"backend": "lbfgs[C=(1.0,),iterations=2]", "loss": "ranknet"},
        }
        yield Runs("runs", models, {**shared, "transforms": ["query_minmax"]}, trials=2)

    margin = Margin(0.005, "half a point", 100, "points")
    claims = (Claim("first", "The first is better.", lead, "", margin),)
    return Study("made", "Made", "nobody", "made:made.ipynb", runs, (), claims, lambda: None)


def trials_of(store: Store, loss: str) -> int:
    return sum(record["combination"]["loss"] == loss for record in _records(store))


def _records(store: Store) -> list[dict]:
    (runs,) = study_of().planned_runs("quick", trials=8).values()
    trials = [trial for model in runs.models for trial in runs.trials_of(model)]
    return [record for trial in trials if (record := store.about(trial))]


def test_the_budget_counts_every_core_of_a_job(tmp_path, monkeypatch):
    monkeypatch.delenv("RANKPLUG_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("rankplug.sweeps._running.available_cores", lambda: 4)
    budgets = []

    def nothing(waiting, base, more, left):
        budgets.append(left)
        return [], frozenset(), 0.0

    monkeypatch.setattr("rankplug.studies.deciding._affordable", nothing)
    monkeypatch.setattr("rankplug.studies.deciding._can_grow", lambda verdict: True)
    monkeypatch.setattr("rankplug.studies.Verdict.decided", False)
    decide(study_of(), "quick", Budget(minutes=10.0), jobs=1, store=Store(tmp_path), progress=False)
    assert budgets == [40.0]


@pytest.mark.slow
def test_trials_are_added_to_models_of_open_claims_only(tmp_path):
    store = Store(tmp_path / "results")
    budget = Budget(minutes=30, looks=3)
    results = decide(study_of(), "quick", budget, store=store, progress=False)
    (verdict,) = results.decisions.values()
    assert isinstance(verdict, Verdict) and verdict.looks > 1
    assert trials_of(store, "listnet") == 2 * 2 ** (verdict.looks - 1)
    assert trials_of(store, "ranknet") == 2
    assert f"{verdict.looks} looks at growing data" in verdict.sentence
    words = decisions_in_words(study_of(), results)
    assert f"{int(verdict.decided)} of 1 claims about differences are decided" in words
    assert f"after {verdict.looks} looks, {2 * 2 ** (verdict.looks - 1)} trials" in words
    before = len(_records(store))
    again = decide(study_of(), "quick", budget, store=store, progress=False)
    assert [decision.describe() for decision in again.decisions.values()] == [verdict.describe()]
    assert len(_records(store)) == before


@pytest.mark.slow
def test_a_killed_process_leaves_its_trials_to_another(tmp_path):
    child = """if True:
        import sys, test_deciding as test
        test.decide(test.study_of(), "quick", test.Budget(30, looks=3), store=sys.argv[1], progress=False)
    """
    start = [sys.executable, "-c", child]
    alone, together = Store(tmp_path / "alone"), Store(tmp_path / "together")
    subprocess.run([*start, str(alone.folder)], cwd=Path(__file__).parent, check=True)
    first, second = (subprocess.Popen([*start, str(together.folder)], cwd=Path(__file__).parent) for _ in range(2))
    while not _records(together):
        time.sleep(0.05)
    first.kill()
    first.wait()
    assert second.wait(timeout=240) == 0
    assert len(_records(together)) == len(_records(alone)) == len(list(together.folder.rglob("*.parquet")))
    budget = Budget(minutes=30, looks=3)
    verdicts = [
        decide(study_of(), "quick", budget, store=store, progress=False).decisions for store in (alone, together)
    ]
    alone, together = ([verdict.describe()["parts"] for verdict in found.values()] for found in verdicts)
    assert alone == together


@pytest.mark.slow
def test_beyond_the_budget_a_claim_stays_open(tmp_path):
    store = Store(tmp_path / "results")
    results = decide(study_of(), "quick", Budget(minutes=1e-6), store=store, progress=False)
    (verdict,) = results.decisions.values()
    assert verdict.verdict == "inconclusive" and verdict.looks == 1
    assert verdict.needs.repetitions > 2 and "would decide it at the margin" in verdict.sentence
    assert trials_of(store, "listnet") == 2
    assert "would decide it at the margin" in decisions_in_words(study_of(), results)


PAGE = Path(__file__).parents[2] / "docs" / "verdicts.md"
SIMULATED, LEVEL, TRIALS = 20_000, 0.025, 10 * 2 ** np.arange(5)
SHARE = TRIALS / TRIALS[-1]
GREATER, SMALLER, NONE = 1, 2, 3
"""Verdicts of ways of spending the chance of an error over looks, for the table of docs/verdicts.md."""


def lan_and_demets(spent: np.ndarray) -> np.ndarray:
    """Return one-sided levels of the looks at which a Brownian motion spends the chance of an error as told."""
    steps = np.random.default_rng(5).standard_normal((400_000, TRIALS.size)) * np.sqrt(np.diff(SHARE, prepend=0.0))
    paths = np.cumsum(steps, axis=1) / np.sqrt(SHARE)
    inside, levels = np.ones(len(paths), bool), []
    for look, more in enumerate(np.diff(spent, prepend=0.0)):
        highest = np.sort(paths[inside, look])[::-1]
        bound = highest[round(more * len(paths)) - 1] if round(more * len(paths)) else np.inf
        levels.append(stats.norm.sf(bound))
        inside &= paths[:, look] < bound
    return np.array(levels)


def half_width(way: str, errors: np.ndarray, look: int) -> np.ndarray:
    trials = TRIALS[look]
    if way == "confidence sequence":
        # The asymptotic one of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, two-sided, tightest near 40 trials.
        scale = trials / 20.0 + 1.0
        return errors * np.sqrt(trials) * np.sqrt(2 * scale * 20 / trials**2 * np.log(np.sqrt(scale) / (2 * LEVEL)))
    return errors * stats.t.isf(levels()[way][look], trials - 1)


@cache
def levels() -> dict[str, np.ndarray]:
    early = 2 * stats.norm.sf(stats.norm.isf(LEVEL / 2) / np.sqrt(SHARE))
    equal = LEVEL * np.arange(1, TRIALS.size + 1) / TRIALS.size
    return {
        "equal shares, Bonferroni": np.full(TRIALS.size, LEVEL / TRIALS.size),
        "equal shares, Lan and DeMets": lan_and_demets(equal),
        "Pocock, Lan and DeMets": lan_and_demets(LEVEL * np.log1p((np.e - 1) * SHARE)),
        "O'Brien and Fleming, Lan and DeMets": lan_and_demets(early),
    }


def simulated(way: str, truth: float, spread: float) -> tuple[np.ndarray, float]:
    """Return the verdict of each study at a margin of 1, and the mean number of trials it took."""
    values = truth + spread * np.random.default_rng(1).standard_normal((SIMULATED, TRIALS[-1]), dtype=np.float32)
    verdicts, taken = np.zeros(SIMULATED, np.int64), np.full(SIMULATED, TRIALS[-1])
    for look, trials in enumerate(TRIALS):
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "way",
    [
        "equal shares, Bonferroni",
        "equal shares, Lan and DeMets",
        "Pocock, Lan and DeMets",
        "O'Brien and Fleming, Lan and DeMets",
        "confidence sequence",
    ],
)
def test_the_page_compares_ways_of_spending_as_simulated(way):
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {way} |"))
    printed = [float(number) for number in re.findall(r"[\d.]+", line.removeprefix(f"| {way} |"))]
    shares = row(way)
    assert printed[:3] == pytest.approx(
        [shares["false"], shares["false where hard"], shares["found where hard"]], abs=0.6
    )
    assert printed[3:] == pytest.approx([shares["trials at zero"], shares["trials at the margin"]], abs=1.5)


@pytest.mark.slow
def test_equal_shares_by_bonferroni_keep_the_level_where_those_of_the_normal_law_pass_it():
    assert row("equal shares, Bonferroni")["false where hard"] <= 5.0
    assert row("equal shares, Lan and DeMets")["false where hard"] > 5.0
    assert row("confidence sequence")["found where hard"] < row("equal shares, Bonferroni")["found where hard"] - 10

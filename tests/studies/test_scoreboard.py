"""The scoreboard gives means, ranks and verdicts that other formulas confirm, and mixes nothing that is unlike."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rankplug.report import write_scoreboard
from rankplug.report.safe_html import policy
from rankplug.statistics import best_is_greater, p_values
from rankplug.store import Combination, Result, Store, Trial
from rankplug.studies import Runs, Study, scoreboard

MODELS = {"MSE": "mse", "RankNet": "ranknet", "LambdaRank": "lambdarank", "<b>ListNet</b>": "listnet"}
LEVELS = {"mse": 0.40, "ranknet": 0.401, "lambdarank": 0.60, "listnet": 0.55}
TRIALS = {"smoke": 2, "quick": 6}
QUERIES = 8


def runs(profile, data):
    size = 20 if profile in TRIALS else 30
    for name, transforms in (("clean", []), ("noisy", ["label_flips[share=0.3]"])):
        shared = {"dataset": f"synthetic[queries={size},documents=8]", "backend": "lightgbm", "transforms": transforms}
        models = {model: {"loss": loss} for model, loss in MODELS.items()}
        yield Runs(name, models, shared, trials=TRIALS.get(profile, 1), place="MSLR")


def paper(**changes):
    return replace(Study("paper", "A paper", "none", "made:made.ipynb", runs, (), (), pd.DataFrame), **changes)


PAPER = paper()


def fill(store, profile="quick", numbers=None, folds=(1,), pool=True, shift=0.0, **facts):
    """Write results in which a trial adds .01 and a collection .1, so that means are known exactly."""
    for group in runs(profile, None):
        for model, loss in MODELS.items():
            for trial in (one for fold in folds for one in group.trials_of(model)):
                if numbers is not None and trial.number not in numbers:
                    continue
                store.write(result(Trial(trial.combination, 1, trial.number), loss, group, shift, pool, facts))


def result(trial, loss, group, shift, pool, facts):
    wobble = 0.001 * np.random.default_rng([trial.number, *loss.encode()]).normal()
    mean = LEVELS[loss] + 0.01 * trial.number + 0.1 * (group.name == "clean") + wobble + shift
    values = mean + np.linspace(-0.05, 0.05, QUERIES)
    tests = f"{trial.number}" if pool else "the same"
    record = {"test_fingerprint": tests, "pool": tests, "data": {"train": tests}, "started": 1.0, **facts}
    return Result(trial, {"ndcg@5": values}, tuple(f"q{one}" for one in range(QUERIES)), record=record)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def table(store, profile="quick"):
    """Return the means that were written: a row a trial, a column a method."""
    rows = [
        (model, trial.number, store.read(trial).queries["ndcg@5"].mean())
        for model in MODELS
        for trial in next(iter(runs(profile, None))).trials_of(model)
    ]
    return pd.DataFrame(rows, columns=["model", "trial", "value"]).pivot(index="trial", columns="model")["value"]


def test_means_intervals_ranks_and_verdicts_follow_formulas(store):
    fill(store)
    boards = scoreboard([PAPER], store=store, profiles=["quick"]).boards
    assert [board.conditions.collection for board in boards] == ["made as MSLR"] * 2
    board = next(board for board in boards if not board.conditions.transforms)
    written = table(store)
    standings = {str(method): standing for method, standing in board.standings.items()}
    assert list(standings)[:2] == ["LambdaRank", "<b>ListNet</b>"]
    for model, one in standings.items():
        low, high = stats.t.interval(0.95, len(written) - 1, written[model].mean(), stats.sem(written[model]))
        found = (one.interval.point, one.interval.low, one.interval.high)
        assert found == pytest.approx((written[model].mean(), low, high))
        assert one.lead == pytest.approx(written["LambdaRank"].mean() - written[model].mean())
    words = {model: standing.verdict for model, standing in standings.items()}
    assert words == {"LambdaRank": "", "<b>ListNet</b>": "holds", "MSE": "holds", "RankNet": "holds"}
    expected = stats.rankdata(-written.to_numpy(), axis=1).mean(axis=0)
    assert {str(method): rank for method, rank in board.ranks.mean.items()} == pytest.approx(
        dict(zip(written.columns, expected, strict=True))
    )
    assert board.ranks.critical.critical_difference == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 6)), rel=1e-3)


def test_small_leads_are_no_difference(store):
    fill(store)
    board, _ = scoreboard([PAPER], store=store, profiles=["quick"], margin=30).boards
    assert {standing.verdict for standing in board.standings.values()} == {"", "no difference"}


def test_one_trial_decides_nothing_and_two_have_no_critical_difference(store):
    fill(store, numbers=[0])
    board, _ = scoreboard([PAPER], store=store, profiles=["quick"]).boards
    cells = board.standings.values()
    assert {cell.verdict for cell in cells} == {"", "inconclusive"} and {cell.trials for cell in cells} == {1}
    assert board.ranks.why_not == "fewer than 2 trials that all methods have"
    fill(store, numbers=[1])
    board, _ = scoreboard([PAPER], store=store, profiles=["quick"]).boards
    # Nemenyi: 2.569 sqrt(4 5 / (6 2)) = 3.3 of at most 3 ranks between four methods.
    assert board.ranks.critical is None
    assert board.ranks.why_not == "2 trials are too few to tell 4 methods apart"


def test_results_of_other_versions_are_left_out(store, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(Combination, "versions", {"rankplug": "77"})
        fill(store, numbers=[0, 1], shift=0.5)
    assert scoreboard([PAPER], store=store).boards == ()
    fill(store, numbers=[2, 3])
    boards = scoreboard([PAPER], store=store, profiles=["quick"]).boards
    assert {place.trials for board in boards for place in board.standings.values()} == {2}


def test_one_shared_test_part_has_no_independent_blocks(store):
    fill(store, pool=False)
    boards = scoreboard([PAPER], store=store, profiles=["quick"]).boards
    board = next(board for board in boards if not board.conditions.transforms)
    assert board.ranks.critical is None
    best = next(iter(board.standings.values()))
    assert best.interval.point == pytest.approx(table(store)["LambdaRank"].mean())


def test_runs_that_two_papers_have_count_once(store):
    fill(store)
    board, _ = scoreboard([PAPER, paper(name="second")], store=store, profiles=["quick"]).boards
    assert len(board.standings) == 8 and len(board.ranks.mean) == 4


def test_a_method_alone_on_a_collection_is_not_ranked(store, tmp_path):
    """UMart shares one collection with another method and has a second one for itself, where it once came first."""
    rng = np.random.default_rng(0)

    def parts(profile, data):
        for name, size, models in (("both", 20, ("MSE", "RankNet")), ("alone", 30, ("MSE",))):
            shared = {"dataset": f"synthetic[queries={size},documents=8]", "backend": "lightgbm"}
            yield Runs(name, {model: {"loss": MODELS[model]} for model in models}, shared, trials=3, place=name)

    for group in parts("quick", None):
        for model in group.models:
            for trial in group.trials_of(model):
                store.write(result(trial, MODELS[model], group, 0.001 * rng.normal(), True, {}))
    shown = scoreboard([paper(runs=parts)], store=store, profiles=["quick"])
    (board,) = shown.boards
    assert board.conditions.place == "both" and len(board.ranks.mean) == 2
    text = write_scoreboard(shown, store, tmp_path / "report").read_text()
    assert text.count("<small>of 2</small>") == 2


def test_the_best_of_equals_is_called_better_in_at_most_five_percent_of_studies():
    draws = np.random.default_rng(21).normal(0.0, 0.02, size=(4_000, 10, 6))
    best = draws.mean(axis=1).argmax(axis=1)
    lead = np.take_along_axis(draws, best[:, None, None], axis=2) - draws
    others = np.array([np.delete(one, place, axis=1) for one, place in zip(lead, best, strict=True)])
    error = others.std(axis=1, ddof=1) / math.sqrt(10)
    words = best_is_greater(p_values(others.mean(axis=1), error, np.full(error.shape, 9.0), 0.005))
    assert (words == "holds").any(axis=1).mean() <= 0.05


def test_the_page_escapes_names_and_runs_its_own_script_only(store, tmp_path):
    fill(store)
    text = write_scoreboard(scoreboard([PAPER], store=store, profiles=["quick"]), store, tmp_path).read_text()
    links = set(re.findall(r'href="(combinations/[^"]+)"', text))
    assert len(links) == 2 * len(MODELS) and all((tmp_path / link).is_file() for link in links)
    assert "&lt;b&gt;ListNet&lt;/b&gt;" in text and "<b>ListNet" not in text
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in text and "script-src" not in policy()

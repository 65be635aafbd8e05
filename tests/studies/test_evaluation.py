"""A study is evaluated once: another process finds what was drawn and judged, and nothing else is taken for it."""

from __future__ import annotations

import dataclasses
import os
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rankplug.errors import NotRunError
from rankplug.report import forest
from rankplug.store import Store
from rankplug.studies import (
    Claim,
    Exhibit,
    Margin,
    Observation,
    Runs,
    Study,
    evaluate,
    evidence_of,
    greater,
    kept_evaluations,
    not_run,
)

MODELS = {"lambdaMART": {"loss": "lambdarank"}, "XE-NDCG": {"loss": "xe_ndcg"}}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run a study of two models, whose functions count how often they are called."""
    drawn = []
    shared = {"dataset": "synthetic[queries=20,documents=8]", "backend": "lightgbm", "scorer": "trees[rounds=2]"}

    def table(results):
        drawn.append("table")
        frame = results["few"].groupby("model", observed=True)["value"].agg(["mean", "max"])
        return frame.assign(note=["<b>", None], place=pd.Categorical(["one", "two"], ["two", "one"])), None

    def figure(results):
        from rankplug.plotting import new_figure

        drawn.append("figure")
        means = results.trials("few", "ndcg@5").mean()
        picture, axes = new_figure()
        axes.plot(means)
        return pd.DataFrame({"model": means.index, "value": [np.nan, 0.5]}), picture

    def lead(results):
        drawn.append("claim")
        return greater({"": results.difference("few", "ndcg@5", "lambdaMART", "XE-NDCG")})

    study = Study(
        name="evaluated",
        title="A paper",
        citation="Nobody, 2020",
        notebook="made:made.ipynb",
        runs=lambda profile, data: [Runs("few", MODELS, shared, trials=2, kind="all", place="here")],
        exhibits=(Exhibit("Table 1", "numbers", table), Exhibit("Figure 1", "a picture", figure)),
        claims=(
            Claim("more", "more", lead, "Table 1", Margin(0.5, "half of all")),
            Claim("none", "none", lambda _: not_run("why")),
        ),
        observations=(Observation("one", "one", lambda results: ""), Observation("two", "two", lambda results: "seen")),
        published=pd.DataFrame,
    )
    store = Store(tmp_path_factory.mktemp("evaluated"))
    study.run("smoke", store=store, progress=False)
    return SimpleNamespace(study=study, store=store, drawn=drawn)


@pytest.fixture
def cache(tmp_path, monkeypatch, ran):
    """Keep evaluations in a folder of the test, as if the study were an installed one."""
    monkeypatch.setattr(kept_evaluations, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kept_evaluations, "_is_installed", lambda study: True)
    ran.drawn.clear()
    return tmp_path


def evaluated(ran, study=None):
    """Evaluate all parts, as a process does that knows nothing of an earlier one."""
    made = evaluate(study or ran.study, ran.study.results("smoke", store=ran.store))
    return made, made.exhibits, made.claims, made.observations, made.runs


def test_another_process_finds_what_was_evaluated(ran, cache):
    _, exhibits, claims, observations, runs = evaluated(ran)
    assert ran.drawn == ["table", "figure", "claim"]
    _, again, same_claims, same_observations, same_runs = evaluated(ran)
    assert ran.drawn == ["table", "figure", "claim"]
    for first, second in zip(exhibits, again, strict=True):
        pd.testing.assert_frame_equal(first.table, second.table)
        assert first.pictures == second.pictures and first.sources == second.sources
    assert exhibits[1].pictures["png"].startswith(b"\x89PNG") and exhibits[1].pictures["pdf"].startswith(b"%PDF")
    assert [claim.verdict.sentence for claim in claims] == [one.verdict.sentence for one in same_claims]
    assert [claim.sources for claim in claims] == [claim.sources for claim in same_claims]
    assert [observation.told for observation in observations] == [one.told for one in same_observations] == ["seen"]
    pd.testing.assert_frame_equal(runs, same_runs)


def test_results_that_changed_are_evaluated_again(ran, cache):
    evaluated(ran)
    path = next(ran.store.files())
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000))
    evaluated(ran)
    assert ran.drawn == 2 * ["table", "figure", "claim"]


def test_a_damaged_file_is_evaluated_again(ran, cache):
    first = evaluated(ran)[2]
    for index, path in enumerate(sorted(cache.rglob("*.json"))):
        path.write_text(["", "{}", "[1", '{"table": "x"}'][index % 4])
    assert [one.verdict.verdict for one in evaluated(ran)[2]] == [one.verdict.verdict for one in first]
    assert ran.drawn == 2 * ["table", "figure", "claim"]


def test_a_flipped_bit_in_what_is_kept_changes_no_number(ran, cache):
    first = evaluated(ran)
    for path in sorted(cache.rglob("*.json")):
        content = bytearray(path.read_bytes())
        digits = [place for place, byte in enumerate(content) if place > 40 and chr(byte).isdigit()]
        content[digits[len(digits) // 2]] ^= 1
        path.write_bytes(content)
    again = evaluated(ran)
    assert ran.drawn == 2 * ["table", "figure", "claim"]
    pd.testing.assert_frame_equal(first[1][0].table, again[1][0].table)
    assert [one.verdict.sentence for one in first[2]] == [one.verdict.sentence for one in again[2]]


def test_a_file_is_made_again_where_it_is_damaged_or_another_cause_holds(ran, cache):
    made = []

    def make():
        made.append(len(made))
        return b"made %d" % made[-1]

    def asked(*causes):
        return evaluate(ran.study, ran.study.results("smoke", store=ran.store)).once("notebook", causes, make)

    assert asked("source") == asked("source") == b"made 0"
    assert asked("another source") == b"made 1" and asked("source", "more") == b"made 2"
    for path in cache.rglob("notebook*"):
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    assert asked("source") == b"made 3"
    for path in cache.rglob("notebook*"):
        path.write_bytes(path.read_bytes()[:20])
    assert asked("source") == asked("source") == b"made 4"
    path = next(ran.store.files())
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000))
    assert asked("source") == b"made 5"


def test_a_plugin_that_changed_and_another_version_of_any_package_are_other_code(tmp_path, monkeypatch):
    code = tmp_path / "made_plugin" / "drawing.py"
    code.parent.mkdir()
    (tmp_path / "made_plugin" / "__init__.py").touch()
    plugin = SimpleNamespace(specification=SimpleNamespace(implementation="made_plugin.drawing:draw"))
    monkeypatch.setattr(kept_evaluations, "registry", lambda: SimpleNamespace(plugins=lambda: [plugin]))
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for text, version in (("a = 1", 1), ("a = 2", 1), ("a = 2", 2), ("a = 2", 2)):
        code.write_text(text)
        os.utime(code, (0, 0))
        for old in tmp_path.glob("*.dist-info"):
            old.rmdir()
        (tmp_path / f"seaborn-{version}.0.dist-info").mkdir()
        digests.append(kept_evaluations.code_digest.__wrapped__())
    assert len(set(digests)) == 3 and digests[2] == digests[3]


def test_the_forest_plot_of_all_claims_is_drawn_once_for_the_same_verdicts(ran, cache, monkeypatch):
    evidence = evidence_of(evaluated(ran)[0])
    drawn = []
    real = forest.forest_of
    monkeypatch.setattr(forest, "forest_of", lambda *given, **options: drawn.append(1) or real(*given, **options))

    def pictures(*given):
        return {suffix: (cache / path).read_bytes() for suffix, path in forest.forest_files(given, cache).items()}

    first = pictures(evidence)
    assert pictures(evidence) == first and len(drawn) == 1
    assert first["pdf"].startswith(b"%PDF") and b"</svg>" in first["svg"]
    claims = (dataclasses.replace(evidence.claims[0], id="less"),)
    assert pictures(dataclasses.replace(evidence, claims=claims)) != first and len(drawn) == 2
    for path in (cache / "evaluations").rglob("svg-*"):
        path.write_bytes(b"damaged")
    assert pictures(evidence) == first and len(drawn) == 3


def test_other_frames_are_never_taken_for_the_stored_ones(ran, cache):
    stored = evaluated(ran)[0].results
    half = {"few": stored["few"].assign(value=0.5)}
    changed = evaluate(ran.study, dataclasses.replace(stored, frames=half))
    assert set(changed.exhibit("Table 1").table["max"]) == {0.5}


def test_nothing_is_kept_of_a_study_that_is_not_installed(ran, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_evaluations, "cache_folder", lambda: tmp_path)
    evaluated(ran)
    assert not list(tmp_path.iterdir())


def test_what_several_exhibits_share_counts_as_read_by_each(ran):
    results = ran.study.results("smoke", store=ran.store)
    made = []

    def share():
        made.append(results.trials("few", "ndcg@5"))
        return made[-1]

    for _ in range(2):
        with results.noting_reads() as outer, results.noting_reads() as cells:
            assert results.once("means", share) is made[0]
        assert list(cells) == list(outer) == [("few", model) for model in MODELS]
    assert len(made) == 1


@pytest.mark.slow
def test_old_evaluations_of_a_study_go(ran, cache):
    path = next(ran.store.files())
    for second in range(kept_evaluations.LATEST + 3):
        os.utime(path, (0, second))
        evaluated(ran)
    assert len(list((cache / "evaluations" / "evaluated").iterdir())) == kept_evaluations.LATEST


def test_results_are_read_and_never_trained(ran, tmp_path):
    with pytest.raises(
        NotRunError, match=r"lacks 4 of 4 trials of the study evaluated .* rankplug reproduce evaluated"
    ):
        ran.study.results("smoke", store=tmp_path)
    assert len(ran.study.missing("smoke", store=tmp_path)) == 4 and not ran.study.missing("smoke", store=ran.store)


def test_groups_are_asked_for_by_their_fields(ran):
    results = ran.study.results("smoke", store=ran.store)
    assert results.groups(kind="all") == results.groups(place="here") == results.groups() == ["few"]
    assert results.groups(kind="none") == [] and results.place("few") == "here"

"""The artefact of an evaluation gives the same object again, and says which code made it."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rankplug.errors import NotRunError, RankplugError, SpecificationError
from rankplug.store import Store
from rankplug.studies import (
    Claim,
    Evaluation,
    Exhibit,
    Margin,
    Observation,
    Runs,
    Study,
    decide,
    evaluate,
    evaluation,
    greater,
    not_run,
    read_artefacts,
    write_decisions,
)

MODELS = {"lambdaMART": {"loss": "lambdarank"}, "XE-NDCG": {"loss": "xe_ndcg"}}
SHARED = {"dataset": "synthetic[queries=20,documents=8]", "backend": "lightgbm", "scorer": "trees[rounds=2]"}


def table(results):
    frame = results["few"].groupby("model", observed=True)["value"].agg(["mean", "max"])
    words = ['<b>, "quoted"\nline', None]
    return frame.assign(note=words, place=pd.Categorical(["one", "two"], ["two", "one"]), count=[1, 2]), None


def figure(results):
    from rankplug.plotting import new_figure

    means = results.trials("few", "ndcg@5").mean()
    picture, axes = new_figure()
    axes.plot([0, 1], means, label="a model")
    return pd.DataFrame({"model": ["1", "2"], "value": [np.nan, 0.1 + 0.2], "whole": [True, False]}), picture


def absent(results):
    raise NotRunError("not part of this profile")


def lead(results):
    return greater({"": results.difference("few", "ndcg@5", "lambdaMART", "XE-NDCG")})


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run a study of two models."""
    study = Study(
        name="evaluated",
        title="A paper",
        citation="Nobody, 2020",
        notebook="made:made.ipynb",
        runs=lambda profile, data: [Runs("few", MODELS, SHARED, trials=2, kind="all", place="here")],
        exhibits=(
            Exhibit("Table 1, tests", "numbers", table, 3, "Words."),
            Exhibit("Figure 1", "a picture", figure),
            Exhibit("Table 2", "nothing", absent),
        ),
        claims=(
            Claim("more", "More $x_i$.", lead, "Figure 1", Margin(0.5, "half"), "Section 2", "main"),
            Claim("none", "None.", lambda _: not_run("why"), source="ours"),
        ),
        observations=(Observation("one", "One.", lambda _: ""), Observation("two", "Two.", lambda _: "seen")),
        published=pd.DataFrame,
    )
    store = Store(tmp_path_factory.mktemp("evaluated"))
    return SimpleNamespace(study=study, store=store, results=study.run("smoke", store=store, progress=False))


@pytest.fixture
def folder(ran, tmp_path):
    return evaluate(ran.study, ran.results).write(tmp_path / "evaluated")


def test_an_artefact_gives_the_same_evaluation_again(ran, folder):
    computed, read = evaluate(ran.study, ran.results), Evaluation.read(folder)
    for first, second in zip(computed.exhibits, read.exhibits, strict=True):
        pd.testing.assert_frame_equal(first.table, second.table, check_exact=True)
        facts = ("name", "title", "caption", "digits", "pictures", "sources")
        assert [getattr(first, fact) for fact in facts] == [getattr(second, fact) for fact in facts]
        assert list(first.points) == list(second.points)
    assert read.exhibit("Figure 1").pictures["pdf"].startswith(b"%PDF") and read.exhibit("Figure 1").points
    assert read.claims[0].judgement.describe() == computed.claims[0].judgement.describe()
    assert [claim.sources for claim in read.claims] == [claim.sources for claim in computed.claims]
    assert len(read.claims[0].sources) == 2 and read.claims[1] == computed.claims[1]
    assert read.claims[0].label == "Section 2: More $x_i$." and read.claims[1].label == "Ours: None."
    assert read.observations == computed.observations and [one.seen for one in read.observations] == ["seen"]
    pd.testing.assert_frame_equal(read.runs, computed.runs)
    assert read.query_pairs == computed.query_pairs and read.counts == computed.counts
    again = Evaluation.read(read.write(folder.parent / "again"))
    pd.testing.assert_frame_equal(again.exhibit("Table 1, tests").table, read.exhibit("Table 1, tests").table)


def test_files_of_an_artefact_are_read_by_other_programs(ran, folder):
    names = ["figure-1.csv", "figure-1.json", "figure-1.pdf", "figure-1.png", "figure-1.svg"]
    assert sorted(path.name for path in (folder / "exhibits").iterdir()) == [
        *names, "table-1-tests.csv", "table-2.csv",
    ]  # fmt: skip
    (claim, other) = json.loads((folder / "verdicts.json").read_text())["claims"]
    difference = ran.results.difference("few", "ndcg@5", "lambdaMART", "XE-NDCG").values
    assert claim["id"] == "more" and claim["role"] == "main" and claim["effect"] == pytest.approx(difference.mean())
    assert claim["interval"][0] < claim["effect"] < claim["interval"][1] and claim["design"] == "2 trials"
    assert claim["runs"] == [["few", "lambdaMART"], ["few", "XE-NDCG"]] and other["verdict"] == "not run"
    runs = pd.read_csv(folder / "runs.csv")
    assert list(runs["exhibits"]) == ["table-1-tests figure-1"] * 2 and list(runs["claims"]) == ["more"] * 2
    assert set(runs["combination"]) == {record["identity"] for record in ran.results.records}
    meta = json.loads((folder / "meta.json").read_text())
    assert (meta["profile"], meta["trials"], meta["note"]) == ("smoke", 4, "")
    assert len(meta["code"]) == 16 and meta["code"] == Evaluation.read(folder).meta.code
    assert meta["groups"] == [{"name": "few", "dataset": SHARED["dataset"], "place": "here", "synthetic": True}]


def test_a_half_written_artefact_is_none(ran, folder, monkeypatch):
    (folder / "exhibits" / "figure-9.svg").touch()
    real = evaluation.write_whole

    def full(path, content):
        if path.name == "verdicts.json":
            raise OSError(28, "No space left on device")
        real(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "write_whole", full)
        with pytest.raises(OSError, match="No space left"):
            evaluate(ran.study, ran.results).write(folder)
    with pytest.raises(RankplugError, match="is no evaluation of a study"):
        Evaluation.read(folder)
    with pytest.raises(RankplugError, match="has no evaluation"):
        read_artefacts(folder.parent, ["evaluated"])
    evaluate(ran.study, ran.results).write(folder)
    assert list(read_artefacts(folder.parent)) == ["evaluated"]
    assert not (folder / "exhibits" / "figure-9.svg").exists()


@pytest.mark.parametrize("name", ["meta.json", "verdicts.json", "runs.csv", "exhibits/table-1-tests.csv"])
@pytest.mark.parametrize("content", ["", "[1", "{}", "a,b\n1"])
def test_a_damaged_artefact_is_named(name, content, folder):
    def read():
        found = Evaluation.read(folder)
        return found.exhibits, found.claims, found.runs

    assert read()
    (folder / name).write_text(content)
    with pytest.raises(RankplugError, match="is no evaluation of a study"):
        read()


def test_verdicts_and_meta_alone_are_an_artefact(folder, tmp_path):
    for name in ("verdicts.json", "meta.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    alone = Evaluation.read(tmp_path)
    assert [claim.id for claim in alone.claims] == ["more", "none"] and alone.runs.empty and not alone.query_pairs


def test_code_that_changes_while_it_evaluates_is_said(ran, tmp_path, monkeypatch):
    helper = tmp_path / "my_helper.py"
    helper.write_text("a = 1")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(evaluation, "code_packages", lambda: ["my_helper"])
    __import__("my_helper")
    shown = evaluate(ran.study, ran.results)
    before = evaluate(ran.study, ran.results).meta
    assert before.code and not before.note
    helper.write_text("a = 2 + 2")
    assert "my_helper.py" in shown.meta.note and not shown.meta.code


def test_decisions_reach_the_notebook_as_a_file(ran, tmp_path):
    results = decide(ran.study, "smoke", store=ran.store, progress=False)
    write_decisions(results, tmp_path / "decisions.json")
    read = ran.study.results("smoke", store=ran.store, decisions=tmp_path / "decisions.json")
    (decided,) = results.decisions.values()
    assert evaluate(ran.study, read).claims[0].judgement.describe() == decided.describe()
    (tmp_path / "decisions.json").write_text("{")
    with pytest.raises(RankplugError, match="has no decisions on claims"):
        ran.study.results("smoke", store=ran.store, decisions=tmp_path / "decisions.json")


def test_what_several_exhibits_share_counts_as_read_by_each(ran):
    results, made = ran.study.results("smoke", store=ran.store), []

    def share():
        made.append(results.trials("few", "ndcg@5"))
        return made[-1]

    for _ in range(2):
        with results.noting_reads() as outer, results.noting_reads() as cells:
            assert results.once("means", share) is made[0]
        assert list(cells) == list(outer) == [("few", model) for model in MODELS]
    assert len(made) == 1


def test_results_are_read_and_never_trained(ran, tmp_path):
    with pytest.raises(
        NotRunError, match=r"lacks 4 of 4 trials of the study evaluated .* rankplug reproduce evaluated"
    ):
        ran.study.results("smoke", store=tmp_path)
    assert len(ran.study.missing("smoke", store=tmp_path)) == 4 and not ran.study.missing("smoke", store=ran.store)


def test_a_study_without_names_for_its_files_is_refused(ran):
    same = (Exhibit("Table 1", "", table), Exhibit("table-1", "", table))
    for wrong in ({"name": "../made"}, {"notebook": "made.ipynb"}, {"exhibits": same}):
        with pytest.raises(SpecificationError):
            dataclasses.replace(ran.study, **wrong)

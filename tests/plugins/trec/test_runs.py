"""Runs and judgements of TREC: other tools read the same numbers from them."""

from __future__ import annotations

import json

import ir_measures
import numpy as np
import pytest
import pytrec_eval
import yaml
from rankplug_trec import evaluate_run, read_run, write_qrels, write_run
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.errors import DataError

OURS = {
    "ndcg@10[gain=linear]": ("ndcg_cut_10", ir_measures.nDCG @ 10),
    "ndcg[gain=linear]": ("ndcg", ir_measures.nDCG),
    "map": ("map", ir_measures.AP),
    "map@5[threshold=2]": (None, ir_measures.AP(rel=2) @ 5),
    "mrr": ("recip_rank", ir_measures.RR),
    "precision@5": ("P_5", ir_measures.P @ 5),
    "recall@5": ("recall_5", ir_measures.R @ 5),
    "success@1": ("success_1", ir_measures.Success @ 1),
}


@pytest.fixture(scope="module")
def lists() -> rp.Lists:
    generator = np.random.default_rng(5)
    lengths = generator.integers(1, 30, 40)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    labels = generator.choice(4, size=starts[-1], p=[0.6, 0.2, 0.1, 0.1])
    return rp.Lists(generator.normal(size=(starts[-1], 2)), labels, starts, [f"q {query}" for query in range(40)])


def scores_of(lists: rp.Lists, kind: str) -> np.ndarray:
    scores = np.random.default_rng(6).normal(size=lists.documents)
    if kind == "tied":
        return np.round(scores)
    # What double precision can tell and single precision cannot.
    return scores * 1e-12 + 1.0 if kind == "close" else scores


@pytest.mark.parametrize("kind", ["plain", "tied", "close"])
def test_other_tools_read_our_numbers_from_an_exported_run(tmp_path, lists, kind) -> None:
    scores = scores_of(lists, kind)
    write_run(tmp_path / "run.txt", lists, scores)
    write_qrels(tmp_path / "qrels.txt", lists)
    with open(tmp_path / "run.txt") as run, open(tmp_path / "qrels.txt") as qrels:
        run, qrels = pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(qrels)
    found = pytrec_eval.RelevanceEvaluator(qrels, {name for name, _ in OURS.values() if name} | {
        "ndcg_cut", "P", "recall", "success"
    }).evaluate(run)  # fmt: skip
    for ours, (name, measure) in OURS.items():
        expected = rp.evaluate(
            scores, lists, rp.metric(ours.replace("]", ",empty=0]") if "[" in ours else ours + "[empty=0]")
        )
        again = evaluate_run(tmp_path / "run.txt", tmp_path / "qrels.txt", ours).fillna(0.0)
        assert again.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)
        theirs = {one.query_id: one.value for one in ir_measures.iter_calc([measure], qrels, run)}
        assert [theirs.get(query, 0.0) for query in again.index] == pytest.approx(expected.to_numpy(), abs=1e-6)
        if name:
            assert [found[query][name] for query in again.index] == pytest.approx(expected.to_numpy(), abs=1e-6)


def test_runs_that_lack_judged_documents_or_have_others_are_measured_as_by_trec_eval() -> None:
    generator = np.random.default_rng(8)
    qrels = {f"q{q}": {f"d{d}": int(generator.integers(-1, 4)) for d in range(15)} for q in range(30)}
    run = {
        f"q{q}": {
            f"d{d}": float(generator.integers(0, 6)) for d in generator.choice(40, generator.integers(1, 25), False)
        }
        for q in range(29)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut", "map", "recip_rank", "P", "recall", "success"})
    found = evaluator.evaluate(run)
    for ours, (name, _) in OURS.items():
        if name is None or name == "ndcg":
            continue
        values = evaluate_run(run, qrels, ours)
        assert values["q29"] == 0.0, "a query that the run lacks has retrieved nothing"
        expected = [found[query][name] for query in run]
        assert values[list(run)].fillna(0.0).to_numpy() == pytest.approx(expected, abs=1e-9), ours


def test_names_are_unique_and_have_no_blanks(tmp_path) -> None:
    lists = rp.Lists(np.ones((3, 1)), [0, 1, 0], [0, 2, 3], ["a b", "c"], ["x", "x", "y"])
    write_run(tmp_path / "run.txt", lists, [1.0, 2.0, 3.0], depth=1, tag="my run")
    assert (tmp_path / "run.txt").read_text() == "a_b Q0 a_b-2 1 2 my_run\nc Q0 c-1 1 3 my_run\n"
    own = rp.Lists(np.ones((3, 1)), [0, 1, 0], [0, 2, 3], ["a", "c"], ["x 1", "x 2", "x 1"])
    write_qrels(tmp_path / "qrels.txt", own)
    assert (tmp_path / "qrels.txt").read_text() == "a 0 x_1 0\na 0 x_2 1\nc 0 x_1 0\n"


def ask(*words: str):
    found = CliRunner().invoke(app, list(words))
    assert found.exit_code == 0, found.output
    return found.output


DATA = "synthetic[queries=20,documents=6]"


def test_commands_write_the_run_of_a_model_and_the_judgements_of_its_data(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    trees = "trees[rounds=3,leaves=4,min_data=1]"
    ask("train", DATA, "--loss", "mse", "--scorer", trees, "--out", "model.txt")
    ask("trec", "run", "model.txt", "-o", "run.txt")
    ask("trec", "qrels", DATA, "-o", "qrels.txt")
    ask("trec", "qrels", "model.txt", "-o", "of model.txt")
    assert (tmp_path / "of model.txt").read_bytes() == (tmp_path / "qrels.txt").read_bytes()
    (told,) = json.loads(ask("evaluate", "model.txt", "--metric", "ndcg@3", "--json"))
    assert evaluate_run("run.txt", "qrels.txt", "ndcg@3").mean() == pytest.approx(told["mean"], abs=1e-12)
    comments = [line[2:] for line in (tmp_path / "run.txt").read_text().splitlines() if line.startswith("# ")]
    metadata = yaml.safe_load("\n".join(comments[1:-1]))
    assert metadata["method"]["retrieval"][0]["loss"] == "mse" and metadata["data"]["training data"] == [{"name": DATA}]
    ask("trec", "run", "model.txt", DATA, "--part", "valid", "--no-header", "-o", "plain.txt", "--depth", "2")
    assert not (tmp_path / "plain.txt").read_text().startswith("#") and len(read_run("plain.txt")) == 8


def test_a_run_and_its_judgements_are_written_from_the_scores_that_a_store_has_kept(tmp_path) -> None:
    model = {"backend": "lightgbm", "scorer": "trees[rounds=3,leaves=4,min_data=1]", "loss": "mse"}
    rp.sweep({**model, "metrics": ["mrr"]}, data=DATA, trials=2, store=tmp_path, keep_scores=True, progress=False)
    table = rp.results(store=tmp_path, where="trial = 1")
    identity = f"{table['combination'].item()}-f1-t1"
    ask("trec", "run", identity, "--store", str(tmp_path), "-o", str(tmp_path / "run.txt"))
    ask("trec", "qrels", identity, "--store", str(tmp_path), "-o", str(tmp_path / "qrels.txt"))
    values = evaluate_run(tmp_path / "run.txt", tmp_path / "qrels.txt", "mrr")
    assert values.mean() == pytest.approx(table["value"].item(), abs=1e-12)


@pytest.mark.parametrize("queries", [["#1", "b"], ["a b", "a_b"], ["a", " "]])
def test_names_that_readers_would_mistake_are_refused(tmp_path, queries) -> None:
    lists = rp.Lists(np.ones((2, 1)), [1, 2], [0, 1, 2], queries)
    with pytest.raises(DataError, match=r"begins with #|rename all but one|has an empty name"):
        write_qrels(tmp_path / "qrels.txt", lists)
    with pytest.raises(DataError):
        write_run(tmp_path / "run.txt", lists, [1.0, 2.0])
    assert not list(tmp_path.iterdir())


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path) -> None:
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 2.0 t\n", encoding="utf-8-sig")
    assert read_run(tmp_path / "run.txt")["query"].tolist() == ["q1"]

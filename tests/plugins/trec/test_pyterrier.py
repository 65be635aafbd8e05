"""A model re-ranks inside PyTerrier's pipelines, which needs no Java."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rankplug_trec import evaluate_run, pyterrier

import rankplug as rp

pt = pytest.importorskip("pyterrier")


@pytest.fixture(scope="module")
def made():
    split = rp.load("synthetic[queries=20,documents=6]")
    # Whose scores are not tied, as trees' are.
    model = rp.fit("lbfgs[iterations=5]", loss="cross_entropy", train=split.train)
    test = split.test
    frame = pd.DataFrame(
        {
            "qid": [f"q{query}" for query in test.query_of_document],
            "query": "words",
            "docno": [f"d{place}" for place in range(test.documents)],
            "score": 0.0,
            "rank": 0,
            "features": list(test.features),
        }
    )
    return model, test, frame


def test_documents_are_ranked_by_the_models_scores_whatever_their_order(made) -> None:
    model, test, frame = made
    shuffled = frame.sample(frac=1, random_state=1)
    found = pyterrier(model).transform(shuffled).sort_values("docno", key=lambda names: names.str[1:].astype(int))
    np.testing.assert_array_equal(found["score"], model.predict(test))
    for query in range(len(test)):
        part = found[found["qid"] == f"q{query}"].sort_values("rank")
        assert (np.diff(part["score"]) <= 0).all() and part["rank"].tolist() == list(range(len(part)))


def test_it_is_a_step_of_a_pipeline_and_its_results_are_measured_as_a_run(made) -> None:
    model, test, frame = made
    retrieved = pt.Transformer.from_df(frame)
    topics = frame[["qid", "query"]].drop_duplicates()
    found = (retrieved >> pyterrier(model) % 3)(topics)
    assert (found.groupby("qid").size() <= 3).all() and found["rank"].max() == 2
    qrels = pd.DataFrame({"qid": frame["qid"], "docno": frame["docno"], "label": test.labels})
    ours = rp.evaluate(model, test, "ndcg@3").to_numpy()
    assert evaluate_run(found, qrels, "ndcg@3").to_numpy() == pytest.approx(ours, abs=1e-12, nan_ok=True)

"""The stored results of a study's runs as frames."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from rankplug.store import Result, Store
from rankplug.studies import Runs
from rankplug.studies.runs import StoredFrames


def test_a_group_s_frame_takes_less_than_half_the_memory_of_its_rows_and_says_the_same(
    store: Store, made_result: Callable[..., Result]
) -> None:
    models = {"plain": {"loss": "mse"}, "noisy": {"loss": "lambdarank", "sampler": "gumbel"}}
    shared = {"dataset": "synthetic", "backend": "lightgbm", "metrics": ("ndcg@5", "mrr")}
    runs = Runs("group", models, shared, trials=3)
    for model in models:
        for trial in runs.trials_of(model):
            store.write(made_result(trial))
    parts = [store.frame(runs.trials_of(model)).assign(model=model) for model in models]
    rows = pd.concat(parts, ignore_index=True)
    frame = StoredFrames({"group": runs}, store)["group"]
    assert frame.memory_usage(deep=True).sum() < rows.memory_usage(deep=True).sum() / 2
    assert list(frame["model"].cat.categories) == list(models)
    pd.testing.assert_frame_equal(frame.astype(object), rows.astype(object))

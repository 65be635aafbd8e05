"""A forged store is answered by a sentence that names the file, and is never merged."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.store import Store, export, failed_result, merge, query
from rankplug.store.result_files import KEY, StoreError
from rankplug.store.trials import Trial

Make = Callable[..., Any]
GONE = object()
DEEP = json.loads("[" * 400 + "]" * 400)
FORGERIES = {
    "combination": [GONE, None, [], 7, "mse", {}, {"dataset": "x"}, {"dataset": None}],
    "combination.loss": [GONE, None, ["mse"], {"name": "mse"}, "\ud800"],
    "combination.metrics": [None, "ndcg@5", [None], {"a": 1}],
    "combination.seed": [-1, 1 << 70, "0", 0.5, None],
    "identity": ["../../outside", "0" * 15, None, 7, "0123456789abcdef\n"],
    "fold": [None, "1", -1, 1 << 70, [1]],
    "trial": [None, "1", -1, 1 << 70],
    "record": [None, [], "x"],
    "record.started": ["now", -1e300, 1e300, [], 8e12],
    "record.machine": [{"a": 1}, ["m"], 7, "\udfff"],
    "record.fit_seconds": ["<b>", 1e300, {}],
    "plugins": [None, [], {"loss": None}, {"loss": [None]}, {"loss": [{"name": "mse"}]}],
    "versions": [None, [], {"rankplug": None}],
}
CASES = [(place, value) for place, values in FORGERIES.items() for value in values]
QUESTIONS: tuple[Callable[[Store], Any], ...] = (
    rp.results,
    lambda store: query("select * from trials", store),
    Store.frame,
    lambda store: export(store, store.folder.parent / "all.zip"),
)


def forged(about: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    *above, last = place.split(".")
    inside = about
    for name in above:
        inside = inside[name]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    return about


def forge(path: Path, place: str, value: Any) -> None:
    table = parquet.read_table(path)
    about = forged(json.loads(table.schema.metadata[KEY]), place, value)
    parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), path)


@pytest.mark.parametrize(
    ("place", "value"),
    CASES,
    ids=[f"{place}-{'absent' if value is GONE else repr(value)[:30]}" for place, value in CASES],
)
def test_a_forged_description_is_a_sentence_to_every_question_and_is_not_merged(
    store: Store, tmp_path: Path, combination: Make, made_result: Make, place: str, value: Any
) -> None:
    path = store.write(made_result(Trial(combination())))
    forge(path, place, value)
    for ask in QUESTIONS:
        with pytest.raises(StoreError, match=f"{path.name} is damaged"):
            ask(store)
    with pytest.raises(StoreError, match=f"{path.name} is damaged"):
        merge(Store(tmp_path / "here"), [store.folder])
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(("place", "value"), [*CASES, ("failure", None), ("failure", ["x"])])
def test_a_forged_failure_is_too(store: Store, tmp_path: Path, combination: Make, place: str, value: Any) -> None:
    path = store.write(failed_result(Trial(combination()), "ValueError: no"))
    path.write_text(json.dumps(forged(json.loads(path.read_text()), place, value)))
    for ask in (rp.results, lambda store: merge(Store(tmp_path / "here"), [store.folder])):
        with pytest.raises(StoreError, match=f"{path.name} is damaged"):
            ask(store)


@pytest.mark.parametrize("suffix", [".parquet", ".failed.json"])
def test_a_pipe_or_folder_in_place_of_a_file_is_told_and_does_not_hang(
    store: Store, combination: Make, suffix: str
) -> None:
    trial = Trial(combination())
    path = store.path(trial).with_suffix(suffix)
    path.parent.mkdir(parents=True)
    for make in (os.mkfifo, os.mkdir):
        make(path)
        for ask in (rp.results, lambda store: merge(Store(store.folder.parent / "here"), [store.folder])):
            with pytest.raises(StoreError, match=f"{path.name} is no regular file"):
                ask(store)
        path.unlink() if make is os.mkfifo else path.rmdir()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["origins/0.json", ".index/1-0.descriptions", "scores/0/0.parquet"])
def test_a_pipe_beside_the_results_is_told_and_does_not_hang(
    store: Store, tmp_path: Path, fill: Make, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("rankplug.store.index.result_index.WORTH_INDEXING", 1)
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    path = store.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    ask = functools.partial(query, "select origin from trials", store)
    if path.suffix == ".parquet":
        ask = functools.partial(merge, Store(tmp_path / "here"), [store.folder])
    with pytest.raises(StoreError, match=f"{path.name} is no regular file; move it out of the folder"):
        ask()


@pytest.mark.parametrize("apart", [31, pytest.param(3, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_told_wherever_it_is(store: Store, fill: Make, apart: int) -> None:
    """Without checksums, a compressed page whose bits are flipped may be another page."""
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    path = store.paths()[0]
    whole, numbers = path.read_bytes(), ["measure", "part", "metric", "iteration", "query", "value"]
    expected = store.frame()[numbers]
    for place in range(4, len(whole) - 8, apart):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            found = store.frame()[numbers]
        except RankplugError:
            continue
        pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_a_result_under_another_name_is_not_merged(store: Store, tmp_path: Path, fill: Make) -> None:
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    path = store.paths()[0]
    path.rename(path.with_name(path.name.replace("-t0", "-t7")))
    with pytest.raises(StoreError, match="by its description; move it out of the folder"):
        merge(Store(tmp_path / "here"), [store.folder])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=5,
) | st.just(DEEP)


EXAMPLES = 60 * int(os.environ.get("RANKPLUG_FUZZ", "1"))
ANY_PLACE = st.sampled_from([*FORGERIES, "record.queries", "data_fingerprint", "format"])


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=ANY_PLACE, value=JSON)
def test_whatever_is_forged_the_answer_is_a_sentence_or_the_same_numbers(
    tmp_path_factory: pytest.TempPathFactory, combination: Make, made_result: Make, place: str, value: Any
) -> None:
    store = Store(tmp_path_factory.mktemp("forged") / "results")
    path = store.write(made_result(Trial(combination())))
    numbers = ["measure", "part", "metric", "iteration", "query", "value"]
    expected = store.frame()[numbers]
    forge(path, place, value)
    here = Store(store.folder.parent / "here")
    try:
        merge(here, [store.folder])
    except RankplugError:
        return
    assert len(rp.results(here)) == len(query("select * from trials", here)) * 2 == 2
    pd.testing.assert_frame_equal(here.frame()[numbers], expected, check_exact=True)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=ANY_PLACE | st.just("failure"), value=JSON)
def test_whatever_a_forged_failure_says_it_is_a_sentence_or_one_failure(
    tmp_path_factory: pytest.TempPathFactory, combination: Make, place: str, value: Any
) -> None:
    store = Store(tmp_path_factory.mktemp("forged") / "results")
    path = store.write(failed_result(Trial(combination()), "ValueError: no"))
    path.write_text(json.dumps(forged(json.loads(path.read_text()), place, value)))
    here = Store(store.folder.parent / "here")
    try:
        merge(here, [store.folder])
    except RankplugError:
        return
    (failure,) = here.failures()
    assert isinstance(failure["failure"], str) and len(query("select failure from failures", here)) == 1
    assert not len(rp.results(here))

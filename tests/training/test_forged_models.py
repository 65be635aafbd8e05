"""Whatever a model's files say, loading them gives a sentence or the same numbers, and never ends this process."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankplug as rp
from rankplug.cli import main
from rankplug.errors import FitError, ModelFileError, RankplugError
from rankplug.training import TreeEnsemble, tree_of
from rankplug.training.models import mark_readable, readable_mark, sidecar_of

FEATURES = np.random.default_rng(0).random((100, 3), np.float32)
LISTS = rp.Lists(FEATURES, np.arange(100) % 3, np.arange(0, 101, 10))
KINDS = {
    "lightgbm": ("lightgbm", "trees[rounds=3,leaves=4,min_data=1]", "model.txt"),
    "xgboost": ("xgboost", "trees[rounds=3,leaves=4]", "model.json"),
    "linear": ("lbfgs[iterations=2]", "linear", "model.json"),
}
MODELS: dict[str, rp.Model] = {}


@pytest.fixture(params=KINDS)
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return make(request.param, tmp_path)


def make(kind: str, folder: Path) -> Path:
    backend, scorer, name = KINDS[kind]
    if kind not in MODELS:
        MODELS[kind] = rp.fit(backend, scorer=scorer, loss="mse", train=LISTS, valid=LISTS, progress=False)
    return MODELS[kind].save(folder / name)


def forge_content(path: Path, content: bytes) -> None:
    """Replace a model's file, and its digest, as who forges it would do."""
    path.write_bytes(content)
    beside = sidecar_of(path)
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    beside.write_text(json.dumps(json.loads(beside.read_bytes()) | {"digest": digest}))


def forge_sidecar(path: Path, place: str, value: Any) -> None:
    """Put a value at a place of what lies beside a model; ``...`` takes what is there away."""
    sidecar = json.loads(sidecar_of(path).read_bytes())
    *outer, last = place.split(".")
    here = sidecar
    for part in outer:
        here = here[part]
    if value is ...:
        here.pop(last, None)
    else:
        here[last] = copy.deepcopy(value)
    sidecar_of(path).write_text(json.dumps(sidecar))


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


PLACES = ("format", "backend", "digest", "record", "record.combination", "record.combination.backend", "record.data",
          "record.data.dataset", "record.data.fold", "record.data.transforms", "record.features", "record.versions",
          "record.curve", "record.curve.iterations", "record.curve.columns", "record.best_iteration",
          "record.stopped", "record.seconds", "record.peak_memory")  # fmt: skip
VALUES = (..., None, [], ["x"], {}, {"x": None}, -1, 10**30, 1e300, "\ud800", True)


@pytest.mark.parametrize("place", PLACES)
def test_a_forged_description_is_a_sentence_or_the_same_numbers(tmp_path: Path, place: str) -> None:
    for value in VALUES:
        path = make("linear", tmp_path)
        expected = MODELS["linear"].predict(LISTS)
        forge_sidecar(path, place, value)
        try:
            found = rp.load_model(path)
        except ModelFileError as error:
            said = str(error)
            assert sidecar_of(path).name in said and len(said) < 1000
        else:
            assert np.array_equal(found.predict(LISTS), expected)
            assert repr(found) and found.curve.frame() is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()), max_size=9),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=5,
)
EXAMPLES = 40 * int(os.environ.get("RANKPLUG_FUZZ", "1"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.sampled_from(PLACES), value=JSON)
def test_whatever_lies_beside_a_model_is_a_sentence_or_the_same_numbers(
    tmp_path_factory: pytest.TempPathFactory, place: str, value: Any
) -> None:
    path = make("linear", tmp_path_factory.mktemp("forged"))
    forge_sidecar(path, place, value)
    try:
        found = rp.load_model(path)
    except ModelFileError as error:
        said = str(error)
        assert path.name in said and len(said) < 1000
        return
    assert np.array_equal(found.predict(LISTS), MODELS["linear"].predict(LISTS))
    assert repr(found) and found.curve.frame() is not None


@pytest.mark.parametrize("text", [deep(100_000), '{"format":' + deep(50_000) + "}", "null", "[1]", "NaN", '"x"'])
def test_deep_or_other_json_is_a_sentence(saved: Path, text: str) -> None:
    sidecar_of(saved).write_text(text)
    with pytest.raises(ModelFileError, match="damaged or not of rankplug"):
        rp.load_model(saved)


@pytest.mark.timeout(60)
def test_pipes_in_place_of_the_files_are_refused(saved: Path) -> None:
    for path in (sidecar_of(saved), saved):
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(ModelFileError, match=r"is missing beside|there is no model file"):
            rp.load_model(saved)


def test_a_model_without_data_is_told_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make("linear", tmp_path)
    forge_sidecar(path, "record.data", None)
    monkeypatch.setattr("sys.argv", ["rankplug", "evaluate", str(path)])
    with pytest.raises(SystemExit):
        main()
    assert "is damaged or not of rankplug (its record data: " in capsys.readouterr().err


LIGHTGBM = {
    "a child that is not there": (rb"left_child=\S+", b"left_child=99999999"),
    "a tree without an end": (rb"left_child=\S+ \S+ \S+", b"left_child=0 0 0"),
    "a feature that is not there": (rb"split_feature=\S+", b"split_feature=88888888"),
    "leaves by the billion": (rb"num_leaves=\d+", b"num_leaves=2147483647"),
    "no leaves": (rb"num_leaves=\d+", b"num_leaves=0"),
    "leaves below zero": (rb"num_leaves=\d+", b"num_leaves=-5"),
    "no values": (rb"leaf_value=[^\n]*", b"leaf_value="),
    "sizes that lie": (rb"tree_sizes=[^\n]*", b"tree_sizes=999999999 1 1"),
    "classes by the million": (rb"num_class=1", b"num_class=1000000"),
    "another number of features": (rb"max_feature_idx=\d+", b"max_feature_idx=400000000"),
    "no tree": (rb"Tree=0", b"Trie=0"),
}
XGBOOST = {
    "a child that is not there": (rb'"left_children":\[[^\]]*\]', b'"left_children":[99999999,-1,-1]'),
    "a tree without an end": (rb'"left_children":\[[^\]]*\]', b'"left_children":[0,0,0]'),
    "a feature that is not there": (rb'"split_indices":\[[^\]]*\]', b'"split_indices":[77777777]'),
    "nodes by the billion": (rb'"num_nodes":"\d+"', b'"num_nodes":"2147483647"'),
    "nodes below zero": (rb'"num_nodes":"\d+"', b'"num_nodes":"-1"'),
    "trees that are missing": (rb'"num_trees":"\d+"', b'"num_trees":"1000000"'),
    "another objective": (rb'"name":"[a-z]+:[a-z]+"', b'"name":"no:such"'),
    "another booster": (rb'"name":"gbtree"', b'"name":"gbforest"'),
    "null": (rb'"trees":\[', b'"trees":null,"x":['),
    "deep": (rb'"attributes":\{', b'"attributes":' + deep(200_000).encode() + b',"y":{'),
}
SOON = "a child that is not there"
FORGED = [
    pytest.param(kind, name, marks=[] if name == SOON else pytest.mark.slow)
    for kind, ways in (("lightgbm", LIGHTGBM), ("xgboost", XGBOOST))
    for name in ways
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("kind", "how"), FORGED)
def test_a_forged_model_of_an_engine_that_trusts_is_a_sentence(tmp_path: Path, kind: str, how: str) -> None:
    path = make(kind, tmp_path)
    pattern, instead = (LIGHTGBM if kind == "lightgbm" else XGBOOST)[how]
    whole = path.read_bytes()
    content = re.sub(pattern, instead.replace(b"\\", b"\\\\"), whole)
    assert content != whole
    forge_content(path, content)
    try:
        found = rp.load_model(path).predict(LISTS)
    except RankplugError as error:
        said = str(error)
        assert str(path) in said and "\n" not in said and len(said) < 600, said
        assert not re.search(r"Stack trace|\[bt\]|/work", said)
    else:
        assert found.shape == (100,)


def grown(split: int, left: str, right: str) -> bytes:
    """Return the part of a LightGBM model that says a tree of three leaves, which no document leaves to the left."""
    return (
        f"num_leaves=3\nnum_cat=0\nsplit_feature=0 {split}\nsplit_gain=1 1\nthreshold=1e+300 0\ndecision_type=2 2\n"
        f"left_child={left}\nright_child={right}\nleaf_value=0.1 0.2 0.3\nleaf_weight=1 1 1\nleaf_count=5 5 5\n"
        "internal_value=0 0\ninternal_weight=0 0\ninternal_count=10 10\nis_linear=0\nshrinkage=1\n"
    ).encode()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("tree", "said", "tried"),
    [
        (grown(0, "-1 -2", "0 -3"), "leads to none, or back to one before it", True),
        (grown(0, "-1 -2", "7 -3"), "leads to none, or back to one before it", False),
        (grown(88_888_888, "-1 -2", "1 -3"), "looks at another feature than the 3 that there are", False),
    ],
    ids=["back to the root", "to no node", "at no feature"],
)
def test_trees_that_no_trial_walks_to_the_end_are_not_compiled_or_exported(
    tmp_path: Path, tree: bytes, said: str, tried: bool
) -> None:
    """Engines never come to the right side of such a tree; what reads all of it would hang, or read foreign memory.

    One of them is tried in a process of its own; the others count as tried, which spares them the start of one.
    """
    path = make("lightgbm", tmp_path)
    content, count = re.subn(rb"(?s)num_leaves=.*?shrinkage=\S+\n", tree, path.read_bytes(), count=1)
    assert count == 1
    content = re.sub(rb"tree_sizes=[^\n]*\n", b"", content)
    forge_content(path, content)
    if not tried:
        mark_readable(content, "lightgbm", MODELS["lightgbm"].record)
    model = rp.load_model(path)
    assert model.predict(LISTS).shape == (100,)
    for use in (model.compile, *(functools.partial(model.export, tmp_path / f"m.{one}") for one in ("json", "onnx"))):
        with pytest.raises(FitError, match=said):
            use()


def test_trees_deeper_than_a_program_may_recurse_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = 5000
    places = np.arange(2 * levels + 1)
    splits = places % 2 == 0
    splits[-1] = False
    tree = tree_of(
        np.where(splits, 0, -1), np.full(places.size, 1e9), splits, np.where(splits, places + 2, 0),
        np.where(splits, places + 1, 0), np.where(splits, 0.0, places),
    )  # fmt: skip
    ensemble = TreeEnsemble.of_trees([tree], 3, ("a", "b", "c"))
    model = rp.load_model(make("lightgbm", tmp_path))
    monkeypatch.setattr(model, "tree_ensemble", lambda: ensemble)
    for ending in ("json", "xml"):
        with pytest.raises(FitError, match=r"has trees too deep for .*; export it as ONNX"):
            model.export(tmp_path / f"deep.{ending}")
    assert model.compile().predict(FEATURES[:2]).tolist() == [2.0 * levels] * 2


def test_a_model_is_tried_once_and_one_that_was_saved_here_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path / "cache"))
    path = make("lightgbm", tmp_path)
    before = rp.training.model_files.run_watched  # type: ignore[attr-defined]

    def run(*words: Any, **options: Any) -> Any:
        tried.append(words)
        return before(*words, **options)

    monkeypatch.setattr("rankplug.training.model_files.run_watched", run)
    expected = rp.load_model(path).predict(LISTS)
    assert not tried
    mark = readable_mark(path.read_bytes(), "lightgbm", MODELS["lightgbm"].record)
    mark.unlink()
    for _ in range(2):
        assert np.array_equal(rp.load_model(path).predict(LISTS), expected)
    assert len(tried) == 1 and mark.exists()


@pytest.mark.slow
@pytest.mark.timeout(3000)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    kind=st.sampled_from(["lightgbm", "xgboost"]),
    cuts=st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from(["9", "-1", "1e308", "[]", "", "\0", "nan", ",,"])), min_size=1
    ),
)
def test_numbers_of_a_model_replaced_at_random(
    tmp_path_factory: pytest.TempPathFactory, kind: str, cuts: list[tuple[float, str]]
) -> None:
    path = make(kind, tmp_path_factory.mktemp("forged"))
    content = path.read_bytes().decode()
    for share, instead in cuts:
        numbers = list(re.finditer(r"-?\d[\d.e+-]*", content))
        if numbers:
            place = numbers[int(share * (len(numbers) - 1))]
            content = content[: place.start()] + instead + content[place.end() :]
    forge_content(path, content.encode())
    try:
        assert rp.load_model(path).predict(LISTS).shape == (100,)
    except RankplugError as error:
        said = str(error)
        assert len(said) < 2000

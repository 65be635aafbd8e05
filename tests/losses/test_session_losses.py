"""A function marked ``@rp.loss`` is a loss of this session: swept at once, by workers too, named by its source."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import rankplug as rp
from rankplug.compiled import building_block
from rankplug.compiled.identity import digest_of
from rankplug.errors import BrokenPluginError, ParameterError, PluginConflictError
from rankplug.losses import session_losses
from rankplug.losses.session_losses import SessionPluginWarning, packed, unpack
from rankplug.registry import registry
from rankplug.store import Store

FACTOR = 1.0
TINY = {"backend": "lightgbm", "scorer": "trees[rounds=3,leaves=4]", "metrics": ["ndcg@5"]}


def squares(scores, labels, gradient, scale: float = 1.0):
    """Compute squared gaps between scores and labels."""
    value = 0.0
    for i in range(scores.size):
        gap = FACTOR * (scores[i] - labels[i])
        gradient[i] = 2 * scale * FACTOR * gap
        value += scale * gap * gap
    return value


def squares_in_torch(scores, labels, mask, scale: float = 1.0):
    """Compute the same in PyTorch."""
    return (scale * (FACTOR * (scores - labels)).square() * mask).sum(1)


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Forget a test's losses, so that no other sees them."""
    monkeypatch.setattr(session_losses, "_offered", {})
    registry.cache_clear()
    yield
    registry.cache_clear()


@pytest.fixture
def quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SessionPluginWarning)
        yield


def version(name: str) -> str:
    return registry().find("loss", name).version


@pytest.mark.parametrize("function", [squares, squares_in_torch])
def test_a_function_becomes_a_loss_with_its_arguments_as_parameters(quietly, function):
    loss = rp.loss(function)
    assert isinstance(loss, rp.Loss) and str(loss) == function.__name__
    found = rp.loss(f"{function.__name__}[scale=3]").evaluate([0.5, 2.0], [1, 0], [0, 2])
    np.testing.assert_allclose(found.value, [3 * (0.25 + 4.0)])
    np.testing.assert_allclose(found.gradient, [3 * 2 * -0.5, 3 * 2 * 2.0])
    with pytest.raises(ParameterError, match="scale='much' is not possible"):
        rp.loss(f"{function.__name__}[scale=much]")


def test_what_is_no_loss_or_installed_is_refused():
    installed = rp.loss("lambdarank").specification

    def wrong(scores, labels):
        return 0.0

    def lambdarank(scores, labels, gradient):
        return 0.0

    with pytest.raises(BrokenPluginError, match=r"wrong\(scores, labels\) is no loss"):
        rp.loss(wrong)
    with pytest.raises(PluginConflictError, match="already offered by rankplug; choose another name"):
        rp.loss(lambdarank)
    assert rp.loss("lambdarank").specification == installed


def test_one_warning_says_that_it_has_no_version():
    with pytest.warns(SessionPluginWarning, match="lives in this session only and has no version") as caught:
        [rp.loss(squares) for _ in range(2)]
    assert len(caught) == 1 and caught[0].filename == __file__


def source(body: str) -> str:
    """Return a digest of a loss whose cell has some text."""
    space: dict = {"building_block": building_block, "FACTOR": 1.0}
    exec(compile(body, "<cell>", "exec"), space)
    return digest_of(space["mine"])


def test_the_digest_follows_the_code_its_helpers_and_its_constants():
    body = (
        "@building_block\ndef helper(x):\n    return x * {factor}\n"
        "LIMIT = {limit}\n"
        "def mine(scores, gradient, scale={default}):\n"
        "    inner = lambda x: LIMIT * helper(x)\n"
        "    return scale * inner(scores[0]) {end}\n"
    )
    plain = {"factor": 1, "limit": 2, "default": 3, "end": ""}
    first = source(body.format(**plain))
    assert source(body.format(**plain)) == first
    for change in ({"factor": 9}, {"limit": 9}, {"default": 9}, {"end": "+ 1"}):
        assert source(body.format(**{**plain, **change})) != first, change


def test_the_same_code_declared_otherwise_is_another_version(quietly):
    rp.loss(squares)
    first = version("squares")
    rp.loss(convex=True)(squares)
    assert version("squares") != first


def test_results_are_named_by_the_source_and_hold_it_as_text(quietly, tmp_path):
    rp.loss(squares)
    store = Store(tmp_path)
    outcome = rp.sweep({"loss": "squares"}, data="synthetic[queries=30]", store=store, progress=False, **TINY)
    (trial,) = outcome.plan.trials
    plugin = store.about(trial)["plugins"]["loss"][0]
    assert plugin["distribution"] == "this session" and plugin["version"] == version("squares")
    assert "gap = FACTOR * (scores[i] - labels[i])" in plugin["source"] and "FACTOR = 1.0" in plugin["source"]
    assert json.loads(json.dumps(plugin)) == plugin
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".pkl", ".pickle")]


@pytest.mark.parametrize(
    ("written", "ways"),
    [
        ([squares], {"jobs": 2}),
        pytest.param([squares, squares_in_torch], {"jobs": 2}, marks=pytest.mark.slow),
        pytest.param([squares, squares_in_torch], {"cluster": "local", "jobs": 1}, marks=pytest.mark.slow),
    ],
)
def test_workers_train_with_losses_of_the_session(quietly, tmp_path, written, ways):
    grid = {"loss": [*map(rp.loss, written), "squares[scale=0.5]"]}
    outcome = rp.sweep(grid, data="synthetic[queries=30]", store=Store(tmp_path), progress=False, **ways, **TINY)
    assert outcome.failures == [] and len(outcome.plan.waiting) == len(written) + 1
    alone = rp.sweep(grid, data="synthetic[queries=30]", store=Store(tmp_path / "here"), progress=False, **TINY)
    columns = ["loss", "measure", "metric", "query", "iteration", "value"]
    there, here = (one.frame()[columns].sort_values(columns).reset_index(drop=True) for one in (outcome, alone))
    assert there.equals(here)


def test_what_is_packed_is_offered_again_under_the_same_version_in_silence(quietly):
    rp.loss(convex=True)(squares)
    sent, expected = packed(["squares[scale=2]", "lambdarank"]), version("squares")
    registry.cache_clear()
    assert not registry().written_here("loss", "squares")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unpack(sent)
        unpack(sent)
    assert version("squares") == expected and rp.loss("squares").specification.convex
    assert packed(["lambdarank"]) == b""

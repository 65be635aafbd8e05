"""Rules for all tests.

Any folder under plugins/ may be deleted: the tests that need it are then skipped, and all others must pass. A test
leaves this process as it found it, so that tests pass in any order: one that does not is named.
"""

from __future__ import annotations

import functools
import gc
import importlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    # The processes that run tests share the cores between them.
    _SHARE = (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    os.environ.setdefault("RANKPLUG_THREADS", str(max(1, _SHARE)))

LEAKS_FAIL = os.environ.get("RANKPLUG_LEAKS") != "warn"
"""Whether a test that changes the process for those after it fails, instead of being named in a warning."""
PACKAGES = (
    "rankplug_classics",
    "rankplug_crossover",
    "rankplug_jupyter",
    "rankplug_lambdagap",
    "rankplug_lbfgs",
    "rankplug_letor2",
    "rankplug_lightgbm",
    "rankplug_logrank",
    "rankplug_metrics",
    "rankplug_mlflow",
    "rankplug_neuralsort",
    "rankplug_plrank",
    "rankplug_scorers",
    "rankplug_stochastic",
    "rankplug_stochasticrank",
    "rankplug_torch",
    "rankplug_uniquerating",
    "rankplug_xendcg",
    "rankplug_xgboost",
    "rankplug_yetiloss",
)
ABSENT = [package for package in PACKAGES if not (Path(__file__).parent / "plugins" / package).is_dir()]
NEEDS = re.compile(
    r"there is no (?:loss|sampler|scorer|backend|dataset|transform|metric|study) called \w+"
    r"|module 'rankplug' has no attribute '\w+'"
    rf"|No module named '(?:{'|'.join(ABSENT)})\b"
)
"""Messages about a name that an absent package would offer; with all packages there, no such test is skipped."""


@pytest.fixture
def every_package() -> None:
    """Skip a test of a page or list that names what all packages offer where one of them is not there."""
    if ABSENT:
        pytest.skip(f"needs every folder under plugins; {', '.join(ABSENT)} is not there")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Find what a test says it needs, where its own failure would not tell, as that of another process does not."""
    for what in (what for mark in item.iter_markers("needs") for what in mark.args):
        kind, name = what.split()
        if kind == "package":
            importlib.import_module(name)
        else:
            from rankplug.registry import registry

            registry().find(kind, name)


def skip_where_needed(report: pytest.TestReport | pytest.CollectReport, where: Path) -> None:
    """Turn a failure for want of an absent package into a skipped test."""
    if (
        ABSENT
        and report.failed
        and (match := NEEDS.search(f"{report.longreprtext}\n{report.capstdout}\n{report.capstderr}"))
    ):
        report.outcome = "skipped"
        report.longrepr = (str(where), 0, f"Skipped: needs {' or '.join(ABSENT)}: {match[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without collecting garbage, which would look through all that was imported again and again.

    While they run it is collected less often than usual: compiling makes very many objects, of which few are garbage.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Skip a test that needs an absent package."""
    report = yield
    skip_where_needed(report, item.path)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Skip a module of tests that needs an absent package, and name one that changes the environment when imported."""
    before = environment()
    report = yield
    skip_where_needed(report, collector.path)
    if report.passed and (changed := leaks({"the environment": before}, {"the environment": environment()})):
        sentence = f"importing {collector.path} changes {'; '.join(changed)}"
        if LEAKS_FAIL:
            report.outcome = "failed"
            report.longrepr = sentence
        else:
            warnings.warn(pytest.PytestWarning(sentence), stacklevel=1)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have one of several processes run all tests of a loss, so that no two compile it, and all of a module, so that no
    two make what its tests share; thousands of tests in groups of one also keep pytest-xdist busy with counting them.
    """
    grouped = hasattr(config, "workerinput") and getattr(config.option, "loadgroup", False)
    for item in items if grouped else ():
        given = getattr(item, "callspec", None)
        loss = given.params.get("loss") if given else None
        loss = getattr(getattr(item, "cls", None), "loss", loss)
        if not item.get_closest_marker("xdist_group"):
            of_loss = f"loss {loss.partition('[')[0]}" if isinstance(loss, str) else ""
            item.add_marker(pytest.mark.xdist_group(of_loss or item.nodeid.partition("::")[0]))
        # pytest 9.2 keeps the name of a test where pytest-xdist 3.8 does not write the group behind it.
        if hasattr(item, "_id") and (group := item.get_closest_marker("xdist_group")):
            item._id = type(item._id).parse(f"{item.nodeid}@{group.args[0]}")


OF_IMPORTS = {
    "KMP_DUPLICATE_LIB_OK",
    "KMP_INIT_AT_FORK",
    "TORCHINDUCTOR_CACHE_DIR",
    "GOMP_SPINCOUNT",
    "KMP_BLOCKTIME",
    "OPENBLAS_THREAD_TIMEOUT",
    "PYDEVD_USE_FRAME_EVAL",
    "_RJEM_MALLOC_CONF",
}
"""Environment variables that scikit-learn, PyTorch, Polars, ipykernel and rankplug set when they are imported."""
BRING_POOLS = ("numpy", "scipy", "sklearn", "torch", "lightgbm", "xgboost")
"""Packages that bring thread pools when they are imported."""


def environment() -> dict[str, str]:
    """Return the variables of the environment that no import and not pytest itself sets."""
    return {name: value for name, value in os.environ.items() if name not in OF_IMPORTS and "PYTEST" not in name}


def process_state() -> dict[str, Any]:
    """Return what a test may change by mistake for all that come after it."""
    state: dict[str, Any] = {
        "the environment": environment(),
        "the working folder": os.getcwd(),
        "the path of imports": tuple(sys.path),
        "the folder of temporary files": tempfile.gettempdir(),
        "the standard streams": (sys.stdin, sys.argv),
    }
    if limits := sys.modules.get("rankplug.system.thread_limits"):
        state["the limit of threads"] = limits._threads
    if numba := sys.modules.get("numba"):
        started = sys.modules["numba.np.ufunc.parallel"]._is_initialized
        state["numba's threads"] = numba.get_num_threads() if started else numba.config.NUMBA_NUM_THREADS
    if torch := sys.modules.get("torch"):
        state["torch's threads"] = torch.get_num_threads()
        state["torch's kind of numbers"] = torch.get_default_dtype()
    for pool in _pools(tuple(package for package in BRING_POOLS if package in sys.modules)):
        state[f"the threads of {pool.filepath}"] = pool.num_threads
    return state


@functools.lru_cache(maxsize=1)
def _pools(packages: tuple[str, ...]) -> list[Any]:
    """Return the pools of threads; to find them takes long, so it is done once more packages are there."""
    if not packages:
        return []
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().lib_controllers


def leaks(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a sentence for each thing that is not as it was."""
    said = []
    for name in before.keys() & after.keys():
        was, now = before[name], after[name]
        if was != now and isinstance(was, dict):
            changed = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
            said += [f"{name}: {key} was {was.get(key)!r}, is {now.get(key)!r}" for key in changed]
        elif was != now:
            said.append(f"{name}: was {was!r}, is {now!r}")
    return said


def check_left_as_found(what: str) -> Iterator[None]:
    """Fail after a block that changes what others find."""
    before = process_state()
    yield
    if changed := leaks(before, process_state()):
        sentence = f"{what} does not leave this process as it was found: {'; '.join(changed)}"
        if LEAKS_FAIL:
            pytest.fail(sentence, pytrace=False)
        warnings.warn(pytest.PytestWarning(sentence), stacklevel=1)


@pytest.fixture(autouse=True)
def leaves_the_process_as_found(request: pytest.FixtureRequest) -> Iterator[None]:
    """Name a test that does not leave this process as it found it."""
    yield from check_left_as_found(request.node.nodeid)


@pytest.fixture(autouse=True, scope="module")
def module_leaves_the_process_as_found(request: pytest.FixtureRequest) -> Iterator[None]:
    """Name a module whose fixtures do not leave this process as they found it, or that leaves its plugins to others."""
    registry = getattr(sys.modules.get("rankplug.registry.plugins"), "registry", None)
    yield from check_left_as_found(f"a fixture of {request.node.nodeid}")
    if registry is not None and registry.cache_info().currsize:
        left = [plugin.name for plugin in registry().plugins() if plugin.distribution == "this session"]
        assert not (left and LEAKS_FAIL), f"{request.node.nodeid} leaves the plugins {left} to others"

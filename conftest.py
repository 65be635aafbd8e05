"""Rules for all tests: processes share the cores, and a test leaves the process as it was."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    share = (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    os.environ.setdefault("RANKPLUG_THREADS", str(max(1, share)))

SET_BY_IMPORTS = {
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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without garbage collection, and collect garbage less often afterwards: compiling leaves little."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Group tests of one loss, so that only one process compiles it, and tests of one module, which share fixtures."""
    grouped = hasattr(config, "workerinput") and getattr(config.option, "loadgroup", False)
    for item in items if grouped else ():
        if not item.get_closest_marker("xdist_group"):
            parameters = getattr(getattr(item, "callspec", None), "params", {})
            loss = getattr(getattr(item, "cls", None), "loss", parameters.get("loss"))
            of_loss = f"loss {loss.partition('[')[0]}" if isinstance(loss, str) else ""
            item.add_marker(pytest.mark.xdist_group(of_loss or item.nodeid.partition("::")[0]))
        # pytest 9.2 keeps the name of a test where pytest-xdist 3.8 does not write the group behind it.
        if hasattr(item, "_id") and (group := item.get_closest_marker("xdist_group")):
            item._id = type(item._id).parse(f"{item.nodeid}@{group.args[0]}")


def process_state() -> dict[str, Any]:
    """Return what a test may change by mistake for all later tests."""
    return {
        "environment": {
            name: value for name, value in os.environ.items() if name not in SET_BY_IMPORTS and "PYTEST" not in name
        },
        "working folder": os.getcwd(),
        "sys.path": tuple(sys.path),
        "sys.argv": tuple(sys.argv),
        "folder of temporary files": tempfile.gettempdir(),
    }


@pytest.fixture(autouse=True)
def process_is_unchanged() -> Iterator[None]:
    """Fail a test that changes the process for later tests."""
    before = process_state()
    yield
    after = process_state()
    changed = [name for name in before if before[name] != after[name]]
    assert not changed, f"the test changes {', '.join(changed)} for later tests"

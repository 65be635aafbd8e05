"""Starting is quick: nothing heavy is imported before it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from rankplug.registry import import_object

HEAVY = {
    "torch", "lightgbm", "xgboost", "numba", "scipy", "sklearn", "pandas", "matplotlib", "seaborn", "pyarrow", "dask"
}  # fmt: skip
LOADED = "\nimport sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def loaded_by(code: str) -> set[str]:
    """Return top-level modules that a fresh process has loaded after running the code."""
    printed = subprocess.check_output([sys.executable, "-c", code + LOADED], text=True)
    return set(json.loads(printed.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import rankplug, rankplug.cli; dir(rankplug); assert not hasattr(rankplug, 'x')",
        "from rankplug import Lists, Parameters, Reference, LossSpecification, MetricSpecification, hookimpl",
        "from rankplug.registry import registry; [plugin.describe() for plugin in registry().plugins()]",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded_by(code) & HEAVY == set()


@pytest.mark.parametrize("words", [["--help"], ["plugins", "--json"]])
def test_the_command_line_loads_nothing_heavy(words):
    code = f"""
import sys
import rankplug.cli
sys.argv = ["rankplug", *{words!r}]
try:
    rankplug.cli.main()
except SystemExit:
    pass"""
    assert loaded_by(code) & HEAVY == set()


def test_every_public_name_is_there():
    import rankplug

    for name in dir(rankplug):
        assert getattr(rankplug, name) is not None or name in {"__spec__", "__loader__", "__file__", "__builtins__"}
    with pytest.raises(AttributeError, match="module 'rankplug' has no attribute 'nothing'"):
        _ = rankplug.nothing


def test_two_threads_may_need_an_object_at_once(tmp_path, monkeypatch):
    (tmp_path / "slow_plugin.py").write_text("import time\ntime.sleep(0.3)\nanswer = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: import_object("slow_plugin:answer", "a plugin"), range(2)))
    sys.modules.pop("slow_plugin")
    assert found == [42, 42]

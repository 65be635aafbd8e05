"""Trouble that other people's packages make stays theirs, and the command line says whose it is.

The packages lie on the path with their metadata, as an installer would leave them; a healthy one is always beside.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

RANKPLUG = Path(sys.executable).parent / "rankplug"
OFFER = """
from rankplug import LossSpecification, hookimpl

@hookimpl
def rankplug_losses():
    return [LossSpecification(name="{name}", summary="a loss", implementation="{implementation}")]
"""
CODE = """
from rankplug import list_loss

@list_loss
def loss(scores, labels, gradient):
    for i in range(scores.size):
        gradient[i] = scores[i] - scores.mean()
    return 0.5 * ((scores - scores.mean()) ** 2).sum()
"""


LOUD = "print('buy now')\n" + OFFER.format(name="loud", implementation="loud_code:loss")
LACKING = "import a_missing_engine\n"
CANNOT_BE_USED = "loss lacking cannot be used: a_missing_engine is not installed, which this needs; install it"


class Site:
    """A folder of installed packages."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder, self.cache = folder, cache
        self.install("healthy", OFFER.format(name="healthy", implementation="healthy_code:loss"), CODE)

    def install(self, name: str, plugin: str, code: str = CODE, requires: str = "") -> None:
        """Write a distribution with a plugin module and a module for its code."""
        (self.folder / f"{name}.py").write_text(textwrap.dedent(plugin))
        (self.folder / f"{name}_code.py").write_text(textwrap.dedent(code))
        metadata = self.folder / f"{name}-1.0.dist-info"
        metadata.mkdir()
        needs = f"Requires-Dist: {requires}\n" if requires else ""
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}")
        (metadata / "entry_points.txt").write_text(f"[rankplug]\n{name} = {name}\n")

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command line beside these packages."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "RANKPLUG_CACHE": str(self.cache), **variables}
        return subprocess.run([RANKPLUG, *words], capture_output=True, text=True, env=environment, timeout=300)

    def plugins(self, **variables: str) -> dict:
        """Return what ``rankplug plugins --json`` says about losses."""
        done = self.run("plugins", "--kind", "loss", "--json", **variables)
        assert done.returncode == 0, done.stderr
        listing = json.loads(done.stdout)
        assert "healthy" in {plugin["name"] for plugin in listing["plugins"]}
        return listing


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """Share one cache among all tests, so that equal plugins are tried once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def site(tmp_path, cache) -> Site:
    return Site(tmp_path, cache)


def offered(listing: dict) -> set[str]:
    return {plugin["name"] for plugin in listing["plugins"]}


REFUSED = {
    "for a newer rankplug": (
        OFFER.format(name="bad", implementation="bad_code:loss"),
        "rankplug>=99",
        "it needs rankplug >=99, but this is 0.1.0; upgrade rankplug, or install a version of bad for this one",
    ),
    "raises at import": ("raise RuntimeError('no licence')", "", "RuntimeError: no licence"),
    "exits at import": ("raise SystemExit(3)", "", "SystemExit: 3"),
    "its dependency is missing": ("import a_package_that_is_not_there", "", "ModuleNotFoundError: No module named"),
    "hangs at import": ("import time\ntime.sleep(600)", "", "its import did not end in 2 s (RANKPLUG_IMPORT_SECONDS)"),
    "hangs in its hook": (
        "import time\nfrom rankplug import hookimpl\n@hookimpl\ndef rankplug_losses():\n    time.sleep(600)\n",
        "",
        "its import did not end in 2 s (RANKPLUG_IMPORT_SECONDS)",
    ),
    "hangs at import and catches everything": (
        "import time\nwhile True:\n    try:\n        time.sleep(600)\n    except:\n        pass\n",
        "",
        "its import did not end in 2 s (RANKPLUG_IMPORT_SECONDS)",
    ),
    "hangs in its code": (
        OFFER.format(name="bad", implementation="hanging:loss"),
        "",
        "importing the code of loss bad did not end in 2 s (RANKPLUG_IMPORT_SECONDS)",
    ),
    "hangs at the end": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), name='poller').start()\n",
        "",
        "it keeps every command from ending, by the thread poller, which is no daemon",
    ),
    "hangs at the end, by what it registered": (
        "import atexit, time\natexit.register(time.sleep, 600)\n",
        "",
        "it keeps every command from ending, by what it does at the end",
    ),
    "ends the process at import": ("import os\nos._exit(0)", "", "its import ends the process (exit code 0)"),
    "crashes the process at import": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        "",
        "its import ends the process (SIGSEGV)",
    ),
    "changes how the process ends": (
        "import atexit, os\natexit.register(os._exit, 3)",
        "",
        "it makes every command end with exit code 3",
    ),
    "raises what is no Exception": (
        "class PanicException(BaseException): pass\nraise PanicException('index out of bounds')",
        "",
        "PanicException: index out of bounds",
    ),
    "says that somebody stopped it": (
        "raise KeyboardInterrupt",
        "",
        "its import raises KeyboardInterrupt, as if you had stopped it",
    ),
    "replaces a function of SciPy": (
        "import scipy.optimize\nscipy.optimize.minimize = print",
        "",
        "it replaces scipy.optimize.minimize, which would change the results of every other plugin",
    ),
    "replaces a function of rankplug": (
        "import rankplug.metrics\nrankplug.metrics.evaluate = lambda *words: [1.0]",
        "",
        "it replaces rankplug.metrics.evaluate, which would change the results of every other plugin",
    ),
    "replaces a method of rankplug": (
        "from rankplug.losses import Loss\nLoss.evaluate = lambda *words: None",
        "",
        "it replaces rankplug.losses.objectives.Loss.evaluate, which would change the results of every other plugin",
    ),
    "replaces a function of a plugin of rankplug": (
        "import rankplug_metrics.dcg as dcg\ndcg.dcg = lambda *words: 1.0",
        "",
        "it replaces rankplug_metrics.dcg.dcg, which would change the results of every other plugin",
    ),
    "replaces a function of NumPy": (
        "import numpy\nnumpy.sort = lambda *values: None\nnumpy.linalg.norm = lambda *values: 0.0\n",
        "",
        "it replaces numpy.sort, numpy.linalg.norm, which would change the results of every other plugin",
    ),
    "replaces a function of NumPy in its hook": (
        "from rankplug import hookimpl\n@hookimpl\ndef rankplug_losses():\n    import numpy\n    numpy.sort = print\n"
        "    return []\n",
        "",
        "it replaces numpy.sort, which would change the results of every other plugin",
    ),
    "replaces functions of Python's library": (
        "import json, math, os\njson.dumps = lambda *words: '{}'\nmath.log = lambda *words: 0.0\n"
        "os.replace = lambda *words: None\n",
        "",
        "it replaces json.dumps, math.log, os.replace, which would change the results of every other plugin",
    ),
    "replaces a built-in function": (
        "import builtins\nbuiltins.sum = lambda *words: 0\n",
        "",
        "it replaces builtins.sum, which would change the results of every other plugin",
    ),
    "replaces the training of an engine": (
        "import lightgbm\nlightgbm.train = lambda *words, **options: None\n",
        "",
        "it replaces lightgbm.train, which would change the results of every other plugin",
    ),
    "replaces a constant of rankplug": (
        "import rankplug.system.thread_limits as limits\nlimits.MILLISECONDS_A_THREAD = 1e9\n",
        "",
        "it replaces rankplug.system.thread_limits.MILLISECONDS_A_THREAD, which would change the results of every",
    ),
    "replaces a function of PyTorch": (
        "import torch\ndef nothing(*values):\n    return values[0]\ntorch.sigmoid = nothing\n",
        "",
        "it replaces torch.sigmoid, which would change the results of every other plugin",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("hanging", [True, False])
def test_harmful_plugins_are_refused_with_their_reasons_and_the_others_work(site, hanging):
    cases = {name: case for name, case in REFUSED.items() if name.startswith("hangs") == hanging}
    (site.folder / "hanging.py").write_text(
        "while True:\n    try:\n        pass\n    except Exception:\n        pass\n"
    )
    for number, (source, requires, _) in enumerate(cases.values()):
        site.install(f"bad{number}", source.replace("bad", f"bad{number}"), requires=requires)
    began = time.perf_counter()
    listing = site.plugins(RANKPLUG_IMPORT_SECONDS="2" if hanging else "60")
    assert time.perf_counter() - began < 200
    failed = {entry["distribution"]: entry["reason"] for entry in listing["failed"]}
    for number, (name, (_, _, reason)) in enumerate(cases.items()):
        expected = reason.replace("loss bad", f"loss bad{number}").replace("of bad ", f"of bad{number} ")
        assert failed.pop(f"bad{number}").startswith(expected), name
    assert not failed and not [name for name in offered(listing) if name.startswith("bad")]


@pytest.mark.slow
def test_doctor_names_every_trouble_at_once(site):
    names = (
        "for a newer rankplug",
        "raises at import",
        "exits at import",
        "hangs at import",
        "ends the process at import",
    )
    quick = [REFUSED[name] for name in names]
    for number, (source, requires, _) in enumerate(quick):
        site.install(f"bad{number}", source, requires=requires)
    site.install("loud", LOUD)
    site.install("lacking", OFFER.format(name="lacking", implementation="lacking_code:loss"), LACKING)
    for name in ("first", "second"):
        site.install(name, OFFER.format(name="twin", implementation=f"{name}_code:loss"))
    done = site.run("doctor", RANKPLUG_IMPORT_SECONDS="5")
    assert done.returncode == 1
    for number, (_, _, reason) in enumerate(quick):
        expected = reason.replace("2 s", "5 s").replace("of bad for", f"of bad{number} for")
        assert f"problem: plugin bad{number} of bad{number} failed: {expected}" in done.stderr
    assert "remark: plugin loud of loud prints while it is imported" in done.stderr
    assert "problem: loss twin is offered by first and second" in done.stderr
    assert f"problem: loss lacking of lacking 1.0: {CANNOT_BE_USED}" in done.stderr
    assert re.search(r"^loss lacking of lacking 1\.0 +loss lacking cannot be used", done.stdout, re.MULTILINE)
    assert re.search(r"^loss healthy of healthy 1\.0 +works$", done.stdout, re.MULTILINE)


def test_a_plugin_for_this_rankplug_is_taken(site):
    site.install("good", OFFER.format(name="good", implementation="good_code:loss"), requires="rankplug[torch]>=0.1,<2")
    listing = site.plugins()
    assert listing["failed"] == [] and "good" in offered(listing)


def test_what_a_plugin_replaces_in_numpy_is_put_back(site):
    site.install("bad", REFUSED["replaces a function of NumPy"][0])
    code = "from rankplug.registry import registry; registry(); import numpy; print(numpy.sort([2, 1]))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site.folder)}
    )
    assert done.stdout.strip() == "[1 2]", done.stderr


CHANGES = """
import gc, os, signal, sys, warnings
import numpy
os.chdir("/")
os.umask(0o777)
os.environ["RANKPLUG_THREADS"] = "7"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.setrecursionlimit(500)
warnings.simplefilter("error")
numpy.seterr(all="raise")
sys.setprofile(lambda *words: None)
gc.disable()
"""
LOOK = """
import gc, os, signal, sys, warnings
import numpy
def look():
    os.umask(mask := os.umask(0))
    handlers = [signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)]
    strict = [one for one in warnings.filters if one[0] == "error"]
    found = [os.getcwd(), mask, os.environ.get("RANKPLUG_THREADS"), handlers, sys.getrecursionlimit(), strict]
    return [*found, numpy.geterr(), sys.getprofile(), gc.isenabled()]
before = look()
from rankplug.registry import registry
print(registry().remarks, [broken.reason for broken in registry().broken])
assert look() == before, (before, look())
"""


def test_what_a_plugin_changes_in_the_process_is_put_back(site):
    site.install("restless", CHANGES + OFFER.format(name="restless", implementation="restless_code:loss"))
    environment = {**os.environ, "PYTHONPATH": str(site.folder), "RANKPLUG_CACHE": str(site.cache)}
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    changed = (
        "the working folder, variables of rankplug, the rights of new files, signals, the limit of recursion, warnings"
        " that are errors, NumPy's floating-point errors, the profiler, the collection of garbage"
    )
    said = f"plugin restless of restless changes {changed} while it is imported, which was put back"
    assert done.stdout.strip() == f"{[said]} []"


def test_a_plugin_that_prints_spoils_no_output(site):
    site.install("loud", LOUD)
    done = site.run("plugins", "--kind", "loss", "--json")
    listing = json.loads(done.stdout)
    assert "loud" in offered(listing) and listing["failed"] == []
    assert listing["remarks"] == ["plugin loud of loud prints while it is imported"]
    assert "plugin loud of loud: buy now" in done.stderr


def test_a_plugin_whose_code_lacks_a_dependency_is_listed_and_fails_its_check(site):
    site.install("lacking", OFFER.format(name="lacking", implementation="lacking_code:loss"), LACKING)
    assert "lacking" in offered(site.plugins())
    checked = site.run("check", "lacking", "--json")
    assert checked.returncode == 1
    (finding,) = json.loads(checked.stdout)[0]["findings"]
    assert finding["check"] == "it_can_be_loaded" and finding["what"].startswith(CANNOT_BE_USED)


def test_code_that_replaces_functions_is_refused_when_it_is_used(site):
    patch = "import numpy\nnumpy.log = lambda values: values\n" + CODE
    site.install("sly", OFFER.format(name="sly", implementation="sly_code:loss"), patch)
    code = (
        "import rankplug as rp, numpy\n"
        "for _ in range(2):\n"
        "    try:\n        rp.loss('sly').evaluate([1.0], [0], [0, 1])\n"
        "    except rp.RankplugError as error:\n        print(error)\n"
        "print(numpy.log(1.0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site.folder)}
    )
    sentence = "loss sly cannot be used: it replaces numpy.log, which would change the results of every other plugin"
    assert done.stdout.splitlines() == [sentence, sentence, "0.0"], done.stderr


@pytest.mark.slow
def test_two_plugins_with_one_name_are_told_apart_by_their_distributions(site):
    for name in ("first", "second"):
        site.install(name, OFFER.format(name="twin", implementation=f"{name}_code:loss"))
    listing = site.plugins()
    assert listing["conflicts"] == [{"kind": "loss", "name": "twin", "distributions": ["first", "second"]}]
    done = site.run("check", "twin")
    assert done.returncode == 1
    assert "loss twin is offered by first and second; say which, as in first:twin, or uninstall one" in done.stderr


def test_a_distribution_can_be_left_out(site):
    site.install("bad-one", "raise RuntimeError('no licence')")
    listing = site.plugins(RANKPLUG_WITHOUT="other, Bad_One")
    assert listing["failed"] == []
    assert listing["remarks"] == ["plugin bad-one of bad-one is left out, as RANKPLUG_WITHOUT says"]


PRINTS = {
    "past Python": "import os\nos.write(1, b'buy now\\n')\n",
    "by a child": "import subprocess\nsubprocess.run(['echo', 'buy now'])\n",
    "at the end": "import atexit\natexit.register(print, 'buy now')\n",
    "at the end, past Python": "import atexit, os\natexit.register(os.write, 1, b'buy now\\n')\n",
}


# The last is both of its words at once, so that those alone are slow.
@pytest.mark.parametrize(
    "hows",
    [
        pytest.param(("by a child", "at the end, past Python"), id="two of them"),
        *(pytest.param((how,), marks=pytest.mark.slow, id=how) for how in PRINTS),
    ],
)
def test_however_a_plugin_prints_it_spoils_no_output(site, hows):
    names = [f"loud{number}" for number, _ in enumerate(hows)]
    for name, how in zip(names, hows, strict=True):
        site.install(name, PRINTS[how] + OFFER.format(name=name, implementation=f"{name}_code:loss"))
    done = site.run("plugins", "--kind", "loss", "--json")
    listing = json.loads(done.stdout)
    assert set(names) <= offered(listing)
    assert sorted(listing["remarks"]) == [f"plugin {name} of {name} prints while it is imported" for name in names]
    assert done.stderr.count("buy now") == len(hows)


@pytest.mark.slow
def test_a_plugin_is_tried_once_and_again_when_it_changes(site):
    """Its own file counts how often it is imported: by the child and by the command, then by the command alone."""
    count = site.folder / "count"
    source = f"open({str(count)!r}, 'a').write('.')\n" + OFFER.format(
        name="counted", implementation="counted_code:loss"
    )
    site.install("counted", source)
    for imports in (2, 3, 4):
        site.plugins()
        assert len(count.read_text()) == imports
    (site.folder / "counted_code.py").write_text("# changed\n" + CODE)
    site.plugins()
    assert len(count.read_text()) == 6


@pytest.mark.slow
def test_a_mended_dependency_is_found_at_once(site):
    """An error at import may be over the next time, so that nobody remembers it."""
    site.install("needy", "import mended\n" + OFFER.format(name="needy", implementation="needy_code:loss"))
    assert "needy" not in offered(site.plugins())
    (site.folder / "mended.py").touch()
    assert "needy" in offered(site.plugins())


@pytest.mark.slow
def test_what_exits_when_it_is_imported_ends_no_sweep(site, tmp_path):
    site.install("bad", "import os\nos._exit(0)")
    words = ["backend=lightgbm", "dataset=synthetic[queries=20]", "scorer=trees[rounds=2,leaves=3]", "metrics=ndcg@5"]
    done = site.run("sweep", "loss=mse", *words, "--store", str(tmp_path / "store"))
    assert done.returncode == 0 and len(list((tmp_path / "store").glob("*/*.parquet"))) == 1, done.stderr


@pytest.mark.parametrize("value", ["abc", "-1", "nan", "0"])
def test_a_time_that_is_no_time_is_told(site, value):
    done = site.run("plugins", RANKPLUG_IMPORT_SECONDS=value)
    assert done.returncode == 1
    assert done.stderr == f"rankplug: RANKPLUG_IMPORT_SECONDS must be a number of seconds above 0, got '{value}'\n"


def test_a_command_that_is_killed_takes_the_child_that_tries_a_plugin_with_it(site):
    mark = site.folder / "mark"
    site.install("bad", f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    environment = {**os.environ, "PYTHONPATH": str(site.folder), "RANKPLUG_CACHE": str(site.cache)}
    command = subprocess.Popen([RANKPLUG, "plugins"], env=environment, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 100
    while not (mark.exists() and mark.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    child = int(mark.read_text())
    assert child != command.pid
    command.kill()
    command.wait()
    while Path(f"/proc/{child}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()

"""Trouble that other people's packages make stays theirs, and the command line says whose it is.

The packages lie on the path with their metadata, as an installer would leave them; a healthy one is always beside.
"""

from __future__ import annotations

import json
import os
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
CANNOT_BE_USED = "loss lacking cannot be used: ModuleNotFoundError: No module named 'a_missing_engine'; install"


class Site:
    """A folder of installed packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
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
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "RANKPLUG_CACHE": str(self.folder), **variables}
        return subprocess.run([RANKPLUG, *words], capture_output=True, text=True, env=environment)

    def plugins(self, **variables: str) -> dict:
        """Return what ``rankplug plugins --json`` says about losses."""
        done = self.run("plugins", "--kind", "loss", "--json", **variables)
        assert done.returncode == 0, done.stderr
        listing = json.loads(done.stdout)
        assert "healthy" in {one["name"] for one in listing["plugins"]}
        return listing


@pytest.fixture
def site(tmp_path) -> Site:
    return Site(tmp_path)


def offered(listing: dict) -> set[str]:
    return {one["name"] for one in listing["plugins"]}


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
    "replaces a function of NumPy": (
        "import numpy\nnumpy.sort = lambda *values: None\nnumpy.linalg.norm = lambda *values: 0.0\n",
        "",
        "it replaces numpy.sort, numpy.linalg.norm, which would change the results of every other plugin",
    ),
    "replaces a function of PyTorch": (
        "import torch\ndef nothing(*values):\n    return values[0]\ntorch.sigmoid = nothing\n",
        "",
        "it replaces torch.sigmoid, which would change the results of every other plugin",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_harmful_plugin_is_refused_with_its_reason_and_the_others_work(site, case):
    source, requires, reason = REFUSED[case]
    site.install("bad", source, requires=requires)
    began = time.perf_counter()
    listing = site.plugins(RANKPLUG_IMPORT_SECONDS="2" if "hangs" in case else "60")
    assert time.perf_counter() - began < 60
    (failed,) = listing["failed"]
    assert failed["reason"].startswith(reason) and failed["distribution"] == "bad"
    assert "bad" not in offered(listing)


def test_doctor_names_every_trouble_at_once(site):
    quick = [case for name, case in REFUSED.items() if "PyTorch" not in name]
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
    assert f"loss lacking of lacking 1.0: {CANNOT_BE_USED}" in done.stdout
    assert "loss healthy of healthy 1.0: works" in done.stdout


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

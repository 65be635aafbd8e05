"""Without any one folder under plugins/ the tests of the rest pass, but for those that name what it offered.

Deleting 19 folders one by one and running everything each time would take two hours. So folders are deleted by groups
first: six runs, each without about half of them, and each folder deleted in three of the six, no two in the same three.
Of any two folders X and Y, some run therefore deletes X and keeps Y, so a test of Y, or of the library, that breaks
without X breaks in that run. A run is also cheap, as the tests of what is deleted vanish.

The groups alone are not strictly enough: a test that needs Y and Z is skipped wherever one of them is deleted, and
perhaps no run deletes X and keeps both. What most tests need is therefore deleted in the same few runs and kept in two
others, and after the groups each folder is deleted alone, with those tests only that have not yet passed without it.
One folder tried on its own (``-k rankplug_torch``) runs all tests.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import pytest

from rankplug.registry import GROUP, Registry
from rankplug.registry.kinds import BackendSpecification
from rankplug.system import available_cores

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.name for path in (ROOT / "plugins").glob("rankplug_*") if path.is_dir())
ELSEWHERE = ("tests/browser", "tests/project/test_deletable_plugins.py")
"""Tests that start a browser, and these themselves."""
PROGRAMS = ("jupytext", "ruff", "uv")
NEEDED_BY_MOST = ("rankplug_metrics", "rankplug_scorers", "rankplug_lightgbm", "rankplug_classics")
"""Packages that most tests of the others need."""
LEAVE_OUT = """
import pathlib


def pytest_collection_modifyitems(items):
    names = set(pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines())
    items[:] = [item for item in items if item.nodeid not in names]
"""
"""A plugin of pytest that leaves out tests by their whole names; ``--deselect`` would take these for beginnings."""
PASSED = re.compile(r"^PASSED (.+)$", re.MULTILINE)
SKIPPED = re.compile(
    r"Skipped: needs \w+: (?:there is no (\w+) called (\w+)|module 'rankplug' has no attribute '(\w+)')"
)
"""Reasons that ``conftest.py`` gives."""


def offers(package: str) -> set[tuple[str, str]]:
    """Return kind and name of all that a package offers; the kind of what it exports to ``rankplug`` is empty."""
    points = metadata.entry_points(group=GROUP)
    plugins = Registry([point for point in points if point.module.partition(".")[0] == package])
    exported = {
        ("", name) for specification in plugins.specifications(BackendSpecification) for name in specification.exports
    }
    return exported | {(plugin.specification.kind, plugin.specification.name) for plugin in plugins.plugins()}


def needed(output: str) -> set[tuple[str, str]]:
    """Return kind and name of what skipped tests needed, from what pytest prints."""
    return {(match[1] or "", match[2] or match[3]) for match in SKIPPED.finditer(output)}


def groups(packages: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the packages to delete in each run: of any two, some run deletes the first and keeps the second.

    Each package is deleted in half of the runs, no two packages in the same ones. The first packages are deleted in the
    first runs, so that the last runs keep them together.
    """
    runs = next(number for number in itertools.count(2) if math.comb(number, number // 2) >= len(packages))
    halves = sorted(itertools.combinations(range(runs), runs // 2), key=max)
    deleted_in = dict(zip(packages, halves, strict=False))
    return [tuple(package for package in packages if run in deleted_in[package]) for run in range(runs)]


GROUPS = groups(sorted(PACKAGES, key=lambda package: package not in NEEDED_BY_MOST))


class Checkout:
    """A copy of this checkout with an environment of its own, which shares the installed dependencies.

    Args:
        folder: where both are made.

    Attributes:
        passed: for each package, the tests that passed without it.
    """

    def __init__(self, folder: Path) -> None:
        self.tree, self.environment, self.deleted = folder / "tree", folder / "environment", folder / "deleted"
        self.passed: dict[str, set[str]] = defaultdict(set)
        self.deleted.mkdir()
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        self.project = (self.tree / "pyproject.toml").read_text()
        self.uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run([self.uv, "venv", "--quiet", "--python", sys.executable, self.environment], check=True)
        # Tests call programs that dependencies bring; of these, scripts run in the environment they were installed in.
        for program in PROGRAMS:
            (self.python.parent / program).symlink_to(Path(sys.executable).with_name(program))
        # Paths in a .pth file are searched for modules, but .pth files there, such as this checkout's, are not read.
        packages = next((self.environment / "lib").glob("python*/site-packages"))
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.leave_out = packages / "leave_out_tests.py"
        self.leave_out.write_text(LEAVE_OUT)

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.environment / "bin" / "python"

    def install(self) -> None:
        """Install the copy as it is now."""
        words = [self.uv, "pip", "install", "--quiet", "--no-deps", "--python", self.python]
        subprocess.run([*words, "--editable", self.tree, "--editable", self.tree / "benchmarks"], check=True)

    @contextlib.contextmanager
    def without(self, *packages: str) -> Iterator[None]:
        """Delete packages and their entry points, and put the packages back at the end."""
        its_own = re.compile(rf'\S+ = "(?:{"|".join(packages)})\..*"|\s*"plugins/(?:{"|".join(packages)})",')
        kept = [line for line in self.project.splitlines() if not its_own.fullmatch(line)]
        (self.tree / "pyproject.toml").write_text("\n".join(kept) + "\n")
        for package in packages:
            (self.tree / "plugins" / package).rename(self.deleted / package)
        try:
            self.install()
            yield
        finally:
            for package in packages:
                (self.deleted / package).rename(self.tree / "plugins" / package)

    def check_without(self, *packages: str) -> None:
        """Run the fast tests on all cores, as ``make test`` does, but those that passed without each package."""
        done = set.intersection(*(self.passed[package] for package in packages))
        self.leave_out.with_suffix(".txt").write_text("\n".join(sorted(done)))
        words = ["-q", "-rfEsp", "-m", "not slow", "-p", "no:cacheprovider", "-p", self.leave_out.stem]
        words += ["-n", str(available_cores()), "--dist", "loadgroup", *(f"--ignore={name}" for name in ELSEWHERE)]
        variables = {**os.environ, "JUPYTER_PATH": f"{sys.prefix}/share/jupyter"}
        command = [self.python, "-m", "pytest", *words]
        with self.without(*packages):
            run = subprocess.run(command, cwd=self.tree, env=variables, capture_output=True, text=True)
        lines = [line for line in run.stdout.splitlines() if not line.startswith("PASSED")]
        assert run.returncode == 0, "\n".join(lines)[-20_000:]
        for package in packages:
            self.passed[package].update(PASSED.findall(run.stdout))
        offered = set().union(*map(offers, packages))
        assert needed(run.stdout) <= offered, "a test was skipped for want of what another package offers"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """Make one copy for all packages, so that what numba compiled for one is there for the next."""
    folder = tmp_path_factory.mktemp("checkout")
    yield Checkout(folder)
    shutil.rmtree(folder)


def test_the_list_of_packages_that_may_be_deleted_is_complete():
    listed = re.findall(r'^    "(rankplug_\w+)",$', (ROOT / "conftest.py").read_text(), re.MULTILINE)
    assert set(PACKAGES) <= set(listed), "add the new package to conftest.py"


def test_of_any_two_packages_some_run_deletes_the_first_and_keeps_the_second():
    assert max(map(len, GROUPS)) <= len(PACKAGES) * 0.6
    for deleted, kept in itertools.permutations(PACKAGES, 2):
        assert any(deleted in group and kept not in group for group in GROUPS), (deleted, kept)
    together = [group for group in GROUPS if not set(group) & set(NEEDED_BY_MOST)]
    assert set().union(*together) == set(PACKAGES) - set(NEEDED_BY_MOST)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"group{GROUPS.index(group) + 1}")
def test_the_rest_passes_without_a_group(group: tuple[str, ...], checkout: Checkout) -> None:
    checkout.check_without(*group)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_rest_passes_without(package: str, checkout: Checkout) -> None:
    checkout.check_without(package)


def test_a_skipped_test_must_have_needed_what_the_deleted_package_offers():
    line = "SKIPPED [1] tests/a.py:1: Skipped: needs rankplug_torch: there is no backend called torch"
    assert needed(line) == {("backend", "torch")} <= offers("rankplug_torch")
    assert needed(line.replace("torch", "lightgbm")).isdisjoint(offers("rankplug_torch"))
    assert ("", "lightgbm_objective") in offers("rankplug_lightgbm") and not offers("rankplug_jupyter")

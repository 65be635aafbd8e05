"""Without any one folder under plugins/ the tests of the rest pass, but for those that name what it offered."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from rankplug.registry import GROUP, Registry
from rankplug.registry.specifications import BackendSpecification
from rankplug.system import available_cores

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.name for path in (ROOT / "plugins").glob("rankplug_*") if path.is_dir())
ELSEWHERE = ("tests/browser", "tests/project/test_deletable_plugins.py")
"""Tests that start a browser, and these themselves."""
PROGRAMS = ("ruff", "uv")
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
    return {(found[1] or "", found[2] or found[3]) for found in SKIPPED.finditer(output)}


class Checkout:
    """A copy of this checkout with an environment of its own, which shares the installed dependencies.

    Args:
        folder: where both are made.
    """

    def __init__(self, folder: Path) -> None:
        self.tree, self.environment = folder / "tree", folder / "environment"
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
        # Tests call programs that dependencies bring; those that are no scripts run in any environment.
        for program in PROGRAMS:
            (self.python.parent / program).symlink_to(Path(sys.executable).with_name(program))
        # Paths in a .pth file are searched for modules, but .pth files there, such as this checkout's, are not read.
        packages = next((self.environment / "lib").glob("python*/site-packages"))
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.environment / "bin" / "python"

    def install(self) -> None:
        """Install the copy as it is now."""
        words = [self.uv, "pip", "install", "--quiet", "--no-deps", "--python", self.python]
        subprocess.run([*words, "--editable", self.tree, "--editable", self.tree / "benchmarks"], check=True)

    def without(self, package: str) -> None:
        """Delete a package and its entry points."""
        (self.tree / "plugins" / package).rename(self.tree.with_name("deleted"))
        its_own = re.compile(rf'\S+ = "{package}\..*"|\s*"plugins/{package}",')
        kept = [line for line in self.project.splitlines() if not its_own.fullmatch(line)]
        (self.tree / "pyproject.toml").write_text("\n".join(kept) + "\n")
        self.install()

    def restore(self, package: str) -> None:
        """Put a deleted package back; the entry points follow with the next one."""
        self.tree.with_name("deleted").rename(self.tree / "plugins" / package)

    def test(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the fast tests on all cores, as ``make test`` does."""
        ignored = [f"--ignore={name}" for name in ELSEWHERE]
        workers = ["-n", str(available_cores()), "--dist", "loadgroup"]
        command = [self.python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *workers, *ignored]
        variables = {**os.environ, "JUPYTER_PATH": f"{sys.prefix}/share/jupyter"}
        return subprocess.run([*command, *words], cwd=self.tree, env=variables, capture_output=True, text=True)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """Make one copy for all packages, so that what numba compiled for one is there for the next."""
    folder = tmp_path_factory.mktemp("checkout")
    yield Checkout(folder)
    shutil.rmtree(folder)


def test_the_list_of_packages_that_may_be_deleted_is_complete():
    listed = re.findall(r'^    "(rankplug_\w+)",$', (ROOT / "conftest.py").read_text(), re.MULTILINE)
    assert set(PACKAGES) <= set(listed), "add the new package to conftest.py"


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_rest_passes_without(package: str, checkout: Checkout) -> None:
    checkout.without(package)
    try:
        done = checkout.test()
    finally:
        checkout.restore(package)
    assert done.returncode == 0, done.stdout[-20_000:]
    assert re.search(r"\d+ passed", done.stdout)
    assert needed(done.stdout) <= offers(package), "a test was skipped for want of what another package offers"


def test_a_skipped_test_must_have_needed_what_the_deleted_package_offers():
    line = "SKIPPED [1] tests/a.py:1: Skipped: needs rankplug_torch: there is no backend called torch"
    assert needed(line) == {("backend", "torch")} <= offers("rankplug_torch")
    assert needed(line.replace("torch", "lightgbm")).isdisjoint(offers("rankplug_torch"))
    assert ("", "lightgbm_objective") in offers("rankplug_lightgbm") and not offers("rankplug_jupyter")

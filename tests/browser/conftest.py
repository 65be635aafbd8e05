"""A headless Chromium for tests of what readers see; tests that ask for it are skipped where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankplug.report import reproduce, write_scoreboard
from rankplug.store import Store
from rankplug.studies import scoreboard, study
from rankplug.sweeps import sweep

PATIENCE = 240_000
"""Milliseconds to wait for a page, however busy the machine is."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start the system's browser, driven by Playwright; ``RANKPLUG_CHROMIUM`` names another."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    named = os.environ.get("RANKPLUG_CHROMIUM", "")
    path = named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not path:
        pytest.skip("there is no chromium on this machine; install it or name one in RANKPLUG_CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """Open an empty page, which records in ``page.problems`` what goes wrong on it."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    opened.problems = []
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("request", lambda request: None if _is_local(request.url) else opened.problems.append(request.url))
    opened.on("requestfailed", lambda request: opened.problems.extend(_not_loaded(request)))
    yield opened
    context.close()


def _not_loaded(request: Any) -> list[str]:
    """Name what could not be loaded; what is cut off as a reader goes on to another page could."""
    return [] if request.failure == "net::ERR_ABORTED" else [f"not loaded: {request.url}"]


def _is_local(address: str) -> bool:
    return address.startswith(("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost"))


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of a study at its smallest size, with the executed notebook of one of its combinations."""
    folder = tmp_path_factory.mktemp("reproduced")
    store = Store(folder / "store")
    runs = next(iter(study("xendcg").runs("smoke", None)))
    grid = {**runs.grid("XE-NDCG"), "seed": 0}
    sweep(grid, store=store, folds=runs.folds, trials=runs.trials, progress=False, notebooks=True)
    return reproduce(["xendcg"], profile="smoke", store=store, report=folder / "report", progress=False)


@pytest.fixture(scope="session")
def board(report: Path) -> Path:
    """Write the scoreboard of the runs behind the report."""
    store = Store(report.parent.parent / "store")
    return write_scoreboard(scoreboard(["xendcg"], store=store), store, report.parent.parent / "scoreboard")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of screenshots: ``RANKPLUG_SCREENSHOTS``, or one that pytest keeps for a while."""
    named = os.environ.get("RANKPLUG_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder

"""The reader's path: open a notebook in JupyterLab, run all of it, move a control, see the figure change."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from rankplug.system import notebooks_folder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("jupyterlab")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Start a JupyterLab on copies of the notebooks, which ask for ``smoke``; yields its address and folder."""
    folder = tmp_path_factory.mktemp("lab")
    work, token = folder / "notebooks", "reader"
    work.mkdir()
    for path in notebooks_folder().glob("*.ipynb"):
        for_smoke(path, work / path.name)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER{name}_DIR": str(folder / name) for name in ("_CONFIG", "_RUNTIME", "_DATA")}
    own |= {f"JUPYTERLAB_{name}_DIR": str(folder / name) for name in ("SETTINGS", "WORKSPACES")}
    own |= {"RANKPLUG_RESULTS": str(folder / "results"), "RANKPLUG_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={work}"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
    try:
        wait_for(lambda: answers(f"http://127.0.0.1:{port}/api?token={token}") or server.poll() is not None, 240)
        assert server.poll() is None, (folder / "log").read_text()
        yield f"http://127.0.0.1:{port}/lab/tree/{{name}}?token={token}", work
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def for_smoke(path: Path, target: Path) -> None:
    """Copy a notebook with parameters that ask for ``smoke``."""
    text = path.read_text()
    target.write_text(re.sub(r'profile = \\"[^"]*\\"', r'profile = \\"smoke\\"', text, count=1))


def answers(address: str) -> bool:
    try:
        return bool(json.load(urllib.request.urlopen(address, timeout=10))["version"])
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.5)


def run_all(page, lab, name: str):
    """Open a notebook as a reader does, run all cells and save; return the cells as they were saved."""
    address, work = lab
    page.goto(address.format(name=name))
    page.locator("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current", has_text=name).first.wait_for()
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    shown.locator(".jp-CodeCell").first.wait_for()
    page.get_by_text("| Idle").first.wait_for()
    while not shown.locator(".jp-CodeCell .jp-InputPrompt").get_by_text(re.compile(r"\[[*0-9]+\]")).count():
        # JupyterLab forgets what is run before its kernel answers.
        page.locator(".lm-MenuBar-itemLabel", has_text="Run").click()
        page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
        page.wait_for_timeout(5000)

    def finished() -> bool:
        page.keyboard.press("Control+s")
        page.wait_for_timeout(2000)
        cells = nbformat.read(work / name, as_version=4).cells
        codes = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
        failed = [output for cell in codes for output in cell.outputs if output.output_type == "error"]
        assert not failed, failed
        return all(cell.execution_count for cell in codes)

    wait_for(finished, 900)
    return nbformat.read(work / name, as_version=4).cells


def picture_in(cell) -> str:
    """Return the picture in the outputs of a cell."""
    return str(cell.locator("img").first.get_attribute("src"))


def move(page, slider) -> None:
    """Move a slider by some steps, to the left where it stands at its right end."""
    handle = slider.locator(".noUi-handle")
    now, most = (float(handle.get_attribute(f"aria-value{end}")) for end in ("now", "max"))
    handle.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight" if now < most else "ArrowLeft")


def text_of(table) -> str:
    """Go to a table and return its text, which JupyterLab draws once it is looked at."""
    table.scroll_into_view_if_needed()
    wait_for(table.inner_text, 60)
    return str(table.inner_text())


def kinds_of_outputs(cells) -> list[str]:
    return [kind for cell in cells for output in cell.get("outputs", []) for kind in output.get("data", {})]


@pytest.mark.parametrize("paper", ["stochastic", "logrank"])
def test_each_slider_of_a_paper_changes_its_figure(paper, page, lab, pictures):
    kinds = kinds_of_outputs(run_all(page, lab, f"{paper}.ipynb"))
    assert {"image/png", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(kinds)
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    with_sliders = shown.locator(".jp-CodeCell").filter(has=page.locator(".widget-slider"))
    assert with_sliders.count() >= 2
    for cell in with_sliders.all():
        for slider in cell.locator(".widget-slider").all():
            slider.scroll_into_view_if_needed()
            before = picture_in(cell)
            move(page, slider)
            wait_for(lambda cell=cell, before=before: picture_in(cell) != before, 240)
    page.screenshot(path=pictures / f"{paper}-moved.png")


def test_run_shows_progress_and_every_output_again(page, lab, pictures):
    run_all(page, lab, "xendcg.ipynb")
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    top = shown.locator(".jp-CodeCell").filter(has=page.locator(".widget-button"))
    words, trials = top.locator(".widget-html-content").first, top.locator("input[type=number]")
    table = shown.locator(".jp-CodeCell").filter(has_text='show(evaluation, "Table 1")').locator("table")
    before = text_of(table)
    top.scroll_into_view_if_needed()
    asked = int(re.match(r"0 to run, (\d+) done", words.inner_text())[1])
    trials.fill("3")  # smoke has two
    trials.press("Tab")
    wait_for(lambda: re.match(r"[1-9]\d* to run, \d+ done: about \d+ ", words.inner_text()), 60)
    more = int(words.inner_text().split()[0])
    page.screenshot(path=pictures / "controls-estimate.png")
    top.locator(".widget-button").click()
    wait_for(lambda: top.locator("[class*=progress]").count(), 120)
    page.screenshot(path=pictures / "controls-progress.png")
    wait_for(lambda: words.inner_text() == f"0 to run, {asked + more} done", 900)
    page.screenshot(path=pictures / "controls-done.png")
    wait_for(lambda: text_of(table) != before, 60)
    page.screenshot(path=pictures / "controls-table.png")

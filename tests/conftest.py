"""What all tests share."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from rankplug.registry import SESSION, registry
from rankplug.studies import Results, study

# The first example of a test may compile a function, so time says nothing about the code under test.
settings.register_profile("rankplug", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("rankplug")


@pytest.fixture(autouse=True, scope="module")
def forget_plugins_of_the_module() -> Iterator[None]:
    """A plugin that a module of tests adds is not seen by the modules after it."""
    yield
    if any(plugin.distribution == SESSION for plugin in registry().plugins()):
        registry.cache_clear()


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Figures that a test drew take no memory after it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def results_of_study(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Results]:
    """Runs a study at its smallest size, once for all workers of this run of the tests."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    @functools.cache
    def results(name: str) -> Results:
        with FileLock(shared / f"{name}.lock"):
            return study(name).results("smoke", store=shared / name, progress=False)

    return results


SIGNS = str.maketrans({"⏎": "\n", "␛": "\x1b", "␇": "\x07", "↶": "\u202e", "↷": "\u202c"})


@pytest.fixture(scope="session")
def active_texts() -> list[str]:
    """Texts that would run something, fetch something or deceive, if a page or a terminal took them for its own."""
    lines = (Path(__file__).parent / "reliability" / "active_texts.txt").read_text(encoding="utf-8").splitlines()
    return [line.translate(SIGNS) for line in lines]


KINDS_OF_OUTPUT = (
    "text/html", "text/markdown", "text/plain", "text/latex", "text/vnd.mermaid", "image/png", "image/jpeg",
    "image/gif", "image/svg+xml", "application/javascript", "application/json", "application/pdf",
    "application/xhtml+xml", "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json",
    "application/vnd.plotly.v1+json", "application/vnd.vegalite.v5+json", "application/geo+json",
    "application/vnd.bokehjs_exec.v0+json", "application/x-anything",
)  # fmt: skip


@pytest.fixture(scope="session")
def report_of() -> Callable[[str, Path], list[Path]]:
    """Writes a report into a folder, in which every name, message, cell and output is one text; its pages."""
    import nbformat
    import pandas as pd

    from rankplug.report.behind import Source
    from rankplug.report.combination_page import Made
    from rankplug.report.shown import Judged, Reproduced, draw_exhibits
    from rankplug.report.site import build_report, write_summary
    from rankplug.studies import Claim, Exhibit, Study, Verdict, layout

    def table_of(text: str) -> pd.DataFrame:
        """Published numbers beside ours, of which every word is the text."""
        words = dict.fromkeys(("published on", "ours on", "model", "metric"), text)
        numbers = dict.fromkeys(("ours", "half width", "published", "published half width", "difference"), 0.5)
        return pd.DataFrame([words | numbers | {"trials": 1, "combination": "0" * 16}])

    def notebook_of(text: str) -> nbformat.NotebookNode:
        parts = {"text/html": f"<table><tr><td>{text}</td></tr></table>"}
        ours = layout(table_of(text)).to_html(escape=False)
        outputs = [
            nbformat.v4.new_output("display_data", {"text/html": ours}),
            nbformat.v4.new_output("display_data", parts),
            *(nbformat.v4.new_output("display_data", {kind: text}) for kind in KINDS_OF_OUTPUT),
            nbformat.v4.new_output("execute_result", {"application/json": {text: [text]}, "text/plain": text}),
            nbformat.v4.new_output("stream", text=text),
            nbformat.v4.new_output("stream", name="stderr", text=text),
            nbformat.v4.new_output("error", ename=text, evalue=text, traceback=[text]),
        ]
        cells = [
            nbformat.v4.new_markdown_cell(text, attachments={"a.svg": {"image/svg+xml": text}}),
            nbformat.v4.new_code_cell(text, outputs=outputs),
            nbformat.v4.new_code_cell(f'show(study, "{text}")'),
            nbformat.v4.new_code_cell("show_claims(study)"),
            nbformat.v4.new_raw_cell(text),
        ]
        return nbformat.v4.new_notebook(cells=cells, metadata={"title": text})

    def write(text: str, folder: Path) -> list[Path]:
        study = Study(
            name="made",
            title=text,
            citation=text,
            notebook="made.ipynb",
            runs=lambda profile, data: [],
            exhibits=(
                Exhibit(text, text, lambda results: (pd.DataFrame({text: [text, text]}, index=[text, "b"]), None)),
                Exhibit(f"{text} beside", text, lambda results: (table_of(text), None)),
            ),
            claims=(Claim(text, lambda results: Verdict("fails", text)),),
            published=pd.DataFrame,
        )
        facts = {"versions": {text: text}, "fit_seconds": 1.0, "data": {"train": text, "valid": text}}
        facts |= {"test_fingerprint": text, "threads": text, "iterations": text, "best_iteration": text}
        plugin = {"name": text, "parameters": {text: text}, "distribution": text, "version": text}
        parts = {"dataset": "synthetic", "loss": "mse", "backend": "torch", "scorer": "linear"}
        record = {"identity": "0" * 16, "combination": parts, "fold": 1, "trial": 0, "seed": text, "record": facts}
        record |= {"plugins": {"loss": [plugin], "dataset": [plugin]}, "versions": {text: text}}
        results = Results("smoke", {}, pd.DataFrame(), (record,))
        nbformat.write(notebook_of(text), folder / "made.ipynb")
        verdicts = tuple(Judged(claim.judge(results), (Source(text, text, ("0" * 16,)),)) for claim in study.claims)
        report = folder / "report"
        for notebook in (folder / "made.ipynb", None):
            exhibits, combinations = draw_exhibits(study, results, report), {"0" * 16: Made((record,), notebook)}
            one = Reproduced(study, results, notebook, exhibits, verdicts, combinations)
            build_report({"made": one}, report / ("with" if notebook else "without"))
            write_summary({"made": one}, report)
        return sorted(report.rglob("*.html"))

    return write

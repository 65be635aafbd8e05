"""Fixtures that all tests share."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import settings

from rankplug.data import Split
from rankplug.registry import SESSION, registry
from rankplug.store import Combination, Result, Store, Trial
from rankplug.studies import Results, study
from rankplug.training import LearningCurve

# The first example of a test may compile a function, so time says nothing about the code under test.
settings.register_profile("rankplug", deadline=None, max_examples=40, derandomize="CI" in os.environ)
settings.load_profile("rankplug")


@pytest.fixture(autouse=True, scope="module")
def forget_plugins_of_the_module() -> Iterator[None]:
    """Hide a plugin that a module of tests adds from the modules after it."""
    yield
    if any(plugin.distribution == SESSION for plugin in registry().plugins()):
        registry.cache_clear()


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close the figures that a test drew, so that they take no memory after it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def results_of_study(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Results]:
    """Run a study at its smallest size, once for all workers of this run of the tests."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    @functools.cache
    def results(name: str) -> Results:
        with FileLock(shared / f"{name}.lock"):
            return study(name).run("smoke", store=shared / name, progress=False)

    return results


SIGNS = str.maketrans({"⏎": "\n", "␛": "\x1b", "␇": "\x07", "↶": "\u202e", "↷": "\u202c"})


@pytest.fixture(scope="session")
def active_texts() -> list[str]:
    """Return texts that would run, fetch or forge something if a page or a terminal took them for its own."""
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
def report_of() -> Callable[..., list[Path]]:
    """Write a report into a folder, with a study for each text in which every name, message, cell and output is that
    text, once with executed notebooks and once without; return its pages.
    """
    import nbformat
    import pandas as pd

    from rankplug.report import layout
    from rankplug.report.combination_records import CombinationRecords
    from rankplug.report.site import StudyReport, build_report
    from rankplug.studies import (
        Check,
        Checks,
        ClaimEvaluation,
        Evaluation,
        ExhibitEvaluation,
        Group,
        Meta,
        ObservationEvaluation,
        QueryPairs,
        RunSource,
        judge,
        not_run,
    )

    def table_of(text: str, identity: str) -> pd.DataFrame:
        """Return published numbers beside ours, of which every word is the text."""
        words = dict.fromkeys(("published on", "ours on", "model", "metric"), text)
        numbers = dict.fromkeys(("ours", "half width", "published", "published half width", "difference"), 0.5)
        return pd.DataFrame([words | numbers | {"trials": 1, "combination": identity}])

    def notebook_of(text: str, name: str, identity: str) -> nbformat.NotebookNode:
        parts = {"text/html": f"<table><tr><td>{text}</td></tr></table>"}
        ours = layout(table_of(text, identity)).to_html(escape=False)
        outputs = [
            nbformat.v4.new_output("display_data", {"text/html": ours}),
            nbformat.v4.new_output("display_data", parts),
            *(nbformat.v4.new_output("display_data", {kind: text}) for kind in KINDS_OF_OUTPUT),
            nbformat.v4.new_output("execute_result", {"application/json": {text: [text]}, "text/plain": text}),
            nbformat.v4.new_output("stream", text=text),
            nbformat.v4.new_output("stream", name="stderr", text=text),
            nbformat.v4.new_output("error", ename=text, evalue=text, traceback=[text]),
        ]
        shows: list[object] = [{"study": name, "exhibit": f"{text} beside"}, {"study": name, "claims": True}]
        shows += [{"study": name, "exhibit": "none"}, {"study": text, "exhibit": text}, text, [text]]
        tagged = [
            nbformat.v4.new_output("display_data", {"text/html": text}, metadata={"rankplug": about}) for about in shows
        ]
        cells = [
            nbformat.v4.new_markdown_cell(text, attachments={"a.svg": {"image/svg+xml": text}}),
            nbformat.v4.new_code_cell(text, outputs=outputs),
            *(nbformat.v4.new_code_cell(text, outputs=[shown]) for shown in tagged),
            nbformat.v4.new_raw_cell(text),
        ]
        return nbformat.v4.new_notebook(cells=cells, metadata={"title": text})

    class Forged(Evaluation):
        """An evaluation of which every text is the same."""

        def __init__(self, text: str, name: str, identity: str) -> None:
            self.text, self.study, self.identity = text, name, identity
            self.sources = (RunSource(text, text, (identity,)),)
            self.exhibit_names = (f"{text} alone", f"{text} beside")
            group = Group(text, text, text, False)
            self.meta = Meta(name, text, text, text, text, {}, 1, 1.0, text, (group,), {text: text}, note=text)
            checks = Checks({text: Check(text, 1.0, at_most=0.0, control=0.0, control_of=text)}, (text,))
            facts = (text, text, text, text, f"{text} beside")
            judgements = {text: judge(checks), f"{text} b": not_run(text)}
            self.claims = tuple(ClaimEvaluation(id, *facts, said, text, text) for id, said in judgements.items())
            self.observations = (ObservationEvaluation(text, text, text, text),)
            row = {"group": text, "model": text, "combination": identity, "used": True}
            self.runs = pd.DataFrame([row | {"folds": 1, "trials": 1}])
            compared = {"group": text, "metric": text, "queries": 3, "models": (text, f"{text} b"), "left_out": 1}
            compared |= {"identities": (identity, ""), "means": (0.6, 0.5), "better": ((0, 2), (1, 0))}
            drawn = ((0, 1, text), (1, 1, text), (0, 2, text))
            self.query_pairs = (QueryPairs(**compared, drawn=drawn, values=((0.9, 0.5, 0.4), (0.1, 0.6, 0.8))),)

        def _exhibit(self, name: str) -> ExhibitEvaluation:
            alone = pd.DataFrame({self.text: [self.text, "b"]})
            table = alone if name.endswith("alone") else table_of(self.text, self.identity)
            return ExhibitEvaluation(name, self.text, self.text, 2, table, sources=self.sources)

    def write(text: str | Sequence[str], folder: Path) -> list[Path]:
        texts = [text] if isinstance(text, str) else text
        for kind in ("with", "without"):
            report, shown = folder / "report" / kind, []
            for number, one in enumerate(texts):
                name, identity = f"made{number or ''}", f"{number:016}"
                artefact = Forged(one, name, identity).write(report / name)
                facts = {"versions": {one: one}, "fit_seconds": 1.0, "data": {"train": one, "valid": one}}
                facts |= {"test_fingerprint": one, "threads": one, "iterations": one, "best_iteration": one}
                plugin = {"name": one, "parameters": {one: one}, "distribution": one, "version": one}
                parts = {"dataset": "synthetic", "loss": "mse", "backend": "torch", "scorer": "linear"}
                record = {"identity": identity, "combination": parts, "fold": 1, "trial": 0, "seed": one}
                record |= {"record": facts, "plugins": {"loss": [plugin], "dataset": [plugin]}, "versions": {one: one}}
                notebook = artefact / "notebook.ipynb"
                if kind == "with":
                    nbformat.write(notebook_of(one, name, identity), notebook)
                records = CombinationRecords((record,), notebook if kind == "with" else None)
                shown.append(StudyReport(Evaluation.read(artefact), report, {identity: records}))
            build_report(shown, report)
        return sorted((folder / "report").rglob("*.html"))

    return write


PLUGIN = '''
import pathlib

import rankplug as rp

EDITS = pathlib.Path(__file__).with_name("edits")


@rp.hookimpl
def rankplug_trial_started(trial):
    """Edits the file that is named in ``edits``, once, when a second trial begins."""
    if trial.number == 1 and EDITS.exists():
        path = pathlib.Path(EDITS.read_text())
        EDITS.unlink()
        path.write_text(path.read_text().replace("2 qid", "0 qid"))


@rp.hookimpl
def rankplug_datasets():
    """One data set that behaves as its parameters say."""
    return [
        rp.DatasetSpecification(
            name="trouble", summary="made data, with trouble", implementation="trouble_data:load",
            parameters=Trouble, folds=3, fingerprint="trouble_data:fingerprint",
        )
    ]


class Trouble(rp.Parameters):
    """Parameters of the trouble."""

    how: str = "none"
    where: str = ""
    rows: int = 200
'''
DATA = '''
import errno
import os
import pathlib
import signal
import time

import numpy as np

import rankplug as rp

version = os.environ.get("TROUBLE_VERSION", "1")


def fingerprint(parameters):
    """Return the fingerprint of the data as they are now."""
    return version


def load(parameters, fold, seed):
    """Twenty queries of ten documents, once the trouble is over."""
    folder = pathlib.Path(parameters.where or ".")
    if parameters.where:
        with open(folder / "log", "a") as log:
            log.write(f"{fold} {seed} {os.getpid()}\\n")
    if parameters.how == "raise":
        raise ValueError("trouble was asked for")
    if parameters.how == "full":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if parameters.how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if parameters.how == "die once" and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if parameters.how == "mend" and not (folder / "mended").exists():
        raise ValueError("not mended yet")
    if parameters.how == "slow":
        time.sleep(0.3)
    if parameters.how == "sleep":
        time.sleep(60)
    noise = np.random.default_rng([seed, fold])
    features = noise.random((parameters.rows, 5), np.float32)
    labels = (features[:, 0] * 3).astype(int)
    lists = rp.Lists(features, labels, np.arange(0, parameters.rows + 1, 10))
    return rp.Split(lists, lists, lists)
'''


@pytest.fixture(scope="session")
def trouble_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder that holds an installed distribution with the data set ``trouble``."""
    folder = tmp_path_factory.mktemp("trouble")
    (folder / "trouble_plugin.py").write_text(PLUGIN)
    (folder / "trouble_data.py").write_text(DATA)
    about = folder / "trouble-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: trouble\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rankplug]\ntrouble = trouble_plugin\n")
    return folder


@pytest.fixture
def trouble(trouble_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the distribution in this process and in those it starts."""
    from rankplug.registry import registry

    monkeypatch.syspath_prepend(str(trouble_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(trouble_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("RANKPLUG_THREADS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    registry.cache_clear()
    yield trouble_path
    registry.cache_clear()


QUERIES = 30


def _combination(loss: str = "mse", **parts: str) -> Combination:
    return Combination(
        **{"dataset": "synthetic", "backend": "lightgbm", "metrics": ("ndcg@5", "mrr"), "loss": loss, **parts}
    )


def _made_result(trial: Trial, shift: float = 0.0) -> Result:
    noise = np.random.default_rng([trial.fold, trial.number])
    values = {metric: np.clip(noise.random(QUERIES) + shift, 0, 1) for metric in trial.combination.metrics}
    values["mrr"][3] = np.nan
    curve = LearningCurve()
    for iteration in range(4):
        curve.add(iteration, {"train ndcg@5": 0.5 + iteration / 10, "valid ndcg@5": 0.4 + iteration / 10})
    record = {"best_iteration": 2, "fit_seconds": 1.5, "threads": 1, "test_fingerprint": f"data {trial.fold}"}
    return Result(trial, values, tuple(f"q{number}" for number in range(QUERIES)), curve, record)


def _fill(
    store: Store, losses: dict[str, float], trials: int = 3, folds: tuple[int, ...] = (1, 2), **parts: str
) -> None:
    for loss, shift in losses.items():
        for fold in folds:
            for number in range(trials):
                store.write(_made_result(Trial(_combination(loss, **parts), fold, number), shift))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store in a folder that is not there yet."""
    return Store(tmp_path / "results")


@pytest.fixture(scope="session")
def combination() -> Callable[..., Combination]:
    """Return a function that makes a combination on made data, measured by two metrics."""
    return _combination


@pytest.fixture(scope="session")
def made_result() -> Callable[..., Result]:
    """Return a function that makes a result that nobody computed: noise that fold and number determine, shifted."""
    return _made_result


@pytest.fixture(scope="session")
def fill() -> Callable[..., None]:
    """Return a function that writes made results of several losses, folds and trials into a store."""
    return _fill


@pytest.fixture(scope="session")
def transform() -> Callable[..., Split]:
    """Return a function that applies a transform to any split: ``transform("binarise", split, seed=0)``."""

    def apply(reference: str, split: Split, seed: int = 0) -> Split:
        specification, parameters = registry().resolve("transform", reference)
        return specification.load()(split, parameters, np.random.default_rng(seed))

    return apply

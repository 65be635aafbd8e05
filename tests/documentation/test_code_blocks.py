"""Every block of code in README.md, CONTRIBUTING.md and docs/ works as it stands there.

The blocks of a page run one after another in an empty folder; a block with a title is a file. Commands of ours run in
this process. What is not run is listed below with its reason, and its syntax is checked all the same.
"""

from __future__ import annotations

import linecache
import os
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.system import cache_folder

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

NEEDS_DATA = {"docs/data.md": "shows a public set, OHSUMED"}

NEEDS_PACKAGE = {"docs/howto/pyterrier.md": "pyterrier", "docs/howto/lightning.md": "lightning"}
"""Pages about packages that make install gets and make test-lowest does without."""

# Commands, or their beginnings.
MINUTES = "takes minutes; tests of studies and sweeps run it smaller"
ONLY_PARSED = {
    "rankplug reproduce": MINUTES,
    "rankplug check my_loss": "needs the package that the line before would install; tests of authors do both",
    "rankplug check my_paper": "needs the package that the line before would install; a slow test does both",
    "rankplug sweep sweep.yaml --cluster": "needs a cluster",
    'rankplug check "my_loss': "is installed in no environment of ours; a slow test installs it in one of its own",
    'rankplug sweep "loss=[my_loss': "the same test runs it",
    "rankplug results --metric ndcg@5 --plot": "the same test runs it",
}
ONLY_PLANNED = {
    "rankplug sweep 'loss=[xe_ndcg,lambdarank[sigma=[1,2]]]'": MINUTES,
    "rankplug sweep sweep.yaml --profile": MINUTES,
    "rankplug sweep stochastic": MINUTES,
    "rankplug sweep 'loss=[xe_ndcg,mse]' backend=xgboost": "starts a cluster; tests of sweeps do",
}
NOT_RUN = {
    "source .venv/bin/activate": "is for a person's shell",
    "pip install -e my_loss": "changes this environment; a slow test runs it in one of its own",
    "dask ": "waits for others until it is stopped",
    "sbatch ": "needs a batch system",
    "pip install": "changes the environment",
    "git config ": "changes the settings of a person's repository",
}
LONG = (
    "docs/faq.md",
    "docs/fitting.md",
    "docs/howto/cluster.md",
    "docs/howto/elasticsearch.md",
    "docs/howto/export.md",
    "docs/howto/lightgbm-alone.md",
    "docs/howto/optuna.md",
    "docs/howto/own-data.md",
    "docs/howto/serve.md",
    "docs/quickstart.md",
)
# Blocks of Python, by words they contain.
NOT_EXECUTED = {
    "dask_jobqueue": "needs a batch system",
    "tcp://": "needs a cluster",
    "learning_curves": "takes minutes; the notebook of the data runs it smaller",
    "mslr-web30k": "needs a set that each user has to get",
}
# What a page takes as given.
GIVEN = {
    "docs/fitting.md": """
import numpy as np, xgboost
generator = np.random.default_rng(0)
X, y = generator.normal(size=(60, 4)), generator.integers(0, 3, 60)
group, qid = [10] * 6, np.repeat(np.arange(6), 10)
params, dtrain = {"verbosity": 0}, xgboost.DMatrix(X, y, group=group)
""",
    "docs/data.md": """
from pathlib import Path
import pandas
for name in ("mine.parquet", "hub/train-0.parquet", "hub/validation-0.parquet", "hub/test-0.parquet"):
    Path("hub").mkdir(exist_ok=True)
    rows = range(24)
    columns = {"qid": [row // 4 for row in rows], "relevance": [row % 2 for row in rows], "url": [*map(str, rows)]}
    pandas.DataFrame({**columns, "bm25": [row * 0.5 for row in rows], "clicks": list(rows)}).to_parquet(name)
def letor(first):
    return "".join(f"{row % 2} qid:{first + row // 4} 1:{row % 7}\\n" for row in range(24))
for place, name in enumerate(("mine", "train", "vali", "test")):
    Path(f"{name}.txt").write_text(letor(100 * place))
    for fold in range(1, 6):
        Path(f"folder-or-archive/Fold{fold}").mkdir(parents=True, exist_ok=True)
        if place:
            Path(f"folder-or-archive/Fold{fold}/{name}.txt").write_text(letor(1000 * fold + 100 * place))
""",
    "docs/howto/export.md": """
from rankplug.report import reproduce
from rankplug.store import Store
reproduce(["xendcg"], profile="smoke", store=Store("papers"), progress=False)
""",
    "docs/sweeps.md": "__import__('pathlib').Path('other-results').mkdir()",
}


@dataclass(frozen=True)
class Block:
    """A fenced block and where it stands."""

    page: str
    line: int
    language: str
    title: str
    text: str

    def commands(self) -> Iterator[str]:
        """Yield the commands of a block of shell, one a line, without comments."""
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.strip() and not line.startswith("#"):
                yield line.partition("  #")[0].strip()


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(str(page.relative_to(ROOT)), text[: match.start()].count("\n") + 2, match[1], match[2] or "", match[3])
        for match in FENCE.finditer(text)
    ]


def reason(listed: dict[str, str], command: str) -> str:
    return next((why for beginning, why in listed.items() if command.startswith(beginning)), "")


def with_code() -> list[Any]:
    """Return pages that have something to run; those that take long are slow tests."""
    pages = [str(page.relative_to(ROOT)) for page in PAGES if any(block.language != "text" for block in blocks(page))]
    return [pytest.param(page, marks=pytest.mark.slow) if page in LONG else page for page in pages]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty working folder, and the environment of someone who has set nothing but where data lie."""
    kernels = cache_folder() / "kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    data = os.environ.get("RANKPLUG_DATA", str(DATA) if DATA.is_dir() else "")
    for name in [name for name in os.environ if name.startswith("RANKPLUG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RANKPLUG_THREADS", "1")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "kernels").symlink_to(kernels)
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RANKPLUG_DATA", data)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # as Lightning does when it is imported
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize("page", with_code())
def test_every_block_of_the_page_works(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page in NEEDS_DATA and not os.environ["RANKPLUG_DATA"]:
        pytest.skip(f"no data are here, and the page {NEEDS_DATA[page]}")
    if page in NEEDS_PACKAGE:
        pytest.importorskip(NEEDS_PACKAGE[page])
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    exec(GIVEN.get(page, ""), vars(module))
    for block in blocks(ROOT / page):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text)
        elif block.language == "python":
            execute(block, module)
        elif block.language == "sh":
            for command in block.commands():
                run(command, monkeypatch)
        elif block.language == "yaml":
            (folder / "sweep.yaml").write_text(block.text)


def execute(block: Block, module: types.ModuleType) -> None:
    """Run Python as a notebook does: the compiler finds its source, and names stay for the next block."""
    name = f"{block.page}:{block.line}"
    linecache.cache[name] = len(block.text), None, block.text.splitlines(keepends=True), name
    compiled = compile(block.text, name, "exec")
    if not any(word in block.text for word in NOT_EXECUTED):
        exec(compiled, vars(module))


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(command)
    if words[0] == "export":
        variable, _, value = words[1].partition("=")
        monkeypatch.setenv(variable, value)
    elif words[0] == "make":
        subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, check=True, capture_output=True)
    elif reason(NOT_RUN, command):
        return
    elif reason(ONLY_PARSED, command):
        parse(words[1:])
    elif words[0] == "rankplug":
        planned = ["--dry-run"] if reason(ONLY_PLANNED, command) else []
        invoke([*words[1:], *planned])
    elif words[0] == "papermill":
        subprocess.run([Path(sys.executable).with_name("papermill"), *words[1:]], check=True)
    else:
        pytest.fail(f"nothing says how to run {command}, or why not")


def invoke(words: list[str]) -> None:
    """Run a command of ours; what it prints may go to a file."""
    target = words[-1] if len(words) > 1 and words[-2] == ">" else ""
    done = CliRunner().invoke(app, words[:-2] if target else words, catch_exceptions=False)
    assert done.exit_code == 0, f"rankplug {shlex.join(words)}\n{done.output}"
    if target:
        Path(target).write_text(done.stdout)


def parse(words: list[str]) -> None:
    """Fail where a command, an option or a value does not exist."""
    command = typer.main.get_command(app)
    name = "rankplug"
    while words[0] in getattr(command, "commands", {}):
        name, *words = words
        command = command.commands[name]
    command.make_context(name, words)

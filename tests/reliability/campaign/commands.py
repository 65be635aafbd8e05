"""Commands of a campaign: what each needs before, and what it leaves, as a text that equal states share."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from children import finish, output_of, start

import rankplug as rp
from rankplug.store import verify
from rankplug.system import UNFINISHED, UNFINISHED_PREFIX, cache_folder
from rankplug.training import load_model

TINY = ["dataset=synthetic[queries=60]", "backend=lightgbm", "scorer=trees[rounds=3]", "metrics=ndcg@5"]
SWEEP = ["sweep", *TINY, "loss=[lambdarank,ranknet]", "--trials", "2", "--store", "store"]
TRAIN = ["train", "synthetic[queries=60]", "--loss", "ranknet", "--scorer", "trees[rounds=3]", "--out", "model.txt"]
STUDY = ["toy", "--profile", "smoke"]
REPORT = [*STUDY, "--report", "report"]
REPRODUCE = ["reproduce", *REPORT, "--jobs", "2", "--store"]
CRATE = ["reproduce", *REPORT, "--store", "store", "--crate", "crate"]
TUNE = ["tune", *TINY, "loss=[lambdarank,ranknet,mse]", "--budget", "3", "--store", "store"]
EXPORT = ["results", "export", "all.zip", "--store", "store"]
PREPARE = ["data", "prepare", "letor-file[path='text.txt']"]
PREPARE_TABLE = ["data", "prepare", "parquet[path='table.parquet',query=q,label=y]"]
OWN_CACHE = {"RANKPLUG_CACHE": "cache"}
LITTER = (UNFINISHED, ".unfinished", ".old", ".narrow", ".partial")
"""Endings of what is there only while something is made."""


@dataclass(frozen=True)
class Command:
    """A command with what it needs before, and what it leaves.

    Args:
        words: after ``rankplug``.
        state: says what is in the folder, as a text that equal states share.
        prepare: makes what the command needs.
        weight: how often it is chosen.
        variables: of its environment, which name places in the folder.
        again_fails: whether it refuses to do again what is done.
    """

    words: Sequence[str]
    state: Callable[[Path], str]
    prepare: Callable[[Path], object] = lambda folder: None
    weight: int = 1
    variables: dict[str, str] = field(default_factory=dict)
    again_fails: bool = False


def results_of(name: str) -> Callable[[Path], str]:
    """Return a function that says which numbers the store of some name holds."""

    def state(folder: Path) -> str:
        frame = rp.Store(folder / name).frame()[
            ["loss", "fold", "trial", "measure", "part", "metric", "iteration", "query", "value"]
        ]
        order = frame.sort_values(list(frame.columns), kind="stable", ignore_index=True)
        numbers = pd.util.hash_pandas_object(order, index=False).to_numpy()
        return f"{len(order)} rows {hashlib.sha256(numbers.tobytes()).hexdigest()}"

    return state


TIME = re.compile(r"\d+(?:\.\d+)? (?:ms|s|min|h)\b|\d{4}-\d\d-\d\d(?:[T ][\d:.]+)?")
"""A time, which no two runs have in common."""


def said_in(folder: Path) -> str:
    """Say what a command has said, without times."""
    return TIME.sub("TIME", output_of(folder).read_text(errors="replace"))


def diagnosis_of(folder: Path) -> str:
    """Say what ``rankplug doctor --json`` has found that does not depend on the folder or on other programs."""
    found = json.loads(said_in(folder))
    chosen = {name: found[name] for name in ("versions", "backends", "failed", "conflicts", "others", "problems")}
    assert any(backend["works"] for backend in chosen["backends"]) and not chosen["problems"]
    return json.dumps(chosen)


def picture_of(folder: Path) -> str:
    return hashlib.sha256((folder / "plot.png").read_bytes()).hexdigest() + results_of("store")(folder)


def report_of(folder: Path) -> str:
    """Say which files a report has, what its tables hold, and what is concluded in it."""
    report = folder / "report"
    files = sorted(path for path in report.rglob("*") if path.is_file())
    tables = [(path.name, path.read_text()) for path in files if path.suffix in (".csv", ".tex")]
    (standing,) = [json.loads(path.read_text()) for path in report.glob("evidence/*.json")]
    # What more trials would take is a time, which no two runs have in common.
    told = [(claim["sentence"], claim["judgement"]) for claim in standing["claims"]]
    claims = [(sentence, judgement["verdict"], judgement["parts"]) for sentence, judgement in told]
    assert tables and claims
    pages = [str(path.relative_to(report)) for path in files if path.stat().st_size]
    return f"{results_of('store')(folder)} {claims} {pages} {tables}"


def crate_of(folder: Path) -> str:
    """Say what a report has and which files are in its crate, none of which may be another than its digest says."""
    crate = folder / "crate"
    count, problems = verify(crate)
    assert count and not problems, problems
    files = sorted(str(path.relative_to(crate)) for path in crate.rglob("*") if path.is_file())
    return f"{report_of(folder)} {files}"


def explanation_of(folder: Path) -> str:
    return hashlib.sha256((folder / "features.png").read_bytes()).hexdigest()


def lines_of(name: str) -> Callable[[Path], str]:
    """Return a function that says which lines a file holds that are no comments."""

    def state(folder: Path) -> str:
        return "\n".join(line for line in (folder / name).read_text().splitlines() if not line.startswith("#"))

    return state


def scores_of(folder: Path) -> str:
    test = rp.load("synthetic[queries=60]").test
    return hashlib.sha256(load_model(folder / "model.txt").predict(test).tobytes()).hexdigest()


def prepared_lists(name: str) -> Callable[[Path], str]:
    """Return a function that says which numbers a data set of one's own holds."""

    def state(folder: Path) -> str:
        os.environ["RANKPLUG_CACHE"] = str(folder / "cache")
        os.chdir(folder)
        return str([part.fingerprint for part in rp.load(name)])

    return state


def archive_of(folder: Path) -> str:
    with zipfile.ZipFile(folder / "all.zip") as archive:
        assert archive.testzip() is None
        return str(sorted((one.filename, one.CRC) for one in archive.infolist() if one.filename.startswith("results/")))


def files_of(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file() and UNFINISHED_PREFIX not in str(path)]
    return str(sorted((str(path.relative_to(folder)), path.read_bytes()) for path in files))


def litter_of(folder: Path) -> list[str]:
    """Return what should be there only while something is made."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith(LITTER))


def made_by(
    words: Sequence[str], made: str, name: str, prepare: Callable[[Path], object] = lambda folder: None
) -> Callable[[Path], None]:
    """Return a function that puts a copy of what a command makes, once a campaign, into a folder.

    Args:
        words: the command.
        made: the beginning of the names of the files and folders that it makes.
        name: what it is called in the copy.
        prepare: makes what the command needs.
    """

    def make(folder: Path) -> None:
        template = folder.parent / f"template {made}"
        if not template.exists():
            making = folder.parent / f"making {made}"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            prepare(making)
            assert finish(start(making, words)) == 0, making.with_name(f"{making.name}.output").read_text()
            making.rename(template)
        for path in template.glob(f"{made}*"):
            copy = folder / path.name.replace(made, name, 1)
            if path.is_dir():
                shutil.copytree(path, copy)
            else:
                shutil.copy2(path, copy)

    return make


def make_cache(folder: Path) -> None:
    for made in ("kernels", "plugins"):
        if (cache_folder() / made).exists():
            shutil.copytree(cache_folder() / made, folder / "cache" / made, copy_function=link_or_copy)


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        # Onto another disk.
        shutil.copy2(source, target)


def make_text(folder: Path) -> None:
    make_cache(folder)
    noise = np.random.default_rng(0)
    lines = [f"{row % 3} qid:{row // 20} 1:{noise.random():.5f} 2:{noise.random():.5f}\n" for row in range(5_000)]
    (folder / "text.txt").write_text("".join(lines))


def make_table(folder: Path) -> None:
    make_cache(folder)
    rows = np.random.default_rng(0).permutation(20_000)
    table = {"q": rows // 20, "y": rows % 3} | {f"x{column}": rows * 0.1 + column for column in range(9)}
    pd.DataFrame(table).to_parquet(folder / "table.parquet")


make_store = made_by(SWEEP, "store", "store")
make_other = made_by(SWEEP, "store", "other")
make_model = made_by(TRAIN, "model.txt", "model.txt")
make_study = made_by([*REPRODUCE, "study"], "study", "store")
make_archive = made_by(EXPORT, "all.zip", "all.zip", make_store)


def make_unpacked(folder: Path) -> None:
    make_archive(folder)
    with zipfile.ZipFile(folder / "all.zip") as archive:
        archive.extractall(folder / "all")


def make_litter(folder: Path) -> None:
    make_store(folder)
    for number in range(40):
        (folder / "store" / ".locks").mkdir(exist_ok=True)
        path = folder / "store" / ".locks" / f"{UNFINISHED_PREFIX}{number:08}{UNFINISHED}"
        path.write_bytes(bytes(1000))
        os.utime(path, (1e9, 1e9))


CLEAN = ["results", "clean", "--outdated", "--yes"]
COMPARE = ["results", "compare", "loss = 'lambdarank'", "loss = 'ranknet'"]
GROUPS = ["results", "--group-by", "loss", "--store", "store"]
COMMANDS = {
    "sweep": Command(SWEEP, results_of("store"), weight=8),
    "sweep of processes": Command([*SWEEP, "--jobs", "2"], results_of("store"), weight=2),
    "sweep of notebooks": Command([*SWEEP, "--notebooks", "--jobs", "2"], results_of("store"), weight=1),
    "train": Command(TRAIN, scores_of, weight=6),
    "evaluate": Command(["evaluate", "model.txt", "--json"], said_in, make_model, 3),
    "prepare": Command(PREPARE, prepared_lists(PREPARE[-1]), make_text, 6, OWN_CACHE),
    "prepare of a table": Command(PREPARE_TABLE, prepared_lists(PREPARE_TABLE[-1]), make_table, 3, OWN_CACHE),
    "merge": Command(["results", "merge", "other", "--store", "store"], results_of("store"), make_other, 5),
    "merge of an archive": Command(["results", "merge", "all.zip", "--store", "store"], results_of("store"),
                                   make_archive, 3),
    "export": Command(EXPORT, archive_of, make_store, 5),
    "compact": Command(["results", "compact", "--store", "store"], results_of("store"), make_store, 3),
    "clean": Command([*CLEAN, "--store", "store"], results_of("store"), make_litter, 3),
    "results": Command(GROUPS, said_in, make_store, 2),
    "plot": Command([*GROUPS, "--plot", "plot.png"], picture_of, make_store, 2),
    "compare": Command([*COMPARE, "--store", "store"], said_in, make_store, 1),
    "verify": Command(["verify", "all"], said_in, make_unpacked, 1),
    "tune": Command(TUNE, results_of("store"), weight=3),
    "explain": Command(["explain", "model.txt", "--out", "features.png"], explanation_of, make_model, 2),
    "run": Command(["run", "model.txt", "--out", "run.txt"], lines_of("run.txt"), make_model, 3),
    "qrels": Command(["qrels", "synthetic[queries=60]", "--out", "qrels.txt"], lines_of("qrels.txt"), weight=2),
    "reproduce": Command([*REPRODUCE, "store"], report_of, weight=3),
    "reproduce with a crate": Command(CRATE, crate_of, make_study, 3, again_fails=True),
    "report": Command(["report", *REPORT, "--store", "store"], report_of, make_study, 3),
    "claims": Command(["claims", *STUDY, "--json", "--store", "store"], said_in, make_study, 2),
    "scoreboard": Command(["scoreboard", "--store", "store"], said_in, make_study, 2),
    "cite": Command(["cite", "toy"], said_in, weight=1),
    "check": Command(["check", "ranknet", "--kind", "loss"], said_in, weight=2),
    "new": Command(["new", "loss", "my_loss"], files_of, weight=3, again_fails=True),
    "lab": Command(["lab", "notebooks", "--copy-only"], files_of, weight=2),
    "plugins": Command(["plugins", "--json"], said_in, weight=1),
    "data": Command(["data", "list", "--json"], said_in, weight=1),
    "doctor": Command(["doctor", "--json"], diagnosis_of, weight=2),
}  # fmt: skip
WRITERS = ("sweep", "train", "prepare", "prepare of a table", "merge", "merge of an archive", "export", "compact",
           "clean", "plot", "new", "lab", "tune", "explain", "run", "qrels", "report", "reproduce with a crate",
           "reproduce", "sweep of processes", "sweep of notebooks")  # fmt: skip
"""Commands that write."""

"""Reads damaged files of one kind, in a process of its own whose memory is bounded; prints how many were refused.

A model whose file was damaged is refused by its digest. For the formats that are read here, by numpy, PyTorch and our
own code, the digest is made right again in most cases, as a malicious author would do it. LightGBM and XGBoost read
their own formats in code that trusts its input, so a file made to crash them does: they see the damaged file only with
the digest of the whole one.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

os.environ |= {"RANKPLUG_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.training._models import file_digest, sidecar_of

MEMORY_BEYOND_IMPORTS = 1 << 30
SECONDS_A_FILE = 60
LONGEST_MESSAGE = 5_000
SCORERS = {
    "lightgbm": ("lightgbm", "trees[rounds=3,leaves=4,min_data=1]"),
    "xgboost": ("xgboost", "trees[rounds=3,leaves=4]"),
    "torch": ("torch[epochs=1]", "mlp[layers=(4,)]"),
    "lbfgs": ("lbfgs[iterations=2]", "linear"),
    "rankboost": ("rankboost", "stumps[rounds=3]"),
}
NUMBERS = ["measure", "part", "metric", "iteration", "query", "value"]
TRUSTING = ("lightgbm", "xgboost")
DIGITS = (b"0", b"-1", b"99999999999", b"1e308", b"nan", b"null", b'"x"', b"[]", b"{}", b"true")


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a copy with some bits flipped, bytes cut, doubled or taken from elsewhere, or a number replaced."""
    letters = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        at = chance.randrange(len(letters)) if letters else 0
        way = chance.randrange(6)
        if way == 0 and letters:
            letters[at] ^= 1 << chance.randrange(8)
        elif way == 1:
            letters[at : at + chance.randrange(1, 40)] = b""
        elif way == 2:
            letters[at:at] = letters[at : at + chance.randrange(1, 40)]
        elif way == 3:
            letters[at : at + 8] = chance.choice((b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7, b"9" * 8))
        elif way == 4:
            del letters[at:]
        else:
            digits = [place for place in range(at, min(at + 200, len(letters))) if chr(letters[place]).isdigit()]
            if digits:
                letters[digits[0] : digits[0] + 1] = chance.choice(DIGITS)
    return bytes(letters)


def model_reader(kind: str, folder: Path) -> Callable[[random.Random], object]:
    backend, scorer = SCORERS[kind]
    features = np.random.default_rng(0).random((100, 3), np.float32)
    lists = rp.Lists(features, np.arange(100) % 3, np.arange(0, 101, 10))
    path = rp.fit(backend, scorer=scorer, loss="mse", train=lists, valid=lists, progress=False).save(folder / "model")
    whole, beside = path.read_bytes(), sidecar_of(path)
    record = beside.read_bytes()

    def read(chance: random.Random) -> object:
        content = whole if chance.random() < 0.3 else damaged(whole, chance)
        path.write_bytes(content)
        text = record
        if kind not in TRUSTING and chance.random() < 0.9:
            sidecar = json.loads(record)
            text = json.dumps(sidecar | {"digest": file_digest(content, sidecar)}).encode()
        beside.write_bytes(text if content is not whole else damaged(text, chance))
        return rp.load_model(path).predict(lists)

    return read


def same_numbers(store: rp.Store) -> Callable[[], object]:
    """Return a function that asks a store, which answers an error of ours or the numbers that it has now."""
    whole = store.frame()

    def ask() -> object:
        frame = store.frame()
        if not frame[NUMBERS].equals(whole[NUMBERS]):
            raise AssertionError("damaged files passed for other numbers")
        return rp.results(store)

    return ask


def tiny_store(folder: Path) -> rp.Store:
    store = rp.Store(folder / "store")
    grid = {"loss": ["mse", "ranknet"], "backend": "lightgbm", "scorer": "trees[rounds=2,leaves=3,min_data=1]"}
    data = "synthetic[queries=20,documents=5]"
    rp.sweep({**grid, "metrics": "ndcg@5"}, data=data, store=store, progress=False, keep_scores=True)
    return store


def result_reader(folder: Path) -> Callable[[random.Random], object]:
    store = tiny_store(folder)
    ask, path = same_numbers(store), store.paths()[0]
    whole = path.read_bytes()

    def read(chance: random.Random) -> object:
        path.write_bytes(damaged(whole, chance))
        return ask()

    return read


def index_reader(folder: Path) -> Callable[[random.Random], object]:
    import rankplug.store.index.result_index as result_index

    store = tiny_store(folder)
    result_index.WORTH_INDEXING = 1
    ask = same_numbers(store)
    files = sorted(path for path in (store.folder / result_index.INDEX).iterdir() if path.stat().st_size)
    wholes = {path: path.read_bytes() for path in files}

    def read(chance: random.Random) -> object:
        for path in (store.folder / result_index.INDEX).iterdir():
            path.unlink()
        for path, whole in wholes.items():
            path.write_bytes(whole)
        path = chance.choice(files)
        path.write_bytes(damaged(wholes[path], chance))
        return ask()

    return read


def archive_reader(folder: Path) -> Callable[[random.Random], object]:
    from rankplug.store import export, merge

    store = tiny_store(folder)
    expected, path = store.frame()[NUMBERS], export(store, folder / "all.zip")
    whole = path.read_bytes()

    def read(chance: random.Random) -> object:
        path.write_bytes(damaged(whole, chance))
        here = rp.Store(folder / f"here-{chance.random()}")
        merge(here, [path])
        order = list(NUMBERS)
        found = here.frame()[NUMBERS].sort_values(order, ignore_index=True)
        if not found.equals(expected.sort_values(order, ignore_index=True)):
            raise AssertionError("a damaged archive passed for other numbers")
        return found

    return read


def table_reader(folder: Path) -> Callable[[random.Random], object]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rows = range(300)
    table = pa.table(
        {"q": [f"query {row // 10}" for row in rows], "y": [row % 3 for row in rows], "x": [row * 0.3 for row in rows],
         "kind": pa.array([str(row % 4) for row in rows]).dictionary_encode(), "v": [[row, 1.5] for row in rows]}
    )  # fmt: skip
    parquet.write_table(table, folder / "a.parquet", row_group_size=100)
    for name, new in (("b.arrow", pa.ipc.new_file), ("c.arrow", pa.ipc.new_stream)):
        with new(str(folder / name), table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    wholes = {path: path.read_bytes() for path in sorted(folder.iterdir())}

    def read(chance: random.Random) -> object:
        path = chance.choice(list(wholes))
        path.write_bytes(damaged(wholes[path], chance))
        return rp.Lists.from_table(path, query="q", label="y", document=chance.choice((None, "kind")))

    return read


def run_reader(folder: Path) -> Callable[[random.Random], object]:
    from rankplug.data import write_qrels, write_run

    lists = rp.load("synthetic[queries=10,documents=5]").test
    files = (folder / "run.txt", folder / "qrels.txt")
    write_run(files[0], lists, lists.features[:, 0])
    write_qrels(files[1], lists)
    wholes = {path: path.read_bytes() for path in files}

    def read(chance: random.Random) -> object:
        for path, whole in wholes.items():
            path.write_bytes(whole if chance.random() < 0.5 else damaged(whole, chance))
        return rp.evaluate_run(*files, "ndcg@5")

    return read


def cache_reader(folder: Path) -> Callable[[random.Random], object]:
    import rankplug_data.public.sources as sources

    sources.cache_folder = lambda: folder / "cache"
    text = folder / "text.txt"
    text.write_text("".join(f"{n % 3} qid:{n // 10} 1:{n} 2:{n / 3} # docid = D{n}\n" for n in range(200)))
    rp.load({"name": "letor-file", "path": str(text)})
    files = sorted(path for path in (folder / "cache" / "data").glob("letor-file-*/*") if path.is_file())
    wholes = {path: path.read_bytes() for path in files}

    def read(chance: random.Random) -> object:
        for path, whole in wholes.items():
            path.write_bytes(whole)
        path = chance.choice(files)
        path.write_bytes(damaged(wholes[path], chance))
        return [part.validate() for part in rp.load({"name": "letor-file", "path": str(text)})]

    return read


def main(kinds: list[str], folder: Path, examples: int, seed: int) -> None:
    """Read the examples; a file that takes too long ends the process with an alarm."""
    makers = {"results": result_reader, "cache": cache_reader, "index": index_reader, "archive": archive_reader,
              "tables": table_reader, "runs": run_reader}  # fmt: skip
    readers = {}
    for kind in kinds:
        (folder / kind).mkdir()
        readers[kind] = makers[kind](folder / kind) if kind in makers else model_reader(kind, folder / kind)
    faulthandler.enable()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BEYOND_IMPORTS, resource.RLIM_INFINITY))
    counts = {kind: {"refused": 0, "read": 0} for kind in kinds}
    for kind, read in readers.items():
        for example in range(examples):
            signal.alarm(SECONDS_A_FILE)
            print(kind, example, file=sys.stderr, flush=True)
            try:
                read(random.Random(f"{kind} {seed} {example}"))
                counts[kind]["read"] += 1
            except RankplugError as error:
                if len(str(error)) > LONGEST_MESSAGE:
                    raise
                counts[kind]["refused"] += 1
    signal.alarm(0)
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1].split(","), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))

"""Reads damaged files of one kind, in a process of its own whose memory is bounded; prints how many were refused.

A model whose file was damaged is refused by its digest. For the formats that are read here, by numpy, PyTorch and our
own code, the digest is made right again in most cases, as a malicious author would do it. LightGBM and XGBoost read
their own formats in code that trusts its input, so a file made to crash them does: they see the damaged file only with
the digest of the whole one.
"""

from __future__ import annotations

import faulthandler
import hashlib
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
from rankplug.training.models import sidecar_of

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
TRUSTING = ("lightgbm", "xgboost")
NUMBERS = (b"0", b"-1", b"99999999999", b"1e308", b"nan", b"null", b'"x"', b"[]", b"{}", b"true")


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
                letters[digits[0] : digits[0] + 1] = chance.choice(NUMBERS)
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
            digest = hashlib.blake2b(content, digest_size=16).hexdigest()
            text = json.dumps(json.loads(record) | {"digest": digest}).encode()
        beside.write_bytes(text if content is not whole else damaged(text, chance))
        return rp.load_model(path).predict(lists)

    return read


def result_reader(folder: Path) -> Callable[[random.Random], object]:
    store = rp.Store(folder / "store")
    scorer = "trees[rounds=2,leaves=3,min_data=1]"
    grid = {"loss": "mse", "backend": "lightgbm", "scorer": scorer, "metrics": "ndcg@5"}
    outcome = rp.sweep(grid, data="synthetic[queries=20,documents=5]", store=store, progress=False)
    trial, path = outcome.plan.waiting[0], store.paths()[0]
    whole = path.read_bytes()

    def read(chance: random.Random) -> object:
        path.write_bytes(damaged(whole, chance))
        store.read(trial)
        store.frame()
        return rp.results(store)

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
    makers = {"results": result_reader, "cache": cache_reader}
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

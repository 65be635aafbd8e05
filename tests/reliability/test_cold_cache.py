"""A process that compiles, one that finds everything compiled, and one that cannot keep what it compiles agree to the
last bit, in whatever order they meet the functions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib, json, sys
import numpy as np
import rankplug as rp
from rankplug.registry import registry

generator = np.random.default_rng(3)
starts = np.concatenate(([0], np.cumsum([1, 2, 3, 5, 8, 17, 33, 40, 64, 101])))
scores = generator.normal(size=starts[-1])
labels = generator.integers(0, 5, starts[-1]).astype(float)


def numbers(kind, name):
    if kind == "metric":
        return [rp.metric(name)(scores, labels, starts)]
    if kind == "sampler":
        return [rp.sampler(name).draw(scores, starts, seed=5)]
    specification = registry().find("loss", name).specification
    given = labels if specification.largest_label is None else np.minimum(labels, specification.largest_label)
    ways = [("gradient", None), ("newton", None), ("gradient", "gumbel[samples=2]")]
    return [
        array
        for step, sampler in ways
        for array in rp.loss(name).evaluate(scores, given, starts, step=step, sampler=sampler, seed=5)
    ]


found = {}
for kind, name in json.loads(sys.argv[1]):
    data = b"".join(np.ascontiguousarray(array).tobytes() for array in numbers(kind, name))
    found[f"{kind} {name}"] = hashlib.blake2b(data).hexdigest()
print(json.dumps(found))
"""
HANDFUL = [("loss", "ranknet"), ("metric", "ndcg"), ("sampler", "gumbel")]
LOSSES = (
    "approx_ndcg",
    "cross_entropy",
    "exp_gain",
    "lambdarank",
    "logrank_l3",
    "umart",
    "urank",
    "xe_ndcg",
    "yetirank",
)
SESSION = """
from rankplug import list_loss

packaged = registry().find("loss", "ranknet").specification
theirs = packaged.load()
ours = list_loss(theirs.function, constants=theirs.constants, constants_length=theirs.constants_length)
registry().add(rp.LossSpecification(
    name="same_again", summary="the same", implementation=ours, parameters=packaged.parameters,
    shift_invariant=packaged.shift_invariant,
))
assert not ours.importable
found = {}
"""


def digests(names: list[tuple[str, str]], cache: Path, hash_seed: int, program: str = PROGRAM) -> dict[str, str]:
    environment = os.environ | {"RANKPLUG_CACHE": str(cache), "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(names)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    assert len(found) == len(names)
    return found


@pytest.mark.slow
def test_a_loss_of_a_session_gives_the_bits_of_the_same_loss_of_a_package(tmp_path: Path) -> None:
    cold = digests(HANDFUL, tmp_path, hash_seed=1)
    session = PROGRAM.replace("found = {}", SESSION)
    assert digests([("loss", "same_again")], tmp_path, 2, session)["loss same_again"] == cold["loss ranknet"]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_full_cache_gives_the_bits_that_an_empty_one_gives(tmp_path: Path) -> None:
    names = HANDFUL + [("loss", name) for name in LOSSES]
    cold = digests(names, tmp_path, hash_seed=1)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert written
    assert digests(names[::-1], tmp_path, hash_seed=2) == cold
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == written


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_so_it_does_for_lists_that_are_summed_without_a_look_at_pairs(tmp_path: Path) -> None:
    names = [("loss", name) for name in ("ranknet", "lambdarank", "exp_gain")]
    program = PROGRAM.replace("64, 101]", "64, 3_500]")
    cold = digests(names, tmp_path, hash_seed=1, program=program)
    assert digests(names, tmp_path, hash_seed=2, program=program) == cold
    assert any("long_lists" in path.name for path in tmp_path.rglob("*.nbc"))

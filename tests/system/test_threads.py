"""One number of threads reaches every engine, and is put back as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest
import torch
from threadpoolctl import threadpool_info

from rankplug.errors import RankplugError
from rankplug.system import WAITING, busy_threads, thread_limits, threads, threads_for, use_threads


def pools(kind: str | None = None) -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if kind in (None, pool["user_api"])]


def test_a_block_limits_all_engines_and_restores_them(monkeypatch):
    monkeypatch.setenv("RANKPLUG_THREADS", "3")
    before_torch, before_pools = torch.get_num_threads(), pools()
    with use_threads(1) as number:
        assert (number, threads(), torch.get_num_threads()) == (1, 1, 1)
        assert set(pools()) == {1}
        with use_threads(2):
            assert (threads(), torch.get_num_threads()) == (2, 2)
            assert set(pools("openmp")) == {2}
            assert set(pools("blas")) == {1}, "its pools would wait for ours, and change last bits"
        assert (threads(), torch.get_num_threads()) == (1, 1)
    assert (threads(), torch.get_num_threads(), pools()) == (3, before_torch, before_pools)


def test_overlapping_blocks_of_two_threads_leave_no_limit(monkeypatch):
    monkeypatch.setenv("RANKPLUG_THREADS", "3")
    before = threads(), torch.get_num_threads(), pools()
    steps = [threading.Event() for _ in range(3)]
    seen = {}

    def first():
        with use_threads(1):
            steps[0].set()
            steps[1].wait(10)
            seen["first"] = threads(), torch.get_num_threads(), set(pools())
        steps[2].set()

    def second():
        steps[0].wait(10)
        with use_threads(2):
            steps[1].set()
            steps[2].wait(10)
            seen["second"] = threads(), torch.get_num_threads(), set(pools("openmp")), set(pools("blas"))

    workers = [threading.Thread(target=function) for function in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == {"first": (1, 1, {1}), "second": (2, 2, {2}, {1})}
    assert (threads(), torch.get_num_threads(), pools()) == before
    with ThreadPoolExecutor(1) as new:
        assert new.submit(torch.get_num_threads).result() == before[1]


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "²", "1025", "9" * 5000])
def test_an_impossible_number_in_the_environment_is_named(monkeypatch, text):
    monkeypatch.setenv("RANKPLUG_THREADS", text)
    with pytest.raises(RankplugError, match="RANKPLUG_THREADS must be a whole number from 1 to 1024"):
        threads()


def test_a_nested_block_of_the_same_number_finds_no_pools(monkeypatch):
    import threadpoolctl

    with use_threads(1):
        with monkeypatch.context() as patched:
            patched.setattr(threadpoolctl, "ThreadpoolController", lambda: pytest.fail("the pools were looked for"))
            with use_threads(1) as number:
                assert number == threads() == 1
        with use_threads(2):
            assert threads() == 2
        assert threads() == 1
        assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} == {1}


@pytest.fixture
def eight_cores(monkeypatch):
    """Make a machine of eight cores on which nobody computes and nobody gave a limit."""
    for name in thread_limits.LIMITS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(thread_limits, "_limit", ContextVar("limit", default=None))
    monkeypatch.setattr(thread_limits, "available_cores", lambda: 8)
    monkeypatch.setattr(thread_limits.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(thread_limits, "busy_threads", lambda: 0)
    return monkeypatch


@pytest.mark.parametrize(("milliseconds", "expected"), [(0.1, 1), (2.9, 1), (3.1, 2), (6.1, 4), (12.1, 8), (1000.0, 8)])
def test_threads_are_as_many_as_the_work_is_worth(eight_cores, milliseconds, expected):
    assert threads_for(milliseconds) == expected
    with use_threads(2):
        assert threads_for(milliseconds) == min(expected, 2)


@pytest.mark.parametrize(("others", "expected"), [(0, 8), (1, 7), (4, 5), (8, 4), (100, 4)])
def test_a_busy_machine_leaves_at_least_half_of_the_cores(eight_cores, others, expected):
    eight_cores.setattr(thread_limits, "busy_threads", lambda: others)
    assert threads_for(1000.0) == expected
    assert threads_for(1000.0, same_bits=False) == 8, "where bits depend on it, the number must not depend on the hour"
    assert threads_for(12.1, same_bits=False) == 1, "so that more work has to be at stake"
    eight_cores.setenv("OMP_NUM_THREADS", "6,2")
    assert threads_for(1000.0) == 6 == threads(), "who gives a number gets it"
    eight_cores.setenv("RANKPLUG_THREADS", "3")
    assert threads_for(1000.0) == 3 == threads()


def test_threads_of_other_programs_are_counted():
    quiet = busy_threads()
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        time.sleep(0.5)
        assert busy_threads() >= quiet + 1 or busy_threads() >= 3
    finally:
        for program in programs:
            program.kill()
            program.wait()


def test_waiting_pools_sleep_unless_the_user_sets_them():
    def waiting(**variables: str) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", *WAITING)}
        program = (
            "import rankplug, json, os, sys; assert 'numpy' not in sys.modules; print(json.dumps(dict(os.environ)))"
        )
        found = subprocess.run(
            [sys.executable, "-c", program], env=clean | variables, capture_output=True, check=True, text=True
        )
        return {name: value for name, value in json.loads(found.stdout).items() if name in WAITING}

    assert waiting() == WAITING
    assert waiting(GOMP_SPINCOUNT="5") == WAITING | {"GOMP_SPINCOUNT": "5"}
    assert waiting(OMP_WAIT_POLICY="active") == {}

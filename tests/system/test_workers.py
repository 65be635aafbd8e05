"""Work is shared out so that every list is done exactly once, whatever its length, and errors come back."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankplug.system import use_threads, workers

costs = st.lists(st.floats(1, 1e7), min_size=1, max_size=60).map(np.array)


@given(costs, st.integers(1, 8))
def test_chunks_cover_every_list_exactly_once(cost, number):
    chunks = workers.chunks_of(cost, number)
    assert sorted(i for begin, end in chunks for i in range(begin, end)) == list(range(cost.size))
    assert all(begin < end for begin, end in chunks)


@given(costs, st.integers(2, 8))
def test_no_chunk_costs_more_than_a_list_and_a_fair_share(cost, number):
    share = max(cost.sum() / (number * workers.CHUNKS_A_THREAD), workers.WORTH_A_THREAD / 4)
    for begin, end in workers.chunks_of(cost, number):
        assert cost[begin:end].sum() <= share + cost[begin:end].max() + 1e-3 or end - begin == cost.size


@given(costs, st.integers(1, 4))
def test_running_touches_every_list_exactly_once(cost, number):
    done = np.zeros(cost.size, int)

    def work(begin, end):
        done[begin:end] += 1

    with use_threads(number):
        workers.run(work, workers.chunks_of(cost, number))
    assert done.tolist() == [1] * cost.size


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("bad", [0, 3])
def test_an_error_comes_back_to_the_caller(number, bad):
    def work(begin, end):
        time.sleep(0.001)
        if begin == bad:
            raise ValueError(f"list {begin}")

    with use_threads(number), pytest.raises(ValueError, match=f"list {bad}"):
        workers.run(work, [(i, i + 1) for i in range(6)])


def test_work_inside_work_does_not_wait_for_itself():
    done = []

    def outer(begin, end):
        workers.run(lambda first, last: done.append((begin, first)), [(0, 1), (1, 2)])

    with use_threads(2):
        workers.run(outer, [(i, i + 1) for i in range(8)])
    assert sorted(done) == [(i, j) for i in range(8) for j in range(2)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_makes_threads_of_its_own():
    def count() -> int:
        done: list[int] = []
        with use_threads(2):
            workers.run(lambda begin, end: done.append(begin), [(i, i + 1) for i in range(10)])
        return len(done)

    assert count() == 10
    child = os.fork()
    if child == 0:
        os._exit(count())
    timer = threading.Timer(20, os.kill, (child, 9))  # a hanging child
    timer.start()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    assert os.waitstatus_to_exitcode(status) == 10

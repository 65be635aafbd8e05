"""One number of threads reaches every engine, and is put back as it was."""

from __future__ import annotations

import pytest
import torch
from threadpoolctl import threadpool_info

from rankplug.errors import RankplugError
from rankplug.system import available_cores, threads, use_threads


def pools(kind: str | None = None) -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if kind in (None, pool["user_api"])]


def test_a_block_sets_our_number_torch_and_openmp_keeps_blas_to_one_and_restores_them(monkeypatch):
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


def test_an_error_inside_a_block_restores_too(monkeypatch):
    monkeypatch.setenv("RANKPLUG_THREADS", "2")
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), use_threads(1):
        raise ZeroDivisionError
    assert (threads(), torch.get_num_threads()) == (2, before)


def test_the_environment_sets_the_number(monkeypatch):
    monkeypatch.setenv("RANKPLUG_THREADS", "5")
    assert threads() == 5
    monkeypatch.delenv("RANKPLUG_THREADS")
    assert threads() == available_cores() >= 1


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5"])
def test_an_impossible_number_in_the_environment_is_named(monkeypatch, given):
    monkeypatch.setenv("RANKPLUG_THREADS", given)
    with pytest.raises(RankplugError) as caught:
        threads()
    assert str(caught.value) == f"RANKPLUG_THREADS must be a whole number of at least 1, got {given!r}"


def test_a_block_needs_at_least_one_thread():
    sentence = "the number of threads must be a whole number of at least 1, got 0"
    with pytest.raises(RankplugError, match=sentence), use_threads(0):
        pass


def test_a_block_inside_another_of_the_same_number_looks_for_no_pools(monkeypatch):
    import threadpoolctl

    with use_threads(1):
        with monkeypatch.context() as patched:
            patched.setattr(threadpoolctl, "threadpool_limits", lambda **_: pytest.fail("the pools were looked for"))
            with use_threads(1) as number:
                assert number == threads() == 1
        with use_threads(2):
            assert threads() == 2
        assert threads() == 1
        assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} == {1}

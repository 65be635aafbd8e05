"""Every use of randomness in a trial has a stream of its own, and the same one in every process."""

from __future__ import annotations

import itertools
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from rankplug.system import generator, stream, trial_seed

PURPOSES = [("split",), ("initialisation",), ("initialisation", "mlp"), ("batches",), ("noise",), ("noise", 1), (1,)]


@given(st.integers(0, 2**63), st.sampled_from(PURPOSES))
def test_a_purpose_gives_the_same_numbers_again(seed, purpose):
    assert generator(seed, *purpose).random(4).tolist() == generator(seed, *purpose).random(4).tolist()
    assert 0 <= stream(seed, *purpose) < 2**63


@given(st.integers(0, 2**63))
def test_no_two_purposes_share_a_stream(seed):
    assert len({stream(seed, *purpose) for purpose in PURPOSES}) == len(PURPOSES)
    assert len({generator(seed, *purpose).random() for purpose in PURPOSES}) == len(PURPOSES)


def test_trials_have_different_seeds_whatever_the_master():
    seeds = [trial_seed(master, trial) for master, trial in itertools.product(range(20), range(50))]
    assert len(set(seeds)) == len(seeds)


def test_streams_do_not_depend_on_the_process():
    code = "from rankplug.system import stream; print(stream(7, 'split', 'a'))"
    printed = {
        subprocess.check_output([sys.executable, "-c", code], text=True, env={"PYTHONHASHSEED": hash_seed}).strip()
        for hash_seed in ("1", "2")
    }
    assert printed == {str(stream(7, "split", "a"))}

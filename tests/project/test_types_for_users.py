"""Type checkers know what rankplug exports: no public name is ``Any`` to a user, everyday calls have their types."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankplug as rp

EVERYDAY = {
    'rp.load("mq2007").train': "rankplug.data.lists.Lists",
    'rp.fit("lightgbm", loss="xe_ndcg", train=lists)': "rankplug.training._models.Model",
    'rp.sweep({"loss": "xe_ndcg"}, data="mq2007").frame()': "pandas.core.frame.DataFrame",
    'rp.loss("xe_ndcg").evaluate([0.0], [1.0], [0, 1]).gradient': "numpy.ndarray",
    'rp.metric("ndcg@5").mean([0.0], [1.0], [0, 1])': "float",
    'rp.Ranker(loss="xe_ndcg").fit([[0.0]], [1.0], qid=[1])': "rankplug.training.ranker.Ranker",
    "rp.list_loss(print)": "rankplug.losses.list_losses.ListLoss",
    'rp.results(metric="ndcg@5")': "pandas.core.frame.DataFrame",
}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_public_name_is_any_to_a_user(tmp_path: Path) -> None:
    names = [f"rp.{name}" for name in rp.__all__]
    lines = ["import rankplug as rp", "lists: rp.Lists", *(f"reveal_type({one})" for one in [*names, *EVERYDAY])]
    (tmp_path / "user.py").write_text("\n".join(lines))
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "user.py"], cwd=tmp_path, capture_output=True, text=True)
    types = re.findall(r'note: Revealed type is "(.*)"$', done.stdout, re.MULTILINE)
    assert len(types) == len(names) + len(EVERYDAY), done.stdout
    unknown = [name for name, kind in zip(names, types, strict=False) if re.search(r"^Any$|-> Any$", kind)]
    assert not unknown
    for call, kind in zip(EVERYDAY, types[len(names) :], strict=True):
        assert kind.startswith(EVERYDAY[call]), f"{call} is {kind}"

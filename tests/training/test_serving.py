"""A model that was trained with a loss of ours is read and predicts where rankplug is not installed."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest

import rankplug as rp

ELSEWHERE = """
import pickle, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0].startswith("rankplug"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
import numpy
ranker = pickle.load(open(sys.argv[1], "rb"))
numpy.save(sys.argv[3], ranker.predict(numpy.load(sys.argv[2])))
"""


@pytest.mark.slow
def test_a_pickled_ranker_of_lightgbm_says_what_it_needs_or_needs_nothing_of_ours(tmp_path: Path) -> None:
    features = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    ranker = lgb.LGBMRanker(objective=rp.lightgbm_objective("xe_ndcg"), n_estimators=3, min_child_samples=1, verbose=-1)
    ranker.fit(features, (features[:, 0] > 0).astype(int), group=[10] * 6)
    scores = ranker.predict(features)
    np.save(tmp_path / "features.npy", features)

    def read_elsewhere(model: object) -> subprocess.CompletedProcess[str]:
        (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
        files = [str(tmp_path / name) for name in ("model.pickle", "features.npy", "scores.npy")]
        return subprocess.run([sys.executable, "-c", ELSEWHERE, *files], capture_output=True, text=True, check=False)

    assert "No module named 'rankplug" in read_elsewhere(ranker).stderr
    for model in (ranker.booster_, ranker.set_params(objective="lambdarank")):
        done = read_elsewhere(model)
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), scores)
        (tmp_path / "scores.npy").unlink()

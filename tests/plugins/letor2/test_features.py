"""Every single feature as a ranker: our metrics beside the numbers that LETOR 2.0 prints."""

from __future__ import annotations

import csv
import os
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import rankplug as rp

BESIDE = Path(__file__).parents[3].parent / "shared" / "data"
FOLDERS = [*os.environ.get("RANKPLUG_DATA", "").split(os.pathsep), str(BESIDE)]
CONVENTIONS = {"NDCG": "ndcg@{k}[discount=jk,empty=0]", "P": "precision@{k}[empty=0]", "MAP": "map[empty=0]"}
HALF_OF_THE_LAST_DIGIT = 0.5e-6


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Load all 106 queries, each tested once."""
    folders = [folder for folder in filter(None, FOLDERS) if (Path(folder) / "OHSUMED-LETOR2.tar.xz").exists()]
    if not folders:
        pytest.skip(f"OHSUMED-LETOR2.tar.xz is neither in RANKPLUG_DATA nor in {BESIDE}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKPLUG_DATA", folders[0])
        patch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path_factory.mktemp("cache"))
        parts = [rp.load("ohsumed-letor2", fold=fold).test for fold in range(1, 6)]
    starts = np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts]))])
    return np.vstack([part.features for part in parts]), np.concatenate([part.labels for part in parts]), starts


def printed():
    with resources.files("rankplug_letor2").joinpath("features.csv").open(encoding="utf-8") as file:
        return [(int(row["feature"]), row["measure"], float(row["value"])) for row in csv.DictReader(file)]


def test_the_release_has_the_published_numbers(release):
    features, labels, starts = release
    assert features.shape == (16_140, 25) and len(starts) == 107
    assert np.bincount(labels.astype(int)).tolist() == [11_303, 2_585, 2_252]


@pytest.mark.parametrize("family", CONVENTIONS)
def test_every_printed_number_of_every_feature_is_ours_as_printed(release, family):
    features, labels, starts = release
    rows = [row for row in printed() if row[1].partition("@")[0] == family]
    assert len(rows) == (25 if family == "MAP" else 250)
    for feature, measure, value in rows:
        metric = rp.metric(CONVENTIONS[family].format(k=measure.partition("@")[2]))
        ours = metric(features[:, feature - 1].astype(float), labels, starts).mean()
        assert abs(ours - value) <= HALF_OF_THE_LAST_DIGIT + 1e-12, (feature, measure)

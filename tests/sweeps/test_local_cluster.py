"""A Dask cluster on this machine leaves this process as it was."""

from __future__ import annotations

import os

import pytest

from rankplug.sweeps._cluster import Cluster


@pytest.mark.slow
def test_a_local_cluster_leaves_the_environment_as_it_was() -> None:
    before = dict(os.environ)
    cluster = Cluster("local", 1, 2, notebooks=False)
    try:
        assert dict(os.environ) == before
    finally:
        cluster.close()

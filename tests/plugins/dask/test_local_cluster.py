"""A Dask cluster on this machine accepts its own processes only, and leaves this process unchanged."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from rankplug_dask import DaskWorkers


@pytest.fixture(scope="module")
def cluster() -> Iterator[DaskWorkers]:
    """Start a cluster of one worker."""
    made = DaskWorkers("local", 1, 2, notebooks=False)
    yield made
    made.close()


def test_a_connection_without_credentials_is_refused(cluster: DaskWorkers) -> None:
    import distributed

    address = cluster.client.scheduler.address
    assert address.startswith("tls://")
    stranger = distributed.Security.temporary()
    for target, security in ((address.replace("tls://", "tcp://"), None), (address, stranger)):
        with pytest.raises(OSError):
            distributed.Client(target, security=security, timeout=2, set_as_default=False)
    assert cluster.client.submit(sum, [1, 2]).result(timeout=20) == 3
    scheduler = cluster._local.scheduler
    for page in ("info/main/workers.html", "json/identity.json", "metrics"):
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{scheduler.http_server.port}/{page}", timeout=5)


def test_a_local_cluster_leaves_the_environment_unchanged() -> None:
    before = dict(os.environ)
    made = DaskWorkers("local", 1, 2, notebooks=False)
    try:
        assert dict(os.environ) == before
    finally:
        made.close()

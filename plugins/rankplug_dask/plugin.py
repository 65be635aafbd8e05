"""The functions that this package offers."""

from __future__ import annotations

from rankplug import hookimpl


@hookimpl
def rankplug_functions() -> dict[str, str]:
    """Offer the functions; sweeps look up ``cluster_workers``."""
    return {
        "fit_on_cluster": "rankplug_dask.fitting:fit_on_cluster",
        "cluster_workers": "rankplug_dask.workers:DaskWorkers",
    }

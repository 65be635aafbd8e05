"""Functions of this package that are attributes of ``rankplug``."""

from __future__ import annotations

from rankplug import hookimpl


@hookimpl
def rankplug_functions() -> dict[str, str]:
    """Offer the functions."""
    return {"evaluate_run": "rankplug_trec:evaluate_run", "pyterrier": "rankplug_trec:pyterrier"}

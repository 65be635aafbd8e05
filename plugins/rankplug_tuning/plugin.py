"""The function that this package offers."""

from __future__ import annotations

from rankplug import hookimpl


@hookimpl
def rankplug_functions() -> dict[str, str]:
    """Offer the function."""
    return {"tune": "rankplug_tuning.search:tune"}

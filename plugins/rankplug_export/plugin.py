"""Functions of this package that ``model.export`` and ``model.compile`` call."""

from __future__ import annotations

from rankplug import hookimpl


@hookimpl
def rankplug_functions() -> dict[str, str]:
    """Offer the functions."""
    return {
        "export_model": "rankplug_export.formats:export_model",
        "compile_model": "rankplug_export.compiled:compile_model",
    }

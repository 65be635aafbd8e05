"""Metadata of a run after ir_metadata: what a program can know of platform, implementation, method and data.

Research goal and actor are for a person to add.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Any


def run_metadata(
    combination: Mapping[str, Any], versions: Mapping[str, str], dataset: str, trained_on: str, tag: str
) -> dict[str, Any]:
    """Return the metadata of a run.

    Args:
        combination: texts of backend, scorer, loss and sampler, and the seed.
        versions: of Python and packages.
        dataset: what is ranked, in words.
        trained_on: what the model has learnt from, in words.
        tag: name of the run.
    """
    libraries = [f"{name}=={version}" for name, version in versions.items() if name != "python"]
    parts = ("backend", "scorer", "loss", "sampler", "seed")
    method = {name: combination[name] for name in parts if combination.get(name) not in (None, "")}
    return {
        "tag": tag,
        "platform": {
            "hardware": {"cpu": {"architecture": platform.machine(), "number of cores": os.cpu_count()}},
            "operating system": {"kernel": platform.release(), "distribution": platform.system()},
            "software": {"libraries": {"python": libraries}},
        },
        "implementation": {"source": {"lang": [f"python {versions.get('python', platform.python_version())}"]}},
        "method": {"automatic": True, "retrieval": [{"name": "re-ranking by a learnt scorer", **method}]},
        "data": {"test collection": {"name": dataset}, "training data": [{"name": trained_on}] if trained_on else []},
    }

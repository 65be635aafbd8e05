"""Words of ``rankplug sweep``: a file, a study or a grid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from rankplug.errors import GrammarError, UnknownPluginError, did_you_mean
from rankplug.studies import PROFILES, study
from rankplug.sweeps import Sweep, read_file, read_words


def read_sweeps(words: Sequence[str], profile: str | None = None) -> list[Sweep]:
    """Read sweeps from words of the command line."""
    if len(words) == 1 and "=" not in words[0]:
        path = Path(words[0])
        if path.suffix in (".yaml", ".yml") or path.is_file():
            return [read_file(path, profile)]
        return read_study(words[0], profile or "quick")
    if profile is not None:
        raise GrammarError(f"a grid in words has no profile {profile}; name a file that has one, or a study")
    return [read_words(words)]


def read_study(name: str, profile: str) -> list[Sweep]:
    """Return the sweeps that a study needs at a profile."""
    if profile not in PROFILES:
        raise GrammarError(f"there is no profile {profile}: {did_you_mean(profile, PROFILES)}")
    try:
        chosen = study(name)
    except UnknownPluginError as error:
        raise GrammarError(f"{name} is neither a file nor a study, nor a grid such as loss=xe_ndcg ({error})") from None
    return [
        Sweep(tuple(runs.grid(model) for model in runs.models), runs.folds, runs.trials)
        for runs in chosen.runs(cast(Any, profile), None)
    ]

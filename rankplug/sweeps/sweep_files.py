"""Sweeps read from a YAML file or from words of the command line, with one grammar for both.

A file holds the parts of a grid, or a list of grids under ``grids``, with ``folds`` and ``trials`` beside them.
``profiles`` names changes of it for occasions::

    dataset: synthetic
    backend: [lightgbm, xgboost]
    loss: [xe_ndcg, "lambdarank[sigma=[1,2]]"]
    trials: 5
    profiles:
      smoke: {dataset: "synthetic[queries=60]", trials: 1}

>>> read_words(["loss=[mse,xe_ndcg]", "backend=lightgbm", "dataset=synthetic[queries=60]"]).grids[0]["backend"]
'lightgbm'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from rankplug.errors import GrammarError, did_you_mean, shown
from rankplug.registry import DEEPEST, parse
from rankplug.store import Combination
from rankplug.sweeps.plans import Sweep, read_folds

BESIDE_GRIDS = ("grids", "folds", "trials", "profiles")


def read_words(words: Iterable[str]) -> Sweep:
    """Read a grid such as ``loss=[mse,xe_ndcg] backend=lightgbm``."""
    return Sweep((parse(f"grid[{','.join(words)}]").parameters,))


def read_file(path: Path, profile: str | None = None) -> Sweep:
    """Read the sweep in a YAML file, with the changes of a profile."""
    try:
        text = path.read_bytes()
        _check_depth(text, path)
        content = yaml.safe_load(text)
    except OSError as error:
        raise GrammarError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
        raise GrammarError(f"{path} is not text in UTF-8 ({error.reason}); write it again as such") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        raise GrammarError(f"{where} is not YAML: {getattr(error, 'problem', error)}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise GrammarError(f"{path} holds a value that cannot be read: {str(error)[:200]}") from None
    if not isinstance(content, Mapping):
        raise GrammarError(f"{path} must map the parts of a combination to values, such as loss: [xe_ndcg, lambdarank]")
    profiles = content.get("profiles") or {}
    if not isinstance(profiles, Mapping) or not all(isinstance(profile, Mapping) for profile in profiles.values()):
        raise GrammarError(f"{path}: profiles must map names to changes, such as smoke: {{trials: 1}}")
    if profile is not None and profile not in profiles:
        raise GrammarError(f"{path} has no profile {profile}: {did_you_mean(profile, profiles)}")
    chosen = {**content, **(profiles[profile] if profile else {})}
    known = [*Combination.model_fields, *BESIDE_GRIDS]
    for name in chosen:
        if name not in known:
            raise GrammarError(f"{path}: a sweep has no part {name}: {did_you_mean(str(name), known)}")
    shared = {name: value for name, value in chosen.items() if name not in BESIDE_GRIDS}
    given = chosen.get("grids") or [{}]
    if not isinstance(given, list) or not all(isinstance(grid, Mapping) for grid in given):
        raise GrammarError(f"{path}: grids must be a list of grids, such as - loss: [mse], got {shown(given)}")
    grids = tuple({**shared, **grid} for grid in given)
    trials = chosen.get("trials", 1)
    if not isinstance(trials, int) or isinstance(trials, bool) or trials < 1:
        raise GrammarError(f"{path}: trials must be a whole number of at least 1, got {shown(trials)}")
    return Sweep(grids, read_folds(chosen.get("folds", 1)), trials)


def _check_depth(text: bytes, path: Path) -> None:
    """Raise an error if YAML is nested so deep that building it would take long or exhaust the stack."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise GrammarError(f"{path} is nested more than {DEEPEST} deep")

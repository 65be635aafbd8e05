"""A study under test with its results: those of its smallest runs, and synthetic ones of every profile."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.registry import canonical
from rankplug.store import METRICS, Store
from rankplug.studies import PROFILES, Profile, Results, Runs, Study, study

if TYPE_CHECKING:
    import pandas as pd

FOLD = re.compile(r"fold (\d+)")
LEVELS = (0.35, 0.75)
"""Least and greatest quality in made up results."""
MADE_UP = 12
"""Made up results in which models differ."""
SPREAD = 0.0005
"""Standard deviation among queries and trials in made up results."""
QUERIES, STEPS = 4, 6
"""Test queries and iterations of a trial in results that are made up whole."""


class SyntheticResults(Mapping[Profile, "list[Results]"]):
    """Results that nobody computed, of each profile when it is first asked for.

    Args:
        study: whose results.
        smoke: its results at the profile smoke; those of other profiles are made up whole.
    """

    def __init__(self, study: Study, smoke: Results) -> None:
        self._study, self._smoke = study, smoke
        self._made: dict[Profile, list[Results]] = {}

    def __getitem__(self, profile: Profile) -> list[Results]:
        if profile not in self._made:
            base = self._smoke if profile == "smoke" else _blank(self._study, profile)
            self._made[profile] = list(_made_up(base))
        return self._made[profile]

    def __iter__(self) -> Iterator[Profile]:
        return iter(PROFILES)

    def __len__(self) -> int:
        return len(PROFILES)


def _blank(study: Study, profile: Profile) -> Results:
    """Return results of a profile's shape and without numbers: a few queries and iterations of each trial and fold."""
    asked = study.runs_asked(profile)
    frames = {name: _blank_frame(runs) for name, runs in asked.items()}
    return Results(profile, frames, study.published(), (), asked)


def _blank_frame(runs: Runs) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for model in runs.models:
        metrics = [canonical("metric", name) for name in runs.grid(model).get("metrics") or METRICS]
        keys = [("query", "test", f"q{number}", STEPS) for number in range(QUERIES)]
        keys += [("curve", part, "", step) for part in ("train", "valid") for step in range(STEPS)]
        rows += [
            (model, model, trial, fold, measure, metric, part, query, step)
            for trial in range(runs.trials)
            for fold in runs.folds
            for metric in metrics
            for measure, part, query, step in keys
        ]
    names = ["model", "combination", "trial", "fold", "measure", "metric", "part", "query", "iteration"]
    frame = pd.DataFrame(rows, columns=names)
    frame["model"] = pd.Categorical(frame["model"], list(runs.models))
    return frame.assign(value=0.0)


def _made_up(results: Results) -> Iterator[Results]:
    """Yield results of the same shape with other numbers: models in many orders of quality, alike, and as published.

    A model's learning curve rises to its quality; in every other result it falls again, the sooner the lower it is, as
    of a model that overfits. Queries and trials differ a little, so that there is a spread.
    """
    draws = np.random.default_rng(20)
    for number in range(MADE_UP + 2):
        frames = {}
        for group, frame in results.frames.items():
            models = list(frame["model"].cat.categories)
            order = draws.permutation(len(models)) if number > 1 else np.arange(len(models))[:: 1 - 2 * number]
            qualities = np.linspace(*LEVELS, len(models))[order] if number < MADE_UP else np.full(len(models), 0.5)
            printed = _published(results, group) if number > MADE_UP else []
            falls = 1 < number < MADE_UP and number % 2 == 1
            frames[group] = _with_values(frame, dict(zip(models, qualities, strict=True)), printed, falls, draws)
        yield replace(results, frames=frames)


def _published(results: Results, group: str) -> list[tuple[str, str, int | None, float]]:
    """Return the published numbers on the data of a group: model, metric, fold if the data are one, and value.

    Their data are those in whose place the group's stand, or a fold of the only ones, such as ``fold 1``.
    """
    if results.published.empty or group not in results.runs:
        return []
    rows = []
    for row in results.published.to_dict("records"):
        fold = FOLD.fullmatch(str(row["dataset"]))
        if fold or row["dataset"] == results.place(group):
            rows.append((str(row["model"]), str(row["metric"]), int(fold[1]) if fold else None, float(row["value"])))
    return rows


def _with_values(
    frame: pd.DataFrame,
    qualities: dict[Any, float],
    printed: list[tuple[str, str, int | None, float]],
    falls: bool,
    draws: np.random.Generator,
) -> pd.DataFrame:
    quality = np.array(frame["model"].astype(object).map(qualities), np.float64)
    metrics = frame["metric"].astype(str)
    for model, metric, fold, value in reversed(printed):
        rows = (frame["model"] == model) & ((metrics == metric) | (metrics.str.partition("[")[0] == metric))
        quality[(rows if fold is None else rows & (frame["fold"] == fold)).to_numpy()] = value
    iterations = frame["iteration"].to_numpy(np.float64)
    rise = 1.0 - 0.5 * np.exp(-iterations / 3.0)
    if falls:
        turn = (quality - LEVELS[0]) / (LEVELS[1] - LEVELS[0])
        rise *= 1.0 - np.maximum(iterations / max(iterations.max(), 1.0) - turn, 0.0)
    of_curves = (frame["measure"] == "curve").to_numpy()
    noise = SPREAD * draws.normal(size=len(frame))
    return frame.assign(value=np.clip(np.where(of_curves, quality * rise, quality) + noise, 0.0, 1.0))


@dataclass(frozen=True)
class StudyCase:
    """A study under test, run at the profile ``smoke`` into a folder of its own."""

    name: str

    def __str__(self) -> str:
        return self.name

    @cached_property
    def study(self) -> Study:
        return study(self.name)

    @cached_property
    def smoke(self) -> tuple[Results, float, Store]:
        """Its results at the profile smoke, the seconds of processor time that they took, and their store."""
        self._folder  # noqa: B018
        store = Store(Path(self._folder.name) / "results")
        began = time.process_time()
        results = self.study.run("smoke", store=store, progress=False)
        return results, time.process_time() - began, store

    @cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="rankplug-study-")

    @cached_property
    def made_up(self) -> Mapping[Profile, list[Results]]:
        """Results with other numbers than any run gave, by profile."""
        return SyntheticResults(self.study, self.smoke[0])

    def runs(self, profile: Profile) -> list[Runs]:
        return list(self.study.runs(profile, None))

    def all_synthetic(self) -> Iterator[Results]:
        """Yield results with other numbers, those of the smallest profile first."""
        yield from self.made_up["smoke"]
        for profile in reversed(PROFILES):
            if profile != "smoke":
                yield from self.made_up[profile]

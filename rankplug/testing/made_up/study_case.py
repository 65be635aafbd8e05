"""A study under test with its results: those of its smallest runs, and others that are made up."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rankplug.store import Store
from rankplug.studies import PROFILES, Profile, Results, Runs, Study, study
from rankplug.testing.made_up.results import MadeUpResults


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
        return MadeUpResults(self.study, self.smoke[0])

    def runs(self, profile: Profile) -> list[Runs]:
        return list(self.study.runs(profile, None))

    def all_made_up(self) -> Iterator[Results]:
        """Yield results with other numbers, those of the smallest profile first."""
        yield from self.made_up["smoke"]
        for profile in reversed(PROFILES):
            if profile != "smoke":
                yield from self.made_up[profile]

"""Content of the report about a study: its evaluation with the files of its exhibits, and its combinations."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.report.combination_records import CombinationRecords, combination_records
from rankplug.report.exhibit_tables import by_suffix, exhibit_files, links_to, numbers_html
from rankplug.report.forest import ForestLine, forest_lines
from rankplug.report.notebook_page import captions
from rankplug.report.rendering import anchors, slug
from rankplug.store import Store
from rankplug.studies import (
    ExhibitEvaluation,
    Results,
    Source,
    Study,
    StudyEvaluation,
    StudyEvidence,
    bibliography,
    evidence_of,
    exhibit_bibtex,
    stand_ins,
)
from rankplug.system import __version__

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class StudyReport:
    """A study in the report.

    Args:
        evaluation: its exhibits and verdicts.
        notebook: its executed notebook.
        files: those of each exhibit, relative to the report.
        combinations: the combinations behind it, by identity.
    """

    evaluation: StudyEvaluation
    notebook: Path | None
    files: Mapping[str, tuple[str, ...]]
    combinations: Mapping[str, CombinationRecords]

    @property
    def study(self) -> Study:
        """The paper."""
        return self.evaluation.study

    @property
    def results(self) -> Results:
        """The results that were evaluated."""
        return self.evaluation.results

    @cached_property
    def evidence(self) -> StudyEvidence:
        """Its verdicts, as they are kept beside the report."""
        return evidence_of(self.evaluation)

    @cached_property
    def claim_anchors(self) -> list[str]:
        """Anchors of its claims on the page of all claims, by their ids."""
        return [f"{self.study.name}-{shown.claim.id}" for shown in self.evaluation.claims]

    @cached_property
    def query_anchors(self) -> dict[str, str]:
        """Anchors of its groups of runs on the page that compares models query by query."""
        groups = [pairs.group for pairs in self.evaluation.query_pairs]
        return dict(zip(groups, anchors(f"{self.study.name}-{group}" for group in groups), strict=True))

    @cached_property
    def forest(self) -> list[ForestLine]:
        """Its judged claims as lines of a forest plot."""
        return forest_lines(zip(self.evidence.claims, self.claim_anchors, strict=True))

    @cached_property
    def captions(self) -> dict[str, str]:
        """Words on each exhibit, as Markdown by its name: those of the notebook, or the exhibit's own."""
        told = captions(self.notebook) if self.notebook else {}
        return {exhibit.name: told.get(exhibit.name) or exhibit.caption for exhibit in self.study.exhibits}

    @property
    def stand_ins(self) -> list[tuple[str, str]]:
        """The paper's data sets, each with the data in its place."""
        tables = [shown.table for shown in self.evaluation.exhibits if "published on" in shown.table.columns]
        return list(dict.fromkeys(pair for table in tables for pair in stand_ins(table)))

    def anchor(self, exhibit: str) -> str:
        """Return the anchor of an exhibit on the page of all exhibits."""
        return f"{self.study.name}-{slug(exhibit)}"

    def files_of(self, shown: ExhibitEvaluation) -> dict[str, str]:
        """Return the files of an exhibit by their suffixes."""
        return by_suffix(self.files[shown.exhibit.name])

    def picture(self, shown: ExhibitEvaluation) -> str:
        """Return the file of an exhibit's picture; empty where it has none."""
        files = self.files_of(shown)
        return files.get("svg", files.get("png", ""))

    def extent_of(self, shown: ExhibitEvaluation) -> str:
        """Return how many runs an exhibit rests on, in words; empty where it rests on none of the store's."""
        of_model = [
            [record for identity in source.identities for record in self.combinations[identity].records]
            for source in shown.sources
            if all(identity in self.combinations for identity in source.identities)
        ]
        if not of_model:
            return ""
        trials = sorted({len(records) for records in of_model})
        queries = sorted(
            {one["record"]["queries"][2] for many in of_model for one in many if "queries" in one["record"]}
        )
        models = f"{len(of_model)} model{'s' * (len(of_model) > 1)} on their data, {_range(trials)} trials each"
        tested = f", {_range(queries)} test queries a trial" if queries else ""
        return f"{models}{tested}; intervals and bands, where there are any, are 95 % ones"

    def points(self, shown: ExhibitEvaluation) -> list[list[Any]]:
        """Return the points of an exhibit's picture with their places in it and words for them."""
        found: list[list[Any]] = json.loads(shown.pictures.get("json", b"[]"))
        return found

    def citation_of(self, shown: ExhibitEvaluation) -> str:
        """Return how others cite an exhibit of this report: in words, and it, its paper and rankplug in BibTeX."""
        what = f"{shown.exhibit.name}: {shown.exhibit.title}"
        runs = f"profile {self.results.profile}, {len(self.results.records)} trials, {self.evidence.date}"
        words = f"{what}. Report of rankplug {__version__}, {runs}.\nAfter: {self.study.title}. {self.study.citation}."
        key = f"rankplug-{self.anchor(shown.exhibit.name)}"
        entry = exhibit_bibtex(key, what, f"{self.study.name}, {runs}", self.evidence.date[:4])
        return "\n\n".join(filter(None, [words, entry, self.study.bibtex, bibliography([])]))

    def numbers(self, shown: ExhibitEvaluation) -> Markup:
        """Return an exhibit's numbers as HTML, which lead to the pages of their combinations."""
        return numbers_html(shown, links_to({name: len(made.records) for name, made in self.combinations.items()}))

    def runs_behind(self, sources: Collection[Source]) -> dict[str, list[tuple[str, list[str]]]]:
        """Return the models behind an exhibit or a verdict by their group, with the combinations that have a page."""
        groups: dict[str, list[tuple[str, list[str]]]] = {}
        for source in sources:
            identities = [identity for identity in source.identities if identity in self.combinations]
            groups.setdefault(source.group, []).append((source.model, identities))
        return groups

    @staticmethod
    def combinations_behind(sources: Collection[Source]) -> set[str]:
        """Return all combinations behind an exhibit or a verdict."""
        return {identity for source in sources for identity in source.identities}


def study_report(evaluation: StudyEvaluation, notebook: Path | None, folder: Path, store: Store) -> StudyReport:
    """Write the files of a study's exhibits, and gather what is known of its combinations.

    Args:
        evaluation: of the study.
        notebook: its executed notebook.
        folder: of the report.
        store: where executed notebooks of combinations may lie.
    """
    files = {
        shown.exhibit.name: exhibit_files(
            shown.pictures, shown.table, folder, f"exhibits/{evaluation.study.name}/{slug(shown.exhibit.name)}"
        )
        for shown in evaluation.exhibits
    }
    return StudyReport(evaluation, notebook, files, combination_records(evaluation.results.records, store))


def _range(numbers: Sequence[int]) -> str:
    """Return the least and the greatest of some numbers in order, as one number where they are the same."""
    return f"{numbers[0]:,}" if numbers[0] == numbers[-1] else f"{numbers[0]:,} to {numbers[-1]:,}"

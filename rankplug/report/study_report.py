"""Content of the report about a study: its evaluation with the files of its exhibits, and its combinations."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.report.exhibit_tables import exhibit_files, links_to, numbers_html
from rankplug.report.forest import ForestLine, forest_lines
from rankplug.report.notebook_page import captions
from rankplug.report.rendering import anchors, slug
from rankplug.store import ADDED_PARTS, Combination, Store, origins_of
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


LONGEST_ANCHOR = 60
"""Letters of a claim's sentence in its anchor."""
PARTS = ("dataset", "transforms", "backend", "scorer", "loss", "sampler", "selection", "metrics")
CUT_OFF = {"selection", "metrics"}
"""Parts that often differ by their cut-off alone."""


@dataclass(frozen=True)
class CombinationRecords:
    """A combination.

    Args:
        records: of its trials.
        notebook: the executed one, where the store keeps it.
        origins: where each trial's result came from, in words; empty for what was computed into the store.
    """

    records: tuple[Mapping[str, Any], ...]
    notebook: Path | None = None
    origins: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The combination in words."""
        return str(Combination(**self.records[0]["combination"]))

    @property
    def merged_from(self) -> list[str]:
        """Places where results came from, in words."""
        return sorted(set(self.origins) - {""})

    @property
    def fit_seconds(self) -> float:
        """The seconds that fitting took in all trials."""
        return sum(float(record["record"].get("fit_seconds", 0.0)) for record in self.records)

    @property
    def training_digests(self) -> list[str]:
        """Digests of the training data of the trials, each once and short."""
        return list(dict.fromkeys(record["record"]["data"]["train"][:8] for record in self.records))

    @property
    def versions(self) -> dict[str, set[str]]:
        """The versions of each package that the trials ran with."""
        found: dict[str, set[str]] = {}
        for record in self.records:
            for package, version in {**record.get("versions", {}), **record["record"].get("versions", {})}.items():
                found.setdefault(package, set()).add(version)
        return found

    @property
    def identity(self) -> str:
        """The name of its results."""
        return str(self.records[0]["identity"])

    @property
    def plugins(self) -> list[tuple[str, ...]]:
        """Rows of part, plugin, parameters and where the plugin is from; a metric at several cut-offs has one."""
        about = self.records[0]
        rows: dict[tuple[str, ...], list[str]] = {}
        for part in PARTS:
            for plugin in about.get("plugins", {}).get(part, []):
                parameters = dict(plugin["parameters"])
                cut_off = [_word(parameters.pop("k"))] if part in CUT_OFF and "k" in parameters else []
                chosen = ", ".join(f"{name} {_word(value)}" for name, value in parameters.items())
                origin = f"{plugin['distribution']} {plugin['version']}"
                row = (part, plugin["name"], chosen, origin, "" if cut_off else str(len(rows)))
                rows.setdefault(row, []).extend(cut_off)
        told: list[tuple[str, ...]] = [
            (part, name, ", ".join(filter(None, [f"k {', '.join(ks)}" if ks else "", chosen])), origin)
            for (part, name, chosen, origin, _), ks in rows.items()
        ]
        known = about["combination"]
        unusual = [part for part, usual in ADDED_PARTS.items() if known.get(part, usual) != usual]
        return told + [(part, _word(known.get(part)), "", "") for part in (*unusual, "patience", "seed")]

    @property
    def trials(self) -> list[list[Any]]:
        """Rows of what is on record of each trial."""
        rows = [_trial_row(record) for record in self.records]
        if not self.merged_from:
            return rows
        return [[*row, origin or "computed here"] for row, origin in zip(rows, self.origins, strict=True)]

    @property
    def again(self) -> str:
        """The code that runs all of its trials again."""
        known = self.records[0]["combination"].items()
        asked = {name: value for name, value in known if value not in ("", None, []) and value != ADDED_PARTS.get(name)}
        folds = sorted({record["fold"] for record in self.records})
        trials = 1 + max(record["trial"] for record in self.records)
        return f"import rankplug as rp\n\nrp.sweep(\n{json.dumps(asked, indent=4)},\nfolds={folds}, trials={trials})"


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
        """Anchors of its claims on the page of all claims, made of their sentences and each its own."""
        sentences = (slug(shown.claim.sentence)[:LONGEST_ANCHOR].strip("-") for shown in self.evaluation.claims)
        return anchors(f"{self.study.name}-{sentence}" for sentence in sentences)

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
        return {Path(file).name.partition(".")[2]: file for file in self.files[shown.exhibit.name]}

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
        exhibit.exhibit.name: exhibit_files(
            exhibit, folder, f"exhibits/{evaluation.study.name}/{slug(exhibit.exhibit.name)}"
        )
        for exhibit in evaluation.exhibits
    }
    return StudyReport(evaluation, notebook, files, combination_records(evaluation.results.records, store))


def combination_records(records: Iterable[Mapping[str, Any]], store: Store) -> dict[str, CombinationRecords]:
    """Return the combinations of some trials with the records and origins of these.

    Args:
        records: of the trials.
        store: where they lie, and executed notebooks of combinations may lie.
    """
    origins = origins_of(store.folder)
    by_combination: dict[str, dict[str, Mapping[str, Any]]] = {}
    for record in records:
        identity = str(record["identity"])
        file = f"{identity}/{identity}-f{record['fold']}-t{record['trial']}.parquet"
        by_combination.setdefault(identity, {})[file] = record
    found = {}
    for identity, trials in by_combination.items():
        combination = Combination(**next(iter(trials.values()))["combination"])
        path = store.notebook_path(combination, identity)
        told = tuple(origins.get(file, "") for file in trials)
        found[identity] = CombinationRecords(tuple(trials.values()), path if path.is_file() else None, told)
    return found


def _trial_row(record: Mapping[str, Any]) -> list[Any]:
    facts = record["record"]
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(facts["started"])) if "started" in facts else ""
    digests = [facts.get("data", {}).get(part, "") for part in ("train", "valid")]
    digests.append(facts.get("test_fingerprint", ""))
    kept = f"{facts.get('best_iteration', '')} of {facts.get('iterations', '')}"
    seconds = [f"{facts.get(name, 0.0):.2f}" for name in ("load_seconds", "fit_seconds", "measure_seconds")]
    about = [record["fold"], record["trial"], record.get("seed", ""), kept, *seconds, started]
    return [*about, facts.get("threads", ""), *(digest[:12] for digest in digests)]


def _range(numbers: Sequence[int]) -> str:
    """Return the least and the greatest of some numbers in order, as one number where they are the same."""
    return f"{numbers[0]:,}" if numbers[0] == numbers[-1] else f"{numbers[0]:,} to {numbers[-1]:,}"


def _word(value: Any) -> str:
    return "none" if value is None else str(value)

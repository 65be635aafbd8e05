"""Content of the report about a study: its evaluation with the files of its exhibits, and its combinations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankplug.report.combination_page import CombinationRecords
from rankplug.report.exhibit_html import LONGEST
from rankplug.report.exhibit_latex import exhibit_latex
from rankplug.store import Combination, Store
from rankplug.studies import ExhibitEvaluation, Results, Study, StudyEvaluation, StudyEvidence, evidence_of, forest_of


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

    @property
    def evidence(self) -> StudyEvidence:
        """Its verdicts, as they are kept beside the report."""
        return evidence_of(self.evaluation)


def forest_file(evidence: Iterable[StudyEvidence], folder: Path, name: str) -> str:
    """Draw the claims of some studies into the report, and return the picture's path in it."""
    import matplotlib.pyplot as plt

    from rankplug.plotting import save

    given = list(evidence)
    place = folder / "exhibits" / name / "all-claims"
    place.parent.mkdir(parents=True, exist_ok=True)
    figure = forest_of(given, headings=len(given) > 1)
    save(figure, place)
    plt.close(figure)
    return f"exhibits/{name}/all-claims.png" if name else "exhibits/all-claims.png"


def study_report(evaluation: StudyEvaluation, notebook: Path | None, folder: Path, store: Store) -> StudyReport:
    """Write the files of a study's exhibits, and gather what is known of its combinations.

    Args:
        evaluation: of the study.
        notebook: its executed notebook.
        folder: of the report.
        store: where executed notebooks of combinations may lie.
    """
    files = {
        one.exhibit.name: exhibit_files(one, folder, f"exhibits/{evaluation.study.name}/{slug(one.exhibit.name)}")
        for one in evaluation.exhibits
    }
    return StudyReport(evaluation, notebook, files, combination_records(evaluation.results, store))


def combination_records(results: Results, store: Store) -> dict[str, CombinationRecords]:
    """Return the combinations of some results with the records of their trials."""
    records: dict[str, list[dict[str, Any]]] = {}
    for record in results.records:
        records.setdefault(record["identity"], []).append(record)
    found = {}
    for identity, trials in records.items():
        path = store.notebook_path(Combination(**trials[0]["combination"]))
        found[identity] = CombinationRecords(tuple(trials), path if path.exists() else None)
    return found


def exhibit_files(shown: ExhibitEvaluation, folder: Path, stem: str) -> tuple[str, ...]:
    """Write an exhibit's pictures, and its numbers for other programs and, if few, for LaTeX; return their names."""
    place = folder / stem
    place.parent.mkdir(parents=True, exist_ok=True)
    contents = {**shown.pictures, "csv": shown.table.to_csv(index=False).encode()}
    if len(shown.table) <= LONGEST:
        contents["tex"] = exhibit_latex(shown.table).encode()
    for suffix, content in contents.items():
        Path(f"{place}.{suffix}").write_bytes(content)
    return tuple(f"{stem}.{suffix}" for suffix in contents)


def slug(name: str) -> str:
    """Return a name as files and anchors have it.

    >>> slug("Table 1, tests")
    'table-1-tests'
    """
    return re.sub(r"\W+", "-", name.lower()).strip("-")

"""Content of the report about a study: figures and tables with their files, verdicts, and the runs behind each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.report.behind import Source, with_sources
from rankplug.report.combination_page import Made
from rankplug.store import Combination, Store
from rankplug.studies import Exhibit, Judgement, Results, Study

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Drawn:
    """A figure or table with the files it was written to, relative to the report, and the runs behind it."""

    exhibit: Exhibit
    table: pd.DataFrame
    files: tuple[str, ...]
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Judged:
    """A verdict and the runs behind it."""

    verdict: Judgement
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Reproduced:
    """Everything the report shows of a study: notebook, exhibits, verdicts, observations, combinations by identity."""

    study: Study
    results: Results
    notebook: Path | None
    exhibits: tuple[Drawn, ...]
    verdicts: tuple[Judged, ...]
    combinations: Mapping[str, Made]
    observations: Mapping[str, str] = field(default_factory=dict)


def reproduced(study: Study, results: Results, notebook: Path | None, folder: Path, store: Store) -> Reproduced:
    """Draw and judge a study, and gather what is known of its combinations.

    Args:
        study: the paper.
        results: of its runs.
        notebook: its executed notebook.
        folder: of the report.
        store: where executed notebooks of combinations may lie.
    """
    verdicts = tuple(Judged(*with_sources(claim.judge, results)) for claim in study.claims)
    observed = {one.sentence: told for one in study.observations if (told := one.tell(results))}
    drawn = draw_exhibits(study, results, folder)
    return Reproduced(study, results, notebook, drawn, verdicts, gather(results, store), observed)


def gather(results: Results, store: Store) -> dict[str, Made]:
    """Return the combinations of some results by identity, each with its records and its executed notebook."""
    records: dict[str, list[dict[str, Any]]] = {}
    for record in results.records:
        records.setdefault(record["identity"], []).append(record)
    found = {}
    for identity, trials in records.items():
        path = store.notebook_path(Combination(**trials[0]["combination"]))
        found[identity] = Made(tuple(trials), path if path.exists() else None)
    return found


def draw_exhibits(study: Study, results: Results, folder: Path) -> tuple[Drawn, ...]:
    """Draw every figure and table of a study into ``folder/exhibits``."""
    import matplotlib.pyplot as plt

    from rankplug.plotting import save

    drawn = []
    for exhibit in study.exhibits:
        (table, figure), sources = with_sources(exhibit.draw, results)
        stem = folder / "exhibits" / study.name / slug(exhibit.name)
        stem.parent.mkdir(parents=True, exist_ok=True)
        files = [stem.with_suffix(".csv"), stem.with_suffix(".tex")]
        table.to_csv(files[0])
        files[1].write_text(table.to_latex(float_format="%.4f", escape=True))
        if figure is not None:
            files = [*save(figure, stem), *files]
            plt.close(figure)
        drawn.append(Drawn(exhibit, table, tuple(str(file.relative_to(folder)) for file in files), sources))
    return tuple(drawn)


def slug(name: str) -> str:
    """Return a name in the form that files and anchors use.

    >>> slug("Table 1, tests")
    'table-1-tests'
    """
    return re.sub(r"\W+", "-", name.lower()).strip("-")

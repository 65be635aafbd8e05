"""Exhibits of a study as they are kept beside its verdicts: pictures, tables and words, small enough for a repository.

Documentation shows figures and tables from them; it needs neither the store nor the study's own code.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rankplug.errors import RankplugError
from rankplug.report.combination_records import combination_records
from rankplug.report.exhibit_tables import numbers_html
from rankplug.report.rendering import COMPACT, slug
from rankplug.report.study_report import StudyReport
from rankplug.store import Store
from rankplug.studies import StudyEvaluation, unlinked

FORMAT = 1


@dataclass(frozen=True)
class KeptExhibit:
    """A figure or table on some results.

    Args:
        name: such as ``Figure 1``.
        title: what it is about.
        caption: what to see in it, in Markdown.
        extent: how many models, trials and queries it rests on, in words; empty where it rests on no runs.
        picture: a figure in SVG; empty for a table.
        table: its numbers in HTML; empty for a figure.
        beside_published: whether the numbers stand beside published ones.
    """

    name: str
    title: str
    caption: str
    extent: str
    picture: str = ""
    table: str = ""
    beside_published: bool = False

    @property
    def file(self) -> str:
        """The name of its picture's file."""
        return f"{slug(self.name)}.svg"


@dataclass(frozen=True)
class KeptExhibits:
    """The exhibits of a study at a profile, in its order."""

    study: str
    profile: str
    exhibits: tuple[KeptExhibit, ...]

    @classmethod
    def of(cls, evaluation: StudyEvaluation, store: Store) -> KeptExhibits:
        """Return those of an evaluation that show anything: a table of runs that were left out is empty.

        Args:
            evaluation: of the study.
            store: where its runs lie.
        """
        study = evaluation.study
        report = StudyReport(
            evaluation, study.notebook_path, {}, combination_records(evaluation.results.records, store)
        )
        kept = []
        for shown in evaluation.exhibits:
            name = shown.exhibit.name
            drawn = {"picture": shown.pictures["svg"].decode()} if shown.pictures else {}
            if not drawn and len(shown.table):
                drawn = {"table": str(numbers_html(shown, unlinked))}
            if drawn:
                told = report.captions.get(name, ""), report.extent_of(shown)
                beside = "published on" in shown.table
                kept.append(KeptExhibit(name, shown.exhibit.title, *told, **drawn, beside_published=beside))
        return cls(study.name, evaluation.results.profile, tuple(kept))

    @classmethod
    def read(cls, path: Path) -> KeptExhibits:
        """Read a file that :meth:`write` wrote."""
        try:
            fields = json.loads(gzip.decompress(path.read_bytes()))
            if fields.pop("format") != FORMAT:
                raise RankplugError(f"{path} has another format than {FORMAT}; write it again")
            return cls(**{**fields, "exhibits": tuple(KeptExhibit(**one) for one in fields["exhibits"])})
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RankplugError(f"{path} is no file of kept exhibits: {error}; write it again") from error

    def write(self, path: Path) -> None:
        """Write all of it as compressed JSON; the same exhibits give the same file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, separators=COMPACT)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))

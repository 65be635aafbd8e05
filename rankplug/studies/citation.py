"""Bibliographic facts of a paper, and their BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rankplug.errors import SpecificationError
from rankplug.system import __version__

SPECIAL = {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}"} | {
    "^": r"\textasciicircum{}"
}
YEARS = range(1900, 2200)


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A paper as others cite it.

    Args:
        authors: their full names, given name first.
        title: of the paper.
        venue: short, such as ``WSDM``.
        year: of publication.
        published_in: the proceedings or journal by its full name.
        doi: without a resolver before it.
        url: where there is no DOI.

    >>> paper = Citation(authors=("Ada Lovelace",), title="Notes", venue="SCI", year=1843 + 60, doi="10.1/x")
    >>> str(paper)
    'Ada Lovelace, SCI 1903'
    >>> print(paper.bibtex("notes"))
    @inproceedings{notes,
      author = {Ada Lovelace},
      title = {{Notes}},
      booktitle = {SCI},
      year = {1903},
      doi = {10.1/x},
    }
    """

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int
    published_in: str = ""
    doi: str = ""
    url: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.authors, str) or not self.authors or not all(self.authors):
            raise SpecificationError(f"the citation of {self.title!r} needs its authors as a tuple of names")
        if not (self.title and self.venue):
            raise SpecificationError("a citation needs a title and a venue")
        if self.year not in YEARS:
            raise SpecificationError(f"the citation of {self.title!r} has the year {self.year!r}")
        if self.doi and not re.fullmatch(r"10\.\S+/\S+", self.doi):
            raise SpecificationError(f"the citation of {self.title!r} has {self.doi!r} for a DOI, not 10.number/name")

    def __str__(self) -> str:
        return f"{', '.join(self.authors)}, {self.venue} {self.year}"

    def bibtex(self, key: str) -> str:
        """Return the entry of a bibliography in BibTeX."""
        field = "journal" if self.venue == "arXiv" else "booktitle"
        fields = [
            ("author", " and ".join(map(_latex, self.authors))),
            ("title", f"{{{_latex(self.title)}}}"),
            (field, _latex(self.published_in or self.venue)),
            ("year", str(self.year)),
            ("doi", self.doi),
            ("url", self.url),
        ]
        return _entry("article" if field == "journal" else "inproceedings", key, fields)


def rankplug_bibtex() -> str:
    """Return rankplug's own entry of a bibliography in BibTeX."""
    fields = [
        ("author", "{The rankplug contributors}"),
        ("title", "{rankplug: learning to rank in which every loss, sampler, scorer and backend is a plugin}"),
        ("version", __version__),
        ("year", "2026"),
        ("note", "MIT licence"),
    ]
    return _entry("software", "rankplug", fields)


def exhibit_bibtex(key: str, title: str, runs: str, year: str) -> str:
    """Return the entry of a figure or table of a report in BibTeX.

    Args:
        key: of the entry.
        title: what it shows.
        runs: the runs behind it, in words.
        year: in which the last of them ended.
    """
    fields = [("title", f"{{{_latex(title)}}}"), ("howpublished", f"Report of rankplug {__version__}")]
    return _entry("misc", key, [*fields, ("note", _latex(runs)), ("year", year)])


def _entry(kind: str, key: str, fields: Iterable[tuple[str, str]]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _latex(text: str) -> str:
    return "".join(SPECIAL.get(sign, sign) for sign in " ".join(text.split()))

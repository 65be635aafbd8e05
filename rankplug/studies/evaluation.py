"""A study evaluated once: every exhibit, verdict and observation on some results, with the runs that each of them read.

Notebook, report and shell render an evaluation; none of them draws or judges by itself. What was evaluated is kept in
the cache under a digest of results and code, so that another process finds it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from rankplug.errors import NotRunError
from rankplug.studies.evaluation_parts import (
    ClaimEvaluation,
    ExhibitEvaluation,
    ObservationEvaluation,
    Source,
)
from rankplug.studies.kept_evaluations import KeptEvaluation, kept_evaluation, plain_table
from rankplug.studies.papers import Exhibit, Study
from rankplug.studies.query_pairs import QueryPairs, as_table, query_pairs, read_table
from rankplug.studies.study_results import Results
from rankplug.studies.verdicts.samples import Cell

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Read = TypeVar("Read")


class StudyEvaluation:
    """Exhibits, verdicts and observations of a study on some results, each computed when it is first asked for.

    Args:
        study: the paper.
        results: of its runs.
    """

    def __init__(self, study: Study, results: Results) -> None:
        self.study, self.results = study, results
        self._exhibits: dict[str, ExhibitEvaluation] = {}

    def exhibit(self, name: str) -> ExhibitEvaluation:
        """Return a figure or table by its number."""
        if name not in self._exhibits:
            exhibit = self.study.exhibit(name)
            self._exhibits[name] = self._kept.exhibit(exhibit, lambda: self._drawn(exhibit))
        return self._exhibits[name]

    @cached_property
    def exhibits(self) -> tuple[ExhibitEvaluation, ...]:
        """All figures and tables."""
        return tuple(self.exhibit(exhibit.name) for exhibit in self.study.exhibits)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Combinations that were run: a row for each group, model and combination that represents it."""
        return self._kept.table("runs", self.results.describe)

    @cached_property
    def query_pairs(self) -> tuple[QueryPairs, ...]:
        """Models of each group, compared query by query."""
        return read_table(self._kept.table("queries", lambda: as_table(query_pairs(self.results))))

    @property
    def claims(self) -> tuple[ClaimEvaluation, ...]:
        """All claims with their verdicts."""
        return self._conclusions[0]

    @property
    def observations(self) -> tuple[ObservationEvaluation, ...]:
        """Observations in the results that no test decides."""
        return self._conclusions[1]

    def once(self, name: str, causes: Iterable[str], make: Callable[[], bytes]) -> bytes:
        """Return what another process made of this evaluation, as its executed notebook, or make and keep it.

        Args:
            name: of what it is.
            causes: on which it depends beside the evaluation.
            make: makes a file's content.
        """
        return self._kept.content(name, causes, make)

    @cached_property
    def _kept(self) -> KeptEvaluation:
        return kept_evaluation(self.study, self.results)

    @cached_property
    def _conclusions(self) -> tuple[tuple[ClaimEvaluation, ...], tuple[ObservationEvaluation, ...]]:
        return self._kept.conclusions(self.study, self._concluded)

    def _drawn(self, exhibit: Exhibit) -> ExhibitEvaluation:
        import pandas as pd

        from rankplug.plotting import in_style

        try:
            with in_style():
                (table, figure), sources = self._with_sources(exhibit.draw)
        except NotRunError:
            return ExhibitEvaluation(exhibit, plain_table(pd.DataFrame()), {}, ())
        return ExhibitEvaluation(exhibit, plain_table(table), _pictures(figure) if figure else {}, sources)

    def _concluded(self) -> tuple[tuple[ClaimEvaluation, ...], tuple[ObservationEvaluation, ...]]:
        claims = tuple(ClaimEvaluation(claim, *self._with_sources(claim.judge)) for claim in self.study.claims)
        seen = ((observation, *self._with_sources(observation.seen)) for observation in self.study.observations)
        return claims, tuple(
            ObservationEvaluation(observation, told, sources) for observation, told, sources in seen if told
        )

    def _with_sources(self, make: Callable[[Results], Read]) -> tuple[Read, tuple[Source, ...]]:
        """Return what a function makes of the results, and the runs that it read."""
        with self.results.noting_reads() as cells:
            made = make(self.results)
        return made, sources_of(self.results, cells)


def evaluate(study: Study, results: Results) -> StudyEvaluation:
    """Return a study's exhibits, verdicts and observations on some results, with what is behind each."""
    return StudyEvaluation(study, results)


def sources_of(results: Results, cells: Iterable[Cell]) -> tuple[Source, ...]:
    """Return the combinations of some groups' models, of the groups that were run."""
    run = [(group, model) for group, model in cells if group in results.frames]
    identities = {(group, model): results.identities(group, model) for group, model in run}
    return tuple(Source(group, model, digests) for (group, model), digests in identities.items() if digests)


def _pictures(figure: Figure) -> dict[str, bytes]:
    import matplotlib.pyplot as plt

    from rankplug.plotting import encode_figure, encode_points, lay_out, mark_lines

    mark_lines(figure)
    area = lay_out(figure)
    pictures = {"json": encode_points(figure, area)}
    for suffix in ("svg", "png", "pdf"):
        file = io.BytesIO()
        encode_figure(figure, file, suffix, area)
        pictures[suffix] = file.getvalue()
    plt.close(figure)
    return pictures

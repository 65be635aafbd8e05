"""The runs behind a figure, a table or a verdict: those of the groups that were read while it was computed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from rankplug.studies import Results

if TYPE_CHECKING:
    import pandas as pd

Made = TypeVar("Made")


@dataclass(frozen=True)
class Source:
    """A model of a group, and the combinations that represent it: one, or one a fold where validation data chose."""

    group: str
    model: str
    identities: tuple[str, ...]


class _Noted(Mapping[str, "pd.DataFrame"]):
    """Frames that note which of them are read."""

    def __init__(self, frames: Mapping[str, pd.DataFrame]) -> None:
        self._frames = frames
        self.read: dict[str, None] = {}

    def __getitem__(self, group: str) -> pd.DataFrame:
        self.read[group] = None
        return self._frames[group]

    def __contains__(self, group: object) -> bool:
        return group in self._frames

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)


def with_sources(make: Callable[[Results], Made], results: Results) -> tuple[Made, tuple[Source, ...]]:
    """Return what a function computes from results, with the runs that it read."""
    frames = _Noted(results.frames)
    made = make(replace(results, frames=frames))
    return made, tuple(source for group in frames.read for source in sources_of(results, group))


def sources_of(results: Results, group: str) -> list[Source]:
    """Return all models of a group."""
    frame = results.frames[group]
    if not {"model", "combination"} <= set(frame.columns):
        return []
    pairs = frame[["model", "combination"]].drop_duplicates()
    found: dict[str, list[str]] = {}
    for model, identity in pairs.itertuples(index=False):
        found.setdefault(str(model), []).append(str(identity))
    return [Source(group, model, tuple(identities)) for model, identities in found.items()]


def narrowed(sources: Collection[Source], words: Collection[str]) -> tuple[Source, ...]:
    """Return the sources of some models and groups, as far as words name any of them.

    >>> both = [Source("tuned Yahoo", "A", ("1",)), Source("tuned Web30K", "A", ("2",))]
    >>> [source.identities for source in narrowed(both, ["A", "Web30K", "ndcg@5"])]
    [('2',)]
    """
    of_model = [source for source in sources if source.model in words]
    of_group = [source for source in of_model if any(word and word in source.group for word in words)]
    return tuple(of_group or of_model)

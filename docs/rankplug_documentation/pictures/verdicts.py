"""Pictures of the kept evidence: every claim as a forest plot, and counts of verdicts as bars."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rankplug.plotting import draw_verdict_counts, encode_figure, in_style
from rankplug.studies import StudyEvidence, forest_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def digest_of(evidence: Iterable[StudyEvidence]) -> str:
    """Return a digest of what a picture shows, which the picture carries."""
    text = "\n".join(str(one.describe()) for one in evidence)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def write_verdict_pictures(
    evidence: Mapping[str, Mapping[str, StudyEvidence]], largest: Mapping[str, StudyEvidence], folder: Path
) -> None:
    """Write a forest plot for each study, and the counts of all of them and of one profile each, as SVG.

    Args:
        evidence: by study and profile.
        largest: the evidence that the forest plots show, of one profile each, so that they fit on a page.
        folder: of the documentation's pictures.
    """
    every = [one for profiles in evidence.values() for one in profiles.values()]
    with in_style():
        counts = {f"{one.study}, {one.profile}": one.counts for one in every}
        _write(folder / "verdicts.svg", draw_verdict_counts(counts), every)
        counts = {f"{one.study}, {one.profile}": one.counts for one in largest.values()}
        _write(folder / "verdicts-in-short.svg", draw_verdict_counts(counts), largest.values())
        for name, one in largest.items():
            _write(folder / f"claims-{name}.svg", forest_of([one]), [one])


def _write(path: Path, figure: Figure, shown: Iterable[StudyEvidence]) -> None:
    import matplotlib.pyplot as plt

    with path.open("wb") as file:
        encode_figure(figure, file, "svg", Description=digest_of(shown))
    plt.close(figure)

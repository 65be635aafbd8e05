"""Text of figures as a reader sees it: large enough, and none over another.

``RANKPLUG_REPORT`` names a report whose figures are looked at in place of a small one; the list of all of them with
their smallest text is left beside the screenshots, as ``figures.txt``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankplug.plotting import SMALLEST

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.xdist_group("report")]

TEXTS = """
() => {
  const unit = document.documentElement.getScreenCTM().a * 0.75;
  const sizes = one => [one, ...one.querySelectorAll("tspan")].filter(part => part.localName === "tspan"
    || !one.querySelector("tspan")).map(part => Number.parseFloat(getComputedStyle(part).fontSize) * unit);
  return [...document.querySelectorAll("text")].filter(one => one.textContent.trim()).map(one => {
    const {left, right, y, height} = one.getBoundingClientRect();
    const [top, bottom] = [y + 0.2 * height, y + 0.8 * height];  // A letter's box is taller than the letter.
    const turned = Math.abs(one.getCTM().b) / Math.hypot(one.getCTM().a, one.getCTM().b);
    const words = one.textContent.replace(/\\s+/g, "");
    return {words, size: Math.max(...sizes(one)), left, right, top, bottom, turned};
  });
}
"""
"""Texts of a picture with their size in points and their boxes; a formula counts by its largest sign."""


def overlaps(texts: list[dict]) -> list[tuple[str, str]]:
    """Return pairs of texts of which one lies over a fifth of the other; slanted ones have no box to tell by."""
    straight = [text for text in texts if text["turned"] < 0.02 or text["turned"] > 0.98]
    found = []
    for place, one in enumerate(straight):
        for other in straight[place + 1 :]:
            width = min(one["right"], other["right"]) - max(one["left"], other["left"])
            height = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            areas = [(each["right"] - each["left"]) * (each["bottom"] - each["top"]) for each in (one, other)]
            if width > 0 and height > 0 and width * height > 0.2 * min(areas):
                found.append((one["words"], other["words"]))
    return found


@pytest.fixture(scope="module")
def figures(request: pytest.FixtureRequest) -> list[Path]:
    """Return the figures of a report."""
    named = os.environ.get("RANKPLUG_REPORT")
    folder = Path(named) if named else request.getfixturevalue("report").parent
    return sorted((folder / "exhibits").rglob("*.svg"))


def test_no_text_of_a_figure_is_too_small_or_over_another(page, figures, pictures):
    told, bad = [], []
    for path in figures:
        page.goto(path.as_uri())
        texts = page.evaluate(TEXTS)
        name, smallest = "/".join(path.parts[-2:]), min((text["size"] for text in texts), default=0.0)
        told.append(f"{name}: smallest text {smallest:.1f} pt, {len(texts)} texts, over each other: {overlaps(texts)}")
        if smallest < SMALLEST - 0.01 or overlaps(texts):
            bad.append(told[-1])
    (pictures / "figures.txt").write_text("\n".join(told) + "\n")
    assert figures and not bad, "\n".join(bad)


def test_the_check_sees_small_text_and_text_over_text(page, tmp_path):
    path = tmp_path / "bad.svg"
    text = "<text x='10' y='{}' style='font: {}px sans-serif'>{}</text>"
    lines = text.format(20, 9, "above") + text.format(22, 9, "below") + text.format(60, 5, "small")
    path.write_text(
        f"<svg xmlns='http://www.w3.org/2000/svg' width='100pt' height='80pt' viewBox='0 0 100 80'>{lines}</svg>"
    )
    page.goto(path.as_uri())
    texts = page.evaluate(TEXTS)
    assert overlaps(texts) == [("above", "below")]
    assert min(text["size"] for text in texts) == pytest.approx(5.0, abs=0.01)

"""What a study's notebook shows: figures, tables beside the published numbers, claims with their verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankplug.studies import Results, Study


def show(study: Study, exhibit: str, results: Results, digits: int = 2) -> Any:
    """An exhibit for a notebook: its figure, or its table, laid out as in the paper if it has published numbers.

    Args:
        study: whose exhibit it is.
        exhibit: its name.
        results: of the study.
        digits: behind the point, of a table with published numbers.
    """
    import matplotlib.pyplot as plt

    from rankplug.published import layout

    table, figure = study.exhibit(exhibit).draw(results)
    if figure is not None:
        plt.close(figure)
        return figure
    if "published on" in table.columns:
        return _html(layout(table, digits).to_html(escape=False, border=0))
    return _html(table.to_html(float_format="{:.4g}".format, border=0, index=False))


def show_claims(study: Study, results: Results) -> Any:
    """Every claim with its verdict and the evidence."""
    rows = ["| claim | verdict | evidence |", "|---|---|---|"]
    for claim in study.claims:
        verdict = claim.judge(results)
        rows.append(f"| {claim.sentence} | **{verdict.verdict}** | {verdict.evidence} |")
    return _markdown("\n".join(rows))


def show_findings(study: Study) -> Any:
    """Known errors and gaps of the paper, and what is done about them."""
    return _markdown("\n".join(f"- {finding}" for finding in study.findings))


def show_runs(results: Results) -> Any:
    """What was trained, on what."""
    return _html(results.describe().to_html(border=0, index=False))


def _html(text: str) -> Any:
    from IPython.display import HTML

    return HTML(text)  # type: ignore[no-untyped-call]


def _markdown(text: str) -> Any:
    from IPython.display import Markdown

    return Markdown(text)  # type: ignore[no-untyped-call]

"""What a study's notebook shows: figures, tables beside the published numbers, claims with their verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankplug.studies import Results, Study


def show(study: Study, exhibit: str, results: Results) -> Any:
    """An exhibit for a notebook: its figure, or its table; numbers that have published ones beside them are laid out."""
    import matplotlib.pyplot as plt
    from IPython.display import HTML

    from rankplug.published import layout

    table, figure = study.exhibit(exhibit).draw(results)
    if figure is not None:
        plt.close(figure)
        return figure
    if "published on" in table.columns:
        return HTML(layout(table).to_html(escape=False, border=0))
    return HTML(table.to_html(float_format="{:.4g}".format, border=0, index=False))


def show_claims(study: Study, results: Results) -> Any:
    """Every claim with its verdict and the evidence."""
    from IPython.display import Markdown

    rows = ["| claim | verdict | evidence |", "|---|---|---|"]
    for claim in study.claims:
        verdict = claim.judge(results)
        rows.append(f"| {claim.sentence} | **{verdict.verdict}** | {verdict.evidence} |")
    return Markdown("\n".join(rows))


def show_findings(study: Study) -> Any:
    """Known errors and gaps of the paper, and what is done about them."""
    from IPython.display import Markdown

    return Markdown("\n".join(f"- {finding}" for finding in study.findings))


def show_runs(results: Results) -> Any:
    """What was trained, on what."""
    from IPython.display import HTML

    return HTML(results.describe().to_html(border=0, index=False))

"""``rankplug claims`` and ``scoreboard``: verdicts on the papers' claims, and a comparison of their methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankplug.cli.results import ExistingStoreOption
from rankplug.system import Cell, echo, echo_table, emit

if TYPE_CHECKING:
    from rankplug.studies import Board, Standing


VERDICTS = {"holds": "green", "fails": "red", "no difference": "blue", "inconclusive": "yellow"}
"""Verdict -> its style in terminals."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("claims")(claims)
    app.command("scoreboard")(scoreboard)


def claims(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDY]...", help="Studies; all of the report by default.")
    ] = None,
    verdict: Annotated[
        list[str] | None,
        typer.Option(help="Only claims of this verdict, such as holds or inconclusive; may be repeated."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Folder of the report, or of evidence.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of the evidence as JSON.")] = False,
) -> None:
    """List claims with verdict, effect and margin, as rankplug reproduce evaluated them."""
    from rankplug.errors import RankplugError, did_you_mean
    from rankplug.studies import VERDICTS as WORDS
    from rankplug.studies import read_artefacts
    from rankplug.system import report_folder

    selected = verdict or ()
    for word in selected:
        if word not in (known := (*WORDS, "not run", "not comparable")):
            raise RankplugError(f"there is no verdict {word}: {did_you_mean(word, known)}")
    evaluations = read_artefacts(report or report_folder(), names or [])
    if as_json:
        described = [evaluation.describe() for evaluation in evaluations.values()]
        for paper in described if selected else ():
            paper["claims"] = [claim for claim in paper["claims"] if claim["verdict"] in selected]
        emit(json.dumps(described, indent=1, ensure_ascii=False))
        return
    for evaluation in evaluations.values():
        rows: list[list[Cell]] = []
        for claim in evaluation.claims:
            word = claim.judgement.verdict
            if not selected or word in selected:
                rows.append([(word, VERDICTS.get(word, "")), claim.effect, claim.margin, claim.label])
        meta = evaluation.meta
        title = f"{meta.study}, profile {meta.profile} of {meta.date}, {meta.trials} trials: {evaluation.in_short}"
        echo_table(("verdict", "effect", "margin", "claim"), rows, title=title)


def scoreboard(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDY]...", help="Studies; all that are installed by default.")
    ] = None,
    metric: Annotated[str, typer.Option(help="By name; any conventions of it unless they are named too.")] = "ndcg@5",
    profile: Annotated[
        list[str] | None, typer.Option(help="Only runs of this size: smoke, quick, full, real, paper; may be repeated.")
    ] = None,
    margin: Annotated[float, typer.Option(help="Points that matter.")] = 0.5,
    store: ExistingStoreOption = None,
    report: Annotated[Path | None, typer.Option(help="Write it as a page, with its runs, into this folder.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --report, tell what would be written, and write nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare the methods of papers on every collection of which the store holds runs; runs none."""
    from rankplug.store import Store
    from rankplug.studies import scoreboard as compared

    standings = compared(names or [], store=Store(store), metric=metric, profiles=profile or [], margin=margin)
    if as_json:
        emit(json.dumps(standings.describe(), indent=1, ensure_ascii=False))
    elif not standings.boards:
        echo(f"{Store(store).folder} holds no runs of these papers with the metric {metric}")
    else:
        for board in standings.boards:
            _tell(board)
    if report is not None and dry_run:
        runs = {identity for board in standings.boards for identity in board.identities}
        echo(f"the scoreboard and pages of {len(runs)} combinations would be written into {report}", error=as_json)
    elif report is not None:
        from rankplug.report import write_scoreboard

        echo(f"The scoreboard is at {write_scoreboard(standings, Store(store), report).resolve()}", error=as_json)


def _tell(board: Board) -> None:
    mean, critical = board.ranks.mean, board.ranks.critical
    difference = f"no critical difference: {board.ranks.why_not}"
    if critical is not None:
        difference = f"critical difference {critical.critical_difference:.2f} over {critical.blocks} {critical.unit}"
    rows = [
        (method.study, str(method), f"{mean[method]:.2f} of {len(mean)}" if method in mean else "", _cell(place))
        for method, place in board.standings.items()
    ]
    echo(f"{board.title}; {difference}\n")
    echo_table(("paper", "method", "mean rank", board.conditions.metric), rows)


def _cell(cell: Standing | None) -> str:
    if cell is None:
        return ""
    mean = f"{cell.interval.point:.4f}"
    interval = f" [{cell.interval.low:.4f}, {cell.interval.high:.4f}]" if cell.has_interval else ""
    return f"{mean}{interval} {f'{100 * cell.lead:.2f} behind: {cell.verdict}' if cell.verdict else 'best'}"

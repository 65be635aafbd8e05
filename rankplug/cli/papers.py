"""``rankplug reproduce``, ``report``, ``claims``, ``scoreboard``, ``cite`` and ``verify``: papers, run and judged."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.cli._options import (
    DataOption,
    DryRunOption,
    ExistingStoreOption,
    JSONOption,
    ProfileOption,
    ReportOption,
    RetryOption,
    StoreOption,
    StudiesArgument,
    plugin_argument,
)
from rankplug.cli.sweep import echo_plan
from rankplug.system import Cell, echo, echo_table, emit, interruptible

if TYPE_CHECKING:
    from rankplug.studies import Standing

VERDICTS = {"holds": "green", "fails": "red", "no difference": "blue", "inconclusive": "yellow"}
"""Verdict -> its style in terminals."""


def reproduce(
    names: Annotated[list[str], plugin_argument("study", "Studies, or all.", "STUDY...")],
    profile: ProfileOption = "quick",
    data: DataOption = None,
    store: StoreOption = None,
    report: ReportOption = Path("report"),
    jobs: Annotated[int | None, typer.Option(help="Trials to run at once; by default one per core.", min=1)] = None,
    notebooks: Annotated[
        bool, typer.Option(help="Run each combination in a notebook of its own; takes a second more each.")
    ] = False,
    decide: Annotated[
        bool, typer.Option("--decide", help="Add trials until every claim is decided or the budget is used up.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(help="With --decide: time for added training per study, such as 30m; 2h by default.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="With --decide: points that matter, instead of each claim's margin.")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Repetitions, instead of the profile's number.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    retry_failed: RetryOption = False,
    dry_run: DryRunOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --dry-run: print JSON.")] = False,
) -> None:
    """Train what papers need and the store lacks, execute the papers' notebooks, and write the report."""
    from rankplug.report import reproduce as run
    from rankplug.report import selected_studies
    from rankplug.store import Store
    from rankplug.studies import Budget, read_profile, read_time
    from rankplug.sweeps import Plan
    from rankplug.system import threads

    if not decide and (budget is not None or margin is not None):
        raise typer.BadParameter("--budget and --margin need --decide")
    if decide and trials is not None:
        raise typer.BadParameter("--decide chooses the number of trials; leave --trials out")
    results, size, at_once = Store(store), read_profile(profile), jobs or threads()
    common: dict[str, Any] = {"data": data, "seed": seed, "retry_failed": retry_failed, "trials": trials}
    plans = {study.name: study.plan(size, store=results, **common) for study in selected_studies(names)}
    plan = Plan.joined(plans.values())
    if dry_run:
        echo_plan(plan, results, at_once, as_json, by_study=plans)
        return
    echo(f"{plan}, in {results.folder}")
    if outlook := plan.outlook(results, at_once):
        echo(outlook)
    # Figures go to files. A lack of matplotlib is reported below.
    with contextlib.suppress(ImportError):
        import matplotlib as mpl

        mpl.use("agg")
    with interruptible(lambda: plan.kept(results)):
        page = run(
            names,
            profile=size,
            store=results,
            report=report,
            jobs=at_once,
            notebooks=notebooks,
            plans=plans,
            decide=Budget(read_time(budget or "2h"), margin) if decide else None,
            **common,
        )
    echo(f"The report is at {page.resolve()}")


def report(
    names: StudiesArgument = None,
    profile: ProfileOption = "quick",
    data: DataOption = None,
    store: StoreOption = None,
    report: ReportOption = Path("report"),
    dry_run: DryRunOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --dry-run: print JSON.")] = False,
) -> None:
    """Write the report of the studies whose runs are all in the store; train nothing."""
    from rankplug.report import reproduce
    from rankplug.store import Store
    from rankplug.studies import read_profile, studies, study

    size, results = read_profile(profile), Store(store)
    if dry_run:
        papers = [study(name) for name in names or ()] or studies()
        missing = {paper.name: len(paper.missing(size, data=data, store=results)) for paper in papers}
        if as_json:
            emit([{"study": name, "missing": count} for name, count in missing.items()])
            return
        rows = [(name, f"lacks {count} trials" if count else "complete") for name, count in missing.items()]
        echo_table(("study", f"profile {profile}"), rows)
        return
    page = reproduce(names or ["all"], profile=size, data=data, store=results, report=report, run_missing=False)
    echo(f"The report is at {page.resolve()}")


def claims(
    names: StudiesArgument = None,
    verdict: Annotated[
        list[str] | None, typer.Option(help="Only claims with this verdict, such as holds; may be repeated.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Folder of the report, or of evidence.")] = None,
    as_json: JSONOption = False,
) -> None:
    """List the papers' claims with verdict, effect and margin, as rankplug reproduce evaluated them."""
    from rankplug.errors import RankplugError, did_you_mean
    from rankplug.studies import VERDICTS as WORDS
    from rankplug.studies import read_artefacts
    from rankplug.system import report_folder

    known = (*WORDS, "not run", "not comparable")
    selected = verdict or known
    if unknown := [word for word in selected if word not in known]:
        raise RankplugError(f"there is no verdict {unknown[0]}: {did_you_mean(unknown[0], known)}")
    evaluations = read_artefacts(report or report_folder(), names or [])
    if as_json:
        described = [evaluation.describe() for evaluation in evaluations.values()]
        for paper in described:
            paper["claims"] = [claim for claim in paper["claims"] if claim["verdict"] in selected]
        emit(described)
        return
    for evaluation in evaluations.values():
        rows: list[list[Cell]] = []
        for claim in evaluation.claims:
            word = claim.judgement.verdict
            if word in selected:
                rows.append([(word, VERDICTS.get(word, "")), claim.effect, claim.margin, claim.label])
        meta = evaluation.meta
        title = f"{meta.study}, profile {meta.profile} of {meta.date}, {meta.trials} trials: {evaluation.in_short}"
        echo_table(("verdict", "effect", "margin", "claim"), rows, title=title)


def scoreboard(
    names: StudiesArgument = None,
    metric: Annotated[str, typer.Option(help="Metric; of any conventions unless they are given.")] = "ndcg@5",
    profile: Annotated[
        list[str] | None, typer.Option(help="Only runs of this profile: smoke, quick, full, real or paper; repeatable.")
    ] = None,
    margin: Annotated[float, typer.Option(help="Points that matter.")] = 0.5,
    store: ExistingStoreOption = None,
    report: Annotated[Path | None, typer.Option(help="Write it as a page, with its runs, into this folder.")] = None,
    dry_run: DryRunOption = False,
    as_json: JSONOption = False,
) -> None:
    """Compare the papers' methods on every collection that the store has runs of; train nothing."""
    from rankplug.store import Store
    from rankplug.studies import scoreboard as compare

    results = Store(store)
    standings = compare(names or [], store=results, metric=metric, profiles=profile or [], margin=margin)
    if as_json:
        emit(standings.describe())
    elif not standings.boards:
        echo(f"{results.folder} has no runs of these papers with the metric {metric}")
    for board in () if as_json else standings.boards:
        mean, critical = board.ranks.mean, board.ranks.critical
        difference = f"no critical difference: {board.ranks.why_not}"
        if critical is not None:
            difference = (
                f"critical difference {critical.critical_difference:.2f} over {critical.blocks} {critical.unit}"
            )
        rows = [
            (method.study, str(method), f"{mean[method]:.2f} of {len(mean)}" if method in mean else "", _cell(standing))
            for method, standing in board.standings.items()
        ]
        echo(f"{board.title}; {difference}\n")
        echo_table(("paper", "method", "mean rank", board.conditions.metric), rows, width=80)
    if report is not None and dry_run:
        runs = {identity for board in standings.boards for identity in board.identities}
        echo(f"would write the scoreboard and pages of {len(runs)} combinations into {report}", error=as_json)
    elif report is not None:
        from rankplug.report import write_scoreboard

        echo(f"The scoreboard is at {write_scoreboard(standings, results, report).resolve()}", error=as_json)


def _cell(standing: Standing | None) -> str:
    if standing is None:
        return ""
    interval = standing.interval
    mean = f"{interval.point:.4f}"
    if standing.has_interval:
        mean += f" [{interval.low:.4f}, {interval.high:.4f}]"
    return f"{mean} {f'{100 * standing.lead:.2f} behind: {standing.verdict}' if standing.verdict else 'best'}"


def cite(
    names: Annotated[
        list[str] | None, plugin_argument("study", "Studies, or all; by default rankplug itself.", "[STUDY]...")
    ] = None,
) -> None:
    """Print the BibTeX entries of papers, or of rankplug."""
    from rankplug.studies import bibliography

    emit(bibliography(names or []))


def verify(
    folder: Annotated[Path, typer.Argument(help="Unpacked archive of rankplug results export.")],
    as_json: JSONOption = False,
) -> None:
    """Check the files and results of an unpacked archive against their digests."""
    from rankplug.store import verify

    count, problems = verify(folder)
    if as_json:
        emit({"files": count, "problems": problems})
    else:
        for problem in problems:
            echo(problem, colour="red")
        if not problems:
            echo(f"{count} files verified")
    if problems:
        raise typer.Exit(1)

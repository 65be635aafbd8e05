"""``rankplug results``: tables, comparisons, and the upkeep of the store."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.cli._options import DryRunOption, ExistingStoreOption, JSONOption, MetricOption, StoreOption
from rankplug.system import echo, echo_table, emit

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import PaperTable

app = typer.Typer(name="results", help="Show, compare, merge, clean and export results.", rich_markup_mode=None)


class Format(StrEnum):
    """Output format of a table."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    LATEX = "latex"
    MARKDOWN = "markdown"


FormatOption = Annotated[Format, typer.Option("--format", help="Output format of the table.")]


@app.callback(invoke_without_command=True)
def results(
    context: typer.Context,
    where: Annotated[str, typer.Option(help="SQL condition, such as \"loss = 'xe_ndcg' and fold = 1\".")] = "",
    group_by: Annotated[
        str, typer.Option(help="Columns such as dataset,loss; shows means with intervals over trials.")
    ] = "",
    pool: Annotated[str, typer.Option(help="Parts, such as backend, that may differ inside a group.")] = "",
    metric: MetricOption = None,
    form: FormatOption = Format.TABLE,
    pivot: Annotated[str, typer.Option(help="Columns of a paper's table: metric, or dataset,metric.")] = "",
    bold: Annotated[bool, typer.Option("--bold", help="With --pivot: mark the highest value of each column.")] = False,
    versus: Annotated[
        str, typer.Option(help="With --pivot: mark what differs significantly from this row, such as lambdarank.")
    ] = "",
    sql: Annotated[str, typer.Option(help="SQL query on the tables trials, queries, curves and failures.")] = "",
    plot: Annotated[
        Path | None, typer.Option(help="Draw means with intervals over trials into this file, such as losses.png.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --plot: write no file.")] = False,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Show results: one row per combination, or per group with --group-by; other formats have one row per trial."""
    from rankplug.store import ResultsError, Store, paper_table, query
    from rankplug.store import results as select

    if context.invoked_subcommand is not None:
        return
    form = Format.JSON if as_json else form
    if (bold or versus) and not pivot:
        raise typer.BadParameter("--bold and --versus mark a paper's table; add --pivot metric")
    opened = Store(store)
    if sql:
        _echo_frame(query(sql, opened), form)
        return
    groups, pooled, across = (_names(text) for text in (group_by, pool, pivot))
    selection: dict[str, Any] = {"where": where, "metric": metric or (), "group_by": groups, "pool": pooled}
    if across:
        echo_paper_table(paper_table(opened, pivot=across, bold=bold, versus=versus, **selection), form)
    elif plot is not None:
        from rankplug.plotting import save_figure
        from rankplug.store import draw_results

        figure = draw_results(opened, **selection)
        echo(f"would draw {plot}" if dry_run else f"drew {save_figure(figure, plot)}")
    elif form is Format.TABLE and not groups:
        try:
            echo_paper_table(paper_table(opened, **selection))
        except ResultsError:
            # Combinations that differ in nothing that tables show, such as their metrics, make no table together.
            _echo_frame(select(opened, **selection), form)
    else:
        _echo_frame(select(opened, **selection), form)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def echo_paper_table(table: PaperTable, form: Format = Format.TABLE) -> None:
    """Print a paper's table with the meaning of its marks."""
    from rankplug.store import paper_table_cells, plain_note, write_paper_table

    if form is Format.TABLE:
        echo_table(*paper_table_cells(table))
        echo(f"\n{plain_note(table)}")
    else:
        _echo_text(write_paper_table(table, form), form)


def _echo_frame(frame: pd.DataFrame, form: Format) -> None:
    from rankplug.store import table_cells, write_table

    if form is Format.TABLE and len(frame):
        echo_table(*table_cells(frame))
    else:
        _echo_text(write_table(frame, form), form)


def _echo_text(table: str, form: Format) -> None:
    (echo if form in (Format.TABLE, Format.MARKDOWN) else emit)(table)


@app.command()
def compare(
    first: Annotated[str, typer.Argument(help="SQL condition of the first group, such as \"loss = 'xe_ndcg'\".")],
    second: Annotated[str, typer.Argument(help="SQL condition of the second, such as \"loss = 'lambdarank'\".")],
    metric: MetricOption = None,
    form: FormatOption = Format.TABLE,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Compare two combinations, paired by trial and query, with tests."""
    from rankplug.store import Store, compare

    frame = compare(first, second, store=Store(store), metric=metric or ())
    _echo_frame(frame, Format.JSON if as_json else form)


@app.command()
def merge(
    others: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER|ARCHIVE...", help="Stores, or archives exported from stores."),
    ],
    origin: Annotated[
        str, typer.Option(help="Where the results come from; by default the name of the folder or archive.")
    ] = "",
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Check results of other stores, and copy those that this one lacks."""
    from rankplug.store import Store, merge

    report = merge(Store(store), others, origin, dry_run=dry_run)
    if as_json:
        emit(vars(report))
        return
    verb = "would merge" if dry_run else "merged"
    echo(f"{verb} {report.new} new results ({report.there} already present)")
    if report.unlike:
        echo(f"{len(report.unlike)} of those present have other numbers and are unchanged, first: {report.unlike[0]}")


@app.command()
def clean(
    outdated: Annotated[bool, typer.Option("--outdated", help="Also results of other versions or data.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete them.")] = False,
    dry_run: DryRunOption = False,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """List what killed sweeps left behind and, on request, outdated results; delete them with --yes."""
    from rankplug.store import Finding, Store, leftovers, remove
    from rankplug.store import outdated as find_outdated

    findings = leftovers(Store(store))
    unknown: list[Finding] = []
    if outdated:
        stale, unknown = find_outdated(Store(store))
        findings += stale
    delete = yes and not dry_run
    if delete:
        remove(findings)
    if as_json:
        lists = {"deleted" if delete else "found": findings, "kept": unknown}
        emit({word: [vars(finding) for finding in listed] for word, listed in lists.items()})
        return
    for finding in unknown:
        echo(f"kept {finding.path}: {finding.why}", error=True)
    for finding in findings:
        echo(f"{finding.path}: {finding.why}")
    count = sum(len(finding.files) for finding in findings)
    hint = "; --yes deletes them" if count else ""
    echo(f"{count} files deleted" if delete else f"{count} files would be deleted{hint}")


@app.command()
def compact(dry_run: DryRunOption = False, store: ExistingStoreOption = None, as_json: JSONOption = False) -> None:
    """Index all results, which makes queries over thousands of them fast; the results stay unchanged."""
    from rankplug.store import Store

    opened = Store(store)
    if dry_run:
        count = len(opened.paths())
        emit({"results": count}) if as_json else echo(f"would index {count} results")
        return
    count, size = opened.compact()
    emit({"results": count, "size": size}) if as_json else echo(f"indexed {count} results in {size / 1e6:.1f} MB")


@app.command()
def export(
    target: Annotated[Path, typer.Argument(help="Zip archive to write.")],
    dry_run: DryRunOption = False,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Write an archive of all results with everything needed to run them again."""
    from rankplug.store import Store, export

    paths = Store(store).paths()
    size = sum(path.stat().st_size for path in paths)
    written = target if dry_run else export(Store(store), target)
    if as_json:
        emit({"file": str(written), "written": not dry_run, "results": len(paths), "bytes": size})
    else:
        echo(f"{'would write' if dry_run else 'wrote'} {len(paths)} results ({size / 1e6:.1f} MB) to {written}")

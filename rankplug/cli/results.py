"""``rankplug results``: tables of what sweeps found, comparisons, and the upkeep of the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankplug.system import echo, echo_table, emit

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import PaperTable

app = typer.Typer(help="Show, compare, merge, clean and export results.", rich_markup_mode=None)

STORE_HELP = "Folder of results; else that of the project, which rankplug doctor tells."
StoreOption = Annotated[Path | None, typer.Option(help=STORE_HELP)]
JSONOption = Annotated[bool, typer.Option("--json", help="Print JSON; of a table the same as --format json.")]
ExistingStoreOption = Annotated[Path | None, typer.Option(help=STORE_HELP, exists=True, file_okay=False)]


class Format(StrEnum):
    """Output format of a table."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    LATEX = "latex"
    MARKDOWN = "markdown"


@app.callback(invoke_without_command=True)
def results(
    context: typer.Context,
    where: Annotated[str, typer.Option(help="A condition in SQL: \"loss = 'xe_ndcg' and fold = 1\".")] = "",
    group_by: Annotated[str, typer.Option(help="Columns such as dataset,loss; means with intervals over trials.")] = "",
    pool: Annotated[str, typer.Option(help="Parts such as backend that may differ inside a group.")] = "",
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; may be repeated.")] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format of the table.")] = Format.TABLE,
    pivot: Annotated[str, typer.Option(help="Make these columns of a paper's table: metric, or dataset,metric.")] = "",
    bold: Annotated[bool, typer.Option("--bold", help="With --pivot, mark the highest of each column.")] = False,
    versus: Annotated[
        str, typer.Option(help="With --pivot, mark with daggers what differs from this row, such as lambdarank.")
    ] = "",
    sql: Annotated[str, typer.Option(help="Query in SQL on the tables trials, queries, curves and failures.")] = "",
    plot: Annotated[
        Path | None, typer.Option(help="Draw means with intervals over trials into this file, such as losses.png.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --plot, write no file.")] = False,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Show results: a row a trial and metric, or a row a group."""
    from rankplug.store import Store, paper_table, query, results

    if context.invoked_subcommand is not None:
        return
    form = Format.JSON if as_json else form
    if (bold or versus) and not pivot:
        raise typer.BadParameter("--bold and --versus mark a paper's table; add --pivot metric")
    if sql:
        frame = query(sql, Store(store))
    else:
        groups, pooled, across = (
            [name.strip() for name in names.split(",") if name.strip()] for names in (group_by, pool, pivot)
        )
        if across:
            table = paper_table(
                Store(store), where=where, metric=metric or (), group_by=groups, pivot=across, pool=pooled, bold=bold,
                versus=versus,
            )  # fmt: skip
            tell_paper_table(table, form)
            return
        if plot is not None:
            _draw(plot, store, where, metric or (), groups, pooled, dry_run)
            return
        frame = results(Store(store), where=where, metric=metric or (), group_by=groups, pool=pooled)
    _tell(frame, form)


def tell_paper_table(table: PaperTable, form: Format = Format.TABLE) -> None:
    """Print a paper's table with what its marks mean."""
    from rankplug.store import paper_table_cells, plain_note, write_paper_table

    if form is not Format.TABLE:
        _print(write_paper_table(table, form), form)
        return
    echo_table(*paper_table_cells(table))
    echo(f"\n{plain_note(table)}")


def _tell(frame: pd.DataFrame, form: Format) -> None:
    from rankplug.store import table_cells, write_table

    if form is Format.TABLE and len(frame):
        echo_table(*table_cells(frame))
    else:
        _print(write_table(frame, form), form)


def _print(table: str, form: Format) -> None:
    (echo if form in (Format.TABLE, Format.MARKDOWN) else emit)(table)


def _draw(
    target: Path,
    store: Path | None,
    where: str,
    metric: Sequence[str],
    groups: Sequence[str],
    pool: Sequence[str],
    dry_run: bool,
) -> None:
    from rankplug.plotting import save_figure
    from rankplug.store import Store, draw_results

    figure = draw_results(Store(store), where=where, metric=metric, group_by=groups, pool=pool)
    echo(f"would draw {target}" if dry_run else f"drew {save_figure(figure, target)}")


@app.command()
def compare(
    first: Annotated[str, typer.Argument(help="A condition in SQL: \"loss = 'xe_ndcg'\".")],
    second: Annotated[str, typer.Argument(help="Condition of the second group: \"loss = 'lambdarank'\".")],
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; may be repeated.")] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format of the table.")] = Format.TABLE,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Compare two combinations, paired by trial and query, with tests."""
    from rankplug.store import Store
    from rankplug.store import compare as compared

    _tell(compared(first, second, store=Store(store), metric=metric or ()), Format.JSON if as_json else form)


@app.command()
def merge(
    others: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER|ARCHIVE...", help="Stores, or archives that were exported from some."),
    ],
    origin: Annotated[
        str, typer.Option(help="Where the results come from, in words; else the name of the folder or archive.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check and count what would come, and copy nothing.")
    ] = False,
    store: StoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Copy what other stores have and this one lacks, once digests and descriptions are checked."""
    from rankplug.store import Store
    from rankplug.store import merge as merged

    done = merged(Store(store), others, origin, dry_run=dry_run)
    if as_json:
        emit(json.dumps(vars(done)))
        return
    echo(f"{done.new} results {'would come' if dry_run else 'came'} new, {done.there} were there")
    if done.unlike:
        echo(f"{len(done.unlike)} of those there have other numbers, ours were kept, the first: {done.unlike[0]}")


@app.command()
def clean(
    outdated: Annotated[bool, typer.Option("--outdated", help="Also results of other versions or data.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete them.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be deleted, as without --yes.")] = False,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Print what killed sweeps left behind, and on request outdated results; with --yes, delete them."""
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
        listed = {"deleted" if delete else "found": findings, "kept": unknown}
        emit(json.dumps({word: [vars(finding) for finding in found] for word, found in listed.items()}, default=str))
        return
    for finding in unknown:
        echo(f"kept {finding.path}: {finding.why}", error=True)
    for finding in findings:
        echo(f"{finding.path}: {finding.why}")
    count = sum(len(finding.files) for finding in findings)
    if delete:
        echo(f"{count} files deleted")
    else:
        echo(f"{count} files would be deleted" + ("; --yes deletes them" if count else ""))


@app.command()
def compact(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the results, and write no index.")] = False,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Write an index of all results, which makes questions to thousands of them fast; the results stay unchanged."""
    from rankplug.store import Store

    if dry_run:
        count = len(Store(store).paths())
        (emit(json.dumps({"results": count})) if as_json else echo(f"{count} results would be in one index"))
        return
    done = Store(store).compact()
    if as_json:
        emit(json.dumps(vars(done)))
        return
    echo(f"{done.results} results are in an index of {done.size / 1e6:.1f} MB")


@app.command()
def export(
    target: Annotated[Path, typer.Argument(help="The zip archive to write.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be in it, and write nothing.")] = False,
    store: ExistingStoreOption = None,
    as_json: JSONOption = False,
) -> None:
    """Write an archive of all results with everything needed to run them again."""
    from rankplug.store import Store
    from rankplug.store import export as exported

    paths = Store(store).paths()
    size = sum(path.stat().st_size for path in paths)
    written = target if dry_run else exported(Store(store), target)
    if as_json:
        emit(json.dumps({"file": str(written), "written": not dry_run, "results": len(paths), "bytes": size}))
    else:
        said = f"would be written to {target}" if dry_run else f"are in {written}"
        echo(f"{len(paths)} results of {size / 1e6:.1f} MB {said}")

"""Options that several commands share, with completion of plugins' names in shells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer


def names_of(kind: str) -> Callable[[str], list[str]]:
    """Return the function that completes the names of all plugins of one kind."""

    def complete(incomplete: str) -> list[str]:
        from rankplug.registry import registry

        names = {plugin.specification.name for plugin in registry().plugins(kind)}
        return sorted(name for name in names if name.startswith(incomplete))

    return complete


def plugin_option(kind: str, help: str) -> Any:
    """Return the declaration of an option that names a plugin."""
    return typer.Option(help=help, autocompletion=names_of(kind))


def plugin_argument(kind: str, help: str, metavar: str | None = None) -> Any:
    """Return the declaration of an argument that names a plugin."""
    return typer.Argument(help=help, metavar=metavar, autocompletion=names_of(kind))


JSONOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print what would happen, and change nothing.")]

STORE_HELP = "Folder of results; by default that of the project, which rankplug doctor prints."
StoreOption = Annotated[Path | None, typer.Option(help=STORE_HELP)]
ExistingStoreOption = Annotated[Path | None, typer.Option(help=STORE_HELP, exists=True, file_okay=False)]
ReportOption = Annotated[Path, typer.Option(help="Folder of the report.")]

MetricOption = Annotated[list[str] | None, plugin_option("metric", "Metric, such as ndcg@5; may be repeated.")]
ProfileOption = Annotated[str, typer.Option(help="Size of the runs: smoke, quick, full, real or paper.")]
DataOption = Annotated[str | None, plugin_option("dataset", "Data set to use instead of the profile's.")]
JobsOption = Annotated[int, typer.Option(help="Trials to run at once; they share the cores.", min=1)]
RetryOption = Annotated[bool, typer.Option("--retry-failed", help="Run failed trials again.")]
StudiesArgument = Annotated[list[str] | None, plugin_argument("study", "Studies; all by default.", "[STUDY]...")]

ModelArgument = Annotated[Path, typer.Argument(help="Model file written by rankplug train.")]
ModelDatasetArgument = Annotated[str | None, plugin_argument("dataset", "Data set; by default the model's own.")]
ModelFoldOption = Annotated[int | None, typer.Option(help="Fold; by default the model's own.")]
ModelSeedOption = Annotated[int | None, typer.Option(help="Seed of a random split; by default the model's own.")]
ModelTransformOption = Annotated[
    list[str] | None, plugin_option("transform", "Transform of the data; by default the model's own.")
]
PartOption = Annotated[str, typer.Option(help="Part of the data: train, valid, test or all.")]

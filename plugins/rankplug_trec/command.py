"""``rankplug trec run`` and ``rankplug trec qrels``: rankings and judgements for TREC's tools."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.cli._options import (
    ModelDatasetArgument,
    ModelFoldOption,
    ModelSeedOption,
    ModelTransformOption,
    PartOption,
    StoreOption,
)
from rankplug.system import echo, emit

if TYPE_CHECKING:
    from rankplug.sweeps import KeptRun

TRIAL = re.compile(r"[0-9a-f]{16}-f\d+-t\d+")

OUT = Annotated[Path, typer.Option("--out", "-o", help="File to write.")]
DRY = Annotated[bool, typer.Option("--dry-run", help="Count what would be written, and write nothing.")]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(
        name="trec", help="Write rankings and judgements for TREC's tools.", no_args_is_help=True, rich_markup_mode=None
    )
    commands.command()(run)
    commands.command()(qrels)
    app.add_typer(commands, rich_help_panel="Training and comparing")


def run(
    model: Annotated[str, typer.Argument(help="Model file written by rankplug train, or a trial with stored scores.")],
    dataset: ModelDatasetArgument = None,
    out: OUT = Path("run.txt"),
    fold: ModelFoldOption = None,
    seed: ModelSeedOption = None,
    transform: ModelTransformOption = None,
    part: PartOption = "test",
    tag: Annotated[str, typer.Option(help="Name of the run.")] = "rankplug",
    depth: Annotated[int | None, typer.Option(min=1, help="Maximum number of documents per query.")] = None,
    header: Annotated[bool, typer.Option(help="Write ir_metadata in comments at the top.")] = True,
    store: StoreOption = None,
    dry_run: DRY = False,
    as_json: JSON = False,
) -> None:
    """Write the ranking of a data set's documents as a TREC run."""
    from rankplug.cli.train import part_of
    from rankplug.training import load_model
    from rankplug_trec import write_run

    if Path(model).exists() or dataset is not None:
        fitted = load_model(model)
        name, lists = part_of(fitted.record.data, dataset, fold, seed, transform, part, model)
        scores, combination, versions = fitted.predict(lists), fitted.record.combination, fitted.record.versions
        trained_on = str(fitted.record.data.get("dataset") or "")
    else:
        name, stored = _stored(model, store, fold, seed, transform, part)
        lists, scores = stored.lists, stored.scores
        combination, versions = stored.trial.combination.model_dump(), stored.record.get("versions", {})
        trained_on = stored.trial.combination.dataset
    if not dry_run:
        metadata = run_metadata(combination, versions, name, trained_on, tag) if header else None
        write_run(out, lists, scores, tag=tag, metadata=metadata, depth=depth)
    lines = sum(length if depth is None else min(length, depth) for length in lists.lengths.tolist())
    _report(out, {"documents": lines, "queries": len(lists)}, name, dry_run, as_json)


def qrels(
    dataset: Annotated[
        str,
        typer.Argument(help="Data set; or a model file or a trial with stored scores, for the data that it ranks."),
    ],
    out: OUT = Path("qrels.txt"),
    fold: ModelFoldOption = None,
    seed: ModelSeedOption = None,
    transform: ModelTransformOption = None,
    part: PartOption = "test",
    store: StoreOption = None,
    dry_run: DRY = False,
    as_json: JSON = False,
) -> None:
    """Write the labels of a data set's documents as TREC judgements."""
    from rankplug.cli.train import part_of
    from rankplug.training import load_model, sidecar_of
    from rankplug_trec import write_qrels

    if TRIAL.fullmatch(dataset):
        name, stored = _stored(dataset, store, fold, seed, transform, part)
        lists = stored.lists
    elif sidecar_of(Path(dataset)).is_file():
        name, lists = part_of(load_model(dataset).record.data, None, fold, seed, transform, part, dataset)
    else:
        name, lists = part_of({}, dataset, fold, seed, transform, part, "")
    if not dry_run:
        write_qrels(out, lists)
    _report(out, {"judgements": lists.documents, "queries": len(lists)}, name, dry_run, as_json)


def run_metadata(
    combination: Mapping[str, Any], versions: Mapping[str, str], dataset: str, trained_on: str, tag: str
) -> dict[str, Any]:
    """Return the metadata of a run after ir_metadata: platform, implementation, method and data.

    Research goal and actor are for a person to add.

    Args:
        combination: texts of backend, scorer, loss and sampler, and the seed.
        versions: versions of Python and packages.
        dataset: the ranked data, in words.
        trained_on: the training data, in words.
        tag: name of the run.
    """
    libraries = [f"{name}=={version}" for name, version in versions.items() if name != "python"]
    parts = ("backend", "scorer", "loss", "sampler", "seed")
    method = {name: combination[name] for name in parts if combination.get(name) not in (None, "")}
    return {
        "tag": tag,
        "platform": {
            "hardware": {"cpu": {"architecture": platform.machine(), "number of cores": os.cpu_count()}},
            "operating system": {"kernel": platform.release(), "distribution": platform.system()},
            "software": {"libraries": {"python": libraries}},
        },
        "implementation": {"source": {"lang": [f"python {versions.get('python', platform.python_version())}"]}},
        "method": {"automatic": True, "retrieval": [{"name": "re-ranking by a learnt scorer", **method}]},
        "data": {"test collection": {"name": dataset}, "training data": [{"name": trained_on}] if trained_on else []},
    }


def _stored(
    trial: str, store: Path | None, fold: int | None, seed: int | None, transform: list[str] | None, part: str
) -> tuple[str, KeptRun]:
    """Return what a trial ranked, with its name in words; raise where other documents are asked for."""
    from rankplug.cli.train import name_of_part
    from rankplug.errors import DataError
    from rankplug.store import Store
    from rankplug.sweeps import kept_run

    if (fold, seed, transform, part) != (None, None, None, "test"):
        raise DataError(f"scores of {trial} are of its own test part; leave out --fold, --seed, --transform and --part")
    stored = kept_run(trial, Store(store))
    return name_of_part(stored.trial.combination.dataset, stored.trial.fold, part, stored.trial.seed), stored


def _report(out: Path, counts: dict[str, int], data: str, dry_run: bool, as_json: bool) -> None:
    if as_json:
        emit({"file": str(out), "written": not dry_run, "data": data, **counts})
        return
    sizes = " of ".join(f"{count:,} {what}" for what, count in counts.items())
    echo(f"{out}: {sizes}{' would be written' if dry_run else ''}")

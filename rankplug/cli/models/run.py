"""``rankplug run`` and ``rankplug qrels``: rankings and judgements for TREC's tools."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.system import hand_over, say

if TYPE_CHECKING:
    from rankplug.data import Lists
    from rankplug.store import KeptRun

TRIAL = re.compile(r"[0-9a-f]{16}-f\d+-t\d+")

OUT = Annotated[Path, typer.Option("--out", "-o", help="File to write.")]
FOLD = Annotated[int | None, typer.Option(help="Fold; the model's own by default.")]
SEED = Annotated[int | None, typer.Option(help="Seed of a random split; the model's own by default.")]
TRANSFORM = Annotated[list[str] | None, typer.Option(help="Transform of the data; the model's own by default.")]
PART = Annotated[str, typer.Option(help="Part of the data: train, valid or test.")]
STORE = Annotated[Path | None, typer.Option(help="Folder of results; else that of the project.")]
DRY = Annotated[bool, typer.Option("--dry-run", help="Count what would be written, and write nothing.")]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run")(run)
    app.command("qrels")(qrels)


def run(
    model: Annotated[
        str, typer.Argument(help="A file that rankplug train wrote, or a trial whose scores a sweep has kept.")
    ],
    dataset: Annotated[str | None, typer.Argument(help="Data set; the model's own by default.")] = None,
    out: OUT = Path("run.txt"),
    fold: FOLD = None,
    seed: SEED = None,
    transform: TRANSFORM = None,
    part: PART = "test",
    tag: Annotated[str, typer.Option(help="Name of the run.")] = "rankplug",
    depth: Annotated[int | None, typer.Option(min=1, help="Documents of a query at most.")] = None,
    header: Annotated[bool, typer.Option(help="Begin with metadata in comments, as ir_metadata has it.")] = True,
    store: STORE = None,
    dry_run: DRY = False,
    as_json: JSON = False,
) -> None:
    """Write the ranking of a data set's documents as a run of TREC."""
    from rankplug.data import write_run
    from rankplug.training import load_model, run_metadata

    if Path(model).exists() or dataset is not None:
        fitted = load_model(model)
        name, lists = part_of(fitted.record.data, dataset, fold, seed, transform, part, model)
        scores, combination, versions = fitted.predict(lists), fitted.record.combination, fitted.record.versions
        trained_on = str(fitted.record.data.get("dataset") or "")
    else:
        name, kept = _kept(model, store, fold, seed, transform, part)
        lists, scores = kept.lists, kept.scores
        combination, versions = kept.trial.combination.model_dump(), kept.record.get("versions", {})
        trained_on = kept.trial.combination.dataset
    if not dry_run:
        metadata = run_metadata(combination, versions, name, trained_on, tag) if header else None
        write_run(out, lists, scores, tag=tag, metadata=metadata, depth=depth)
    lines = sum(length if depth is None else min(length, depth) for length in lists.lengths.tolist())
    _tell(out, {"documents": lines, "queries": len(lists)}, name, dry_run, as_json)


def qrels(
    dataset: Annotated[
        str,
        typer.Argument(help="Name of a data set; a model file or a trial with kept scores stands for what it ranks."),
    ],
    out: OUT = Path("qrels.txt"),
    fold: FOLD = None,
    seed: SEED = None,
    transform: TRANSFORM = None,
    part: PART = "test",
    store: STORE = None,
    dry_run: DRY = False,
    as_json: JSON = False,
) -> None:
    """Write the labels of a data set's documents as judgements of TREC."""
    from rankplug.data import write_qrels
    from rankplug.training import load_model, sidecar_of

    if TRIAL.fullmatch(dataset):
        name, kept = _kept(dataset, store, fold, seed, transform, part)
        lists = kept.lists
    elif sidecar_of(Path(dataset)).is_file():
        name, lists = part_of(load_model(dataset).record.data, None, fold, seed, transform, part, dataset)
    else:
        name, lists = part_of({}, dataset, fold, seed, transform, part, "")
    if not dry_run:
        write_qrels(out, lists)
    _tell(out, {"judgements": lists.documents, "queries": len(lists)}, name, dry_run, as_json)


def _kept(
    trial: str, store: Path | None, fold: int | None, seed: int | None, transform: list[str] | None, part: str
) -> tuple[str, KeptRun]:
    """Return what a trial ranked, with its name in words; raise where other documents are asked for."""
    from rankplug.errors import DataError
    from rankplug.store import Store, kept_run

    if (fold, seed, transform, part) != (None, None, None, "test"):
        raise DataError(f"scores of {trial} are of its own test part; leave out --fold, --seed, --transform and --part")
    kept = kept_run(trial, Store(store))
    return _in_words(kept.trial.combination.dataset, kept.trial.fold, part, kept.trial.seed), kept


def _in_words(dataset: str, fold: int, part: str, seed: int) -> str:
    return f"{dataset} fold {fold} {part}, seed {seed}"


def _tell(out: Path, counts: dict[str, int], data: str, dry_run: bool, as_json: bool) -> None:
    if as_json:
        hand_over(json.dumps({"file": str(out), "written": not dry_run, "data": data, **counts}, indent=1))
        return
    told = " of ".join(f"{count:,} {what}" for what, count in counts.items())
    say(f"{out}: {told}{' would be written' if dry_run else ''}")


def part_of(
    own: dict[str, Any],
    dataset: str | None,
    fold: int | None,
    seed: int | None,
    transform: list[str] | None,
    part: str,
    model: Any,
) -> tuple[str, Lists]:
    """Return a part of the data that are named, or of those that a model has learnt from, with its name in words."""
    from rankplug.data import Split, load
    from rankplug.errors import DataError

    wanted = dataset or own.get("dataset")
    if wanted is None:
        raise DataError(f"{model} does not know its data set; name one")
    if part not in Split._fields:
        raise DataError(f"a data set has the parts {', '.join(Split._fields)}, not {part}")
    number, drawn = own.get("fold", 1) if fold is None else fold, own.get("seed", 0) if seed is None else seed
    split = load(
        wanted,
        fold=number,
        seed=drawn,
        transforms=own.get("transforms", []) if transform is None else transform,
    )
    lists: Lists = getattr(split, part)
    return _in_words(wanted, number, part, drawn), lists

"""``rankplug train`` and ``rankplug evaluate``: fit one scorer to one loss, and measure a model that was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.system import echo, emit

if TYPE_CHECKING:
    from rankplug.data import Lists

DATASET = Annotated[str, typer.Argument(help="Name of a data set, such as synthetic[queries=200].")]
FOLD = Annotated[int, typer.Option(help="Fold of the data set, from 1.")]
SEED = Annotated[int, typer.Option(help="Seed of everything random.")]
MODEL_FOLD = Annotated[int | None, typer.Option(help="Fold; the model's own by default.")]
MODEL_SEED = Annotated[int | None, typer.Option(help="Seed of a random split; the model's own by default.")]
MODEL_TRANSFORM = Annotated[list[str] | None, typer.Option(help="Transform of the data; the model's own by default.")]
PART = Annotated[str, typer.Option(help="Part of the data: train, valid or test.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("train")(train)
    app.command("evaluate")(evaluate)


def train(
    dataset: DATASET,
    loss: Annotated[str, typer.Option(help="Loss to minimise, such as xe_ndcg.")],
    out: Annotated[
        Path, typer.Option(help="File for the model; one more is written beside it, and nothing but models replaced.")
    ],
    backend: Annotated[
        str, typer.Option(help="Backend to train with, such as lightgbm or torch[lr=0.01].")
    ] = "lightgbm",
    scorer: Annotated[str | None, typer.Option(help="Scorer to fit; by default the backend's usual one.")] = None,
    sampler: Annotated[str | None, typer.Option(help="Noise on the scores, such as gumbel[samples=8].")] = None,
    debias: Annotated[
        str | None, typer.Option(help="Debiasing of clicks that the lists carry, such as ips or dual.")
    ] = None,
    fold: FOLD = 1,
    seed: SEED = 0,
    transform: Annotated[
        list[str] | None, typer.Option(help="Transform of the data; may be given several times.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric that chooses the iteration on validation data (default ndcg@5); several decide in order."
        ),
    ] = None,
    patience: Annotated[int | None, typer.Option(help="Iterations without improvement before early stopping.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be trained, and how long it may take.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train on a data set, choose the iteration on its validation part, and save the model."""
    from rankplug.data import load
    from rankplug.training import check_replaceable, check_writable, fit

    check_writable(out)
    check_replaceable(out)
    transforms = transform or []
    names = metric or ["ndcg@5"]
    if dry_run:
        parts = {"dataset": dataset, "transforms": transforms, "backend": backend, "scorer": scorer or "", "loss": loss,
                 "sampler": sampler or "", "debias": debias or "", "selection": names, "patience": patience,
                 "seed": seed}  # fmt: skip
        _tell_training(parts, fold, out, as_json)
        return
    split = load(dataset, fold=fold, seed=seed, transforms=transforms)
    model = fit(
        backend,
        scorer=scorer,
        loss=loss,
        sampler=sampler,
        debias=debias,
        train=split.train,
        valid=split.valid,
        seed=seed,
        selection=names,
        patience=patience,
    )
    model.record.data.update({"dataset": dataset, "fold": fold, "transforms": transforms, "seed": seed})
    model.save(out)
    best = model.best_iteration
    values = {name: model.curve.columns[f"valid {name}"][best] for name in names}
    if as_json:
        made = model.record
        facts = {"file": str(out), "iteration": best, "iterations": made.iterations, "valid": values}
        emit(json.dumps({**facts, "stopped": made.stopped, "seconds": made.seconds["total"]}, indent=1))
        return
    chosen = ", ".join(f"valid {name} {value:.4f}" for name, value in values.items())
    stopped = f"stopped: {model.record.stopped}" if model.record.stopped != "finished" else "finished"
    echo(
        f"{out}: iteration {best} of {model.record.iterations} ({stopped}), {chosen},"
        f" {model.record.seconds['total']:.1f} s"
    )


def _tell_training(parts: dict[str, Any], fold: int, out: Path, as_json: bool) -> None:
    from rankplug.errors import FitError
    from rankplug.store import Store, Trial, read_combination
    from rankplug.sweeps import expected_time

    combination = read_combination(parts).validate_plugins()
    if not combination.fits:
        raise FitError(f"backend {combination.backend} cannot fit the scorer {combination.scorer}")
    expected = expected_time([Trial(combination, fold)], Store())
    if as_json:
        told = {"file": str(out), "fold": fold, "seconds": expected.seconds if expected.known else None}
        emit(json.dumps({**told, **combination.model_dump(mode="json")}, indent=1))
        return
    echo(f"would train {combination}, fold {fold}, and write {out}")
    echo(expected.sentence())


def evaluate(
    model: Annotated[Path, typer.Argument(help="A file that rankplug train wrote.")],
    dataset: Annotated[str | None, typer.Argument(help="Data set; the model's own by default.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Metric; may be given several times (default ndcg@5).")
    ] = None,
    fold: MODEL_FOLD = None,
    seed: MODEL_SEED = None,
    transform: MODEL_TRANSFORM = None,
    part: PART = "test",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure a saved model: the mean over queries, and how many of them count."""
    from rankplug import metrics
    from rankplug.training import load_model

    fitted = load_model(model)
    _, lists = part_of(fitted.record.data, dataset, fold, seed, transform, part, model)
    rows = []
    for name in metric or ["ndcg@5"]:
        values = metrics.evaluate(fitted, lists, name)
        counted = int(values.notna().sum())
        rows.append({"metric": name, "mean": values.mean() if counted else None, "counted": counted,
                     "queries": values.size})  # fmt: skip
        if not as_json:
            echo(f"{name} {values.mean():.6f} ({counted} of {values.size} queries)")
    if as_json:
        emit(json.dumps(rows, indent=1))


def part_of(
    own: dict[str, Any],
    dataset: str | None,
    fold: int | None,
    seed: int | None,
    transform: list[str] | None,
    part: str,
    model: Any,
) -> tuple[str, Lists]:
    """Return a part of the data that a command names, else of the data of a model, with its name in words.

    Args:
        own: data set, fold, seed and transforms that the model's record names.
        dataset: its name; this and the next three are the model's own where they are None.
        fold: its fold.
        seed: the seed of random splits and transforms.
        transform: names of transforms.
        part: train, valid or test.
        model: file of the model, for messages.
    """
    from rankplug.data import Split, load
    from rankplug.errors import DataError

    name = dataset or own.get("dataset")
    if name is None:
        raise DataError(f"{model} does not know its data set; name one")
    if part not in Split._fields:
        raise DataError(f"a data set has the parts {', '.join(Split._fields)}, not {part}")
    fold = own.get("fold", 1) if fold is None else fold
    seed = own.get("seed", 0) if seed is None else seed
    transforms = own.get("transforms", []) if transform is None else transform
    lists: Lists = getattr(load(name, fold=fold, seed=seed, transforms=transforms), part)
    return name_of_part(name, fold, part, seed), lists


def name_of_part(dataset: str, fold: int, part: str, seed: int) -> str:
    """Return the name of a part in words."""
    return f"{dataset} fold {fold} {part}, seed {seed}"

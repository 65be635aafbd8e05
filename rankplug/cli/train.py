"""``rankplug train``, ``evaluate`` and ``predict``: fit a model, measure a saved one, and score new rows with it."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankplug.cli._options import (
    DryRunOption,
    JSONOption,
    MetricOption,
    ModelArgument,
    ModelDatasetArgument,
    ModelFoldOption,
    ModelSeedOption,
    ModelTransformOption,
    PartOption,
    plugin_argument,
    plugin_option,
)
from rankplug.system import echo, emit

if TYPE_CHECKING:
    from rankplug.data import Lists

PART = re.compile("[a-z_]+=")
ColumnsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ROLE=COLUMN]...", help="Columns of a file; those of training by default."),
]


def train(
    words: Annotated[
        list[str],
        plugin_argument(
            "dataset",
            "A data set, such as synthetic[queries=200], or a file with columns, such as shop.csv query=search"
            " label=relevance; or the parts of a combination as in rankplug sweep, such as dataset=synthetic"
            " loss=xe_ndcg backend=torch.",
            "DATASET|PART=VALUE",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Model file to write; another file is written beside it.")] = Path("model"),
    loss: Annotated[str | None, plugin_option("loss", "Loss to minimise; by default xe_ndcg.")] = None,
    backend: Annotated[
        str | None, plugin_option("backend", "Training backend, such as torch[lr=0.01]; by default lightgbm.")
    ] = None,
    scorer: Annotated[str | None, plugin_option("scorer", "Scorer to fit; by default the backend's usual one.")] = None,
    sampler: Annotated[str | None, plugin_option("sampler", "Noise on the scores, such as gumbel[samples=8].")] = None,
    debias: Annotated[str | None, plugin_option("debiasing", "Debiasing of clicks, such as ips or dual.")] = None,
    fold: Annotated[int, typer.Option(help="Fold of the data set, from 1.")] = 1,
    seed: Annotated[int | None, typer.Option(help="Random seed; by default 0.")] = None,
    transform: Annotated[
        list[str] | None, plugin_option("transform", "Transform of the data; may be repeated.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        plugin_option("metric", "Validation metric that selects the iteration, by default ndcg@5; others break ties."),
    ] = None,
    patience: Annotated[int | None, typer.Option(help="Iterations without improvement before early stopping.")] = None,
    dry_run: DryRunOption = False,
    as_json: JSONOption = False,
) -> None:
    """Train a model on a data set, select the iteration on validation data, and save it."""
    from rankplug.data import ColumnsWarning, in_words, load
    from rankplug.errors import FitError
    from rankplug.store import Combination, Store, Trial
    from rankplug.sweeps import expected_time
    from rankplug.training import check_replaceable, check_writable, fit

    check_writable(out)
    check_replaceable(out)
    options = {
        "loss": loss,
        "backend": backend,
        "scorer": scorer,
        "sampler": sampler,
        "debias": debias,
        "seed": seed,
        "transforms": transform,
        "selection": metric,
        "patience": patience,
    }
    parts = {"backend": "lightgbm", "loss": "xe_ndcg"} | read_parts(words) | _specified(options)
    columns = {name: parts.pop(name) for name in parts.keys() - Combination.model_fields.keys()}
    if columns and "dataset" in parts:
        parts["dataset"] = _with_columns(parts["dataset"], columns)
    combination = Combination(**parts).validate_plugins()
    if dry_run:
        if not combination.fits:
            raise FitError(f"backend {combination.backend} cannot fit the scorer {combination.scorer}")
        expected = expected_time([Trial(combination, fold)], Store())
        if as_json:
            seconds = expected.seconds if expected.known else None
            emit({"file": str(out), "fold": fold, "seconds": seconds, **combination.model_dump(mode="json")})
            return
        echo(f"would train {combination}, fold {fold}, and write {out}")
        echo(expected.sentence())
        return
    name, seed, transforms = combination.dataset, combination.seed, [*combination.transforms]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsWarning)
        split = load(name, fold=fold, seed=seed, transforms=transforms)
    if split.train.columns:
        echo(in_words(split.train.columns), error=as_json)
    model = fit(train=split.train, valid=split.valid, seed=seed, **combination.fit_arguments)
    model.record.data.update({"dataset": name, "fold": fold, "transforms": transforms, "seed": seed})
    model.save(out)
    record, best = model.record, model.best_iteration
    values = {name: model.curve.columns[f"valid {name}"][best] for name in combination.selection}
    seconds = record.seconds["total"]
    if as_json:
        facts = {"file": str(out), "iteration": best, "iterations": record.iterations, "valid": values}
        emit({**facts, "stopped": record.stopped, "seconds": seconds})
        return
    quality = ", ".join(f"valid {name} {value:.4f}" for name, value in values.items())
    reason = "finished" if record.stopped == "finished" else f"stopped: {record.stopped}"
    echo(f"{out}: iteration {best} of {record.iterations} ({reason}), {quality}, {seconds:.1f} s")


def read_parts(words: Sequence[str]) -> dict[str, Any]:
    """Read the parts of a combination from words such as ``loss=xe_ndcg``; a word without a name is the data set.

    >>> read_parts(["synthetic[queries=9]", "loss=mse", "seed=2"])
    {'loss': 'mse', 'seed': 2, 'dataset': 'synthetic[queries=9]'}
    """
    from rankplug.errors import GrammarError
    from rankplug.registry import parse

    named = [word for word in words if PART.match(word)]
    datasets = [word for word in words if not PART.match(word)]
    if len(datasets) > 1:
        raise GrammarError(f"name one data set, not {' and '.join(datasets)}; write other parts as in loss=xe_ndcg")
    parts = dict(parse(f"train[{','.join(named)}]").parameters)
    return parts | {"dataset": datasets[0]} if datasets else parts


def _specified(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value not in (None, [])}


def _with_columns(dataset: str, columns: Mapping[str, Any]) -> str:
    """Return the name of a data set or file with further parameters."""
    from rankplug.data import named_dataset
    from rankplug.registry import canonical

    return canonical("dataset", named_dataset(dataset, columns))


def predict(
    model: ModelArgument,
    table: Annotated[Path, typer.Argument(help="Rows to score: CSV, TSV, JSON lines, Parquet, Arrow or Feather.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write, such as scores.csv or .parquet; else printed.")
    ] = None,
    query: Annotated[str, typer.Option(help="Column of queries; the training data's by default.")] = "",
    document: Annotated[str, typer.Option(help="Column of documents; the training data's by default.")] = "",
) -> None:
    """Score the rows of a table without labels, in their order, beside their query and document."""
    from rankplug.data import write_table
    from rankplug.training import load_model

    scored = load_model(model).score_table(table, query=query, document=document)
    if out is None:
        scored.to_pandas().to_csv(sys.stdout, index=False)
        return
    write_table(scored, out)
    echo(f"{out}: {scored.num_rows:,} rows with {', '.join(scored.column_names)}")


def evaluate(
    model: ModelArgument,
    dataset: ModelDatasetArgument = None,
    columns: ColumnsArgument = None,
    metric: MetricOption = None,
    fold: ModelFoldOption = None,
    seed: ModelSeedOption = None,
    transform: ModelTransformOption = None,
    part: PartOption = "test",
    as_json: JSONOption = False,
) -> None:
    """Measure a saved model; the metric is ndcg@5 by default."""
    from rankplug import metrics
    from rankplug.training import load_model

    fitted = load_model(model)
    if dataset is not None and columns:
        dataset = _with_columns(dataset, read_parts(columns))
    _, lists = part_of(fitted.record.data, dataset, fold, seed, transform, part, model)
    rows = []
    for name in metric or ["ndcg@5"]:
        values = metrics.evaluate(fitted, lists, name)
        count = int(values.notna().sum())
        rows.append(
            {"metric": name, "mean": values.mean() if count else None, "counted": count, "queries": values.size}
        )
        if not as_json:
            echo(f"{name} {values.mean():.6f} ({count} of {values.size} queries)")
    if as_json:
        emit(rows)


def part_of(
    own: dict[str, Any],
    dataset: str | None,
    fold: int | None,
    seed: int | None,
    transform: list[str] | None,
    part: str,
    model: Any,
) -> tuple[str, Lists]:
    """Return a part of the data that a command names, else of a model's data, with its name in words.

    Args:
        own: data set, fold, seed and transforms in the model's record.
        dataset: name of the data set; this and the next three are the model's own if None.
        fold: fold, from 1.
        seed: seed of random splits and transforms.
        transform: names of transforms.
        part: train, valid, test or all.
        model: model file, for messages.
    """
    from rankplug.data import Lists, Split, load
    from rankplug.errors import DataError
    from rankplug.registry import parse, registry

    name = dataset or own.get("dataset")
    if name is None:
        raise DataError(f"{model} does not record its data set; name one")
    if part not in (*Split._fields, "all"):
        raise DataError(f"a data set has the parts {', '.join(Split._fields)} and all of them, all; not {part}")
    if dataset is not None and registry().specification("dataset", dataset).endings:
        # A file's columns are those of the training data where the user names no others.
        known = own.get("columns") or {}
        roles = {role: known[role] for role in ("query", "label", "document") if known.get(role)}
        name = _with_columns(dataset, {**roles, **parse(dataset).parameters})
    fold = own.get("fold", 1) if fold is None else fold
    seed = own.get("seed", 0) if seed is None else seed
    transforms = own.get("transforms", []) if transform is None else transform
    split = load(name, fold=fold, seed=seed, transforms=transforms)
    lists: Lists = Lists.concatenate(split) if part == "all" else getattr(split, part)
    return name_of_part(name, fold, part, seed), lists


def name_of_part(dataset: str, fold: int, part: str, seed: int) -> str:
    """Return the name of a part in words."""
    return f"{dataset} fold {fold} {part}, seed {seed}"

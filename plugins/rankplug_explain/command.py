"""``rankplug explain``: which features decide the order of documents under a saved model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, cast

import typer

from rankplug.cli._options import (
    JSONOption,
    ModelArgument,
    ModelDatasetArgument,
    ModelFoldOption,
    ModelSeedOption,
    ModelTransformOption,
    PartOption,
)
from rankplug.system import echo, echo_table, emit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Training and comparing")(explain)


def explain(
    model: ModelArgument,
    dataset: ModelDatasetArgument = None,
    method: Annotated[
        str | None, typer.Option(help="shap or permutation; by default shap where the model has trees.")
    ] = None,
    metric: Annotated[str, typer.Option(help="Metric of the permutation method.")] = "ndcg@10",
    repeats: Annotated[int, typer.Option(min=1, help="Permutations of each feature.")] = 3,
    top: Annotated[int, typer.Option(min=1, help="Number of features to show.")] = 20,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to draw into, such as features.png.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --out: write no file.")] = False,
    fold: ModelFoldOption = None,
    seed: ModelSeedOption = None,
    transform: ModelTransformOption = None,
    part: PartOption = "test",
    as_json: JSONOption = False,
) -> None:
    """Show which features decide the order of documents inside their queries, with intervals over queries."""
    from rankplug.cli.train import part_of
    from rankplug.plotting import save_figure
    from rankplug.training import load_model
    from rankplug_explain.importance import Method, draw_explanation
    from rankplug_explain.importance import explain as explained

    fitted = load_model(model)
    name, lists = part_of(fitted.record.data, dataset, fold, seed, transform, part, model)
    explanation = explained(fitted, lists, method=cast("Method | None", method), metric=metric, repeats=repeats)
    if out is not None and not dry_run:
        out = save_figure(draw_explanation(explanation, top), out)
    if as_json:
        facts = {"model": str(model), "data": name, **explanation.attrs}
        emit({**facts, "features": json.loads(explanation.to_json(orient="records"))})
        return
    about = explanation.attrs
    echo(f"{about['method']}, in units of {about['unit']}, over {about['queries']} queries of {name}")
    numbers = ["importance", "low", "high"]
    rows = [[str(row["feature"]), *(f"{row[name]:.5f}" for name in numbers)]
            for row in explanation.head(top).to_dict("records")]  # fmt: skip
    echo_table(("feature", *numbers), rows)
    if out is not None:
        echo(f"{'would draw' if dry_run else 'drew'} {out}")

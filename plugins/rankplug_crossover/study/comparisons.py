"""Comparisons of the combinations: with the best of the papers, by the choice of validation data, by ranks, and tuned.

Each fold chooses for itself, by its own validation part. A collection's folds rotate, so that what validates one fold
tests another: a choice by the mean over all folds would use every label of the test parts.

Every tuned model draws equally many hyper-parameters at random, those of an engine the same ones. In each fold
validation data choose the draw, by the mean over trials, and in each trial the epoch or number of trees; the test part
is looked at once. Ranks of tuned models are taken within each collection and compared over the collections, as Demsar
(2006) asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from rankplug.plotting import PALETTE, draw_ranks, new_figure
from rankplug.statistics import LEVEL, CriticalDifference, Interval, Unit, critical_difference, holm
from rankplug.studies import OfficialFolds, Results, interval_of, p_value_of
from rankplug.sweeps import validation_quality
from rankplug_crossover.study.protocol import (
    BACKENDS,
    METRIC,
    METRICS,
    NOISY,
    PLAIN,
    SIZES,
    TUNED,
    TUNED_MODELS,
    cells,
    paper_of,
    whole_grids,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def quality(results: Results, group: str, metric: str = METRIC) -> pd.DataFrame:
    """Return each model's mean test metric in percent with its 95 % interval, best first, and its paper if any."""
    intervals = {model: results.mean(group, metric, model, scale=100) for model in results.models(group)}
    queries = len(results.by_query(group, metric).dropna())
    rows = [
        {"model": model, "ours": interval.point, "low": interval.low, "high": interval.high, "queries": queries}
        | {"paper": paper_of(str(model)), "combination": results.combinations_of(group, model)}
        for model, interval in intervals.items()
    ]
    return pd.DataFrame(rows).sort_values("ours", ascending=False, kind="stable", ignore_index=True)


def best_of_papers(results: Results, group: str, metric: str = METRIC) -> str:
    """Return the papers' own combination with the highest mean on test data, the hardest to beat."""
    frame = quality(results, group, metric)
    return str(frame.loc[frame["paper"] != "", "model"].iloc[0])


def validation_folds(results: Results, group: str) -> pd.DataFrame:
    """Return each model's best validation quality, averaged over trials: a row a model, a column a fold."""
    frame = results[group]
    best = {model: validation_quality(rows).max() for model, rows in frame.groupby("model", observed=True)}
    return pd.DataFrame.from_dict(best, orient="index")


def grid(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Pivot a column of :func:`quality` into a table, a row for each loss, a column for each backend and noise."""
    values = frame.set_index("model")[column]
    rows: dict[str, dict[Any, Any]] = {}
    for cell in cells():
        if cell.model in values.index:
            rows.setdefault(cell.loss, {})[cell.backend, cell.noise] = values[cell.model]
    columns = pd.MultiIndex.from_tuples([(backend, noise) for backend in BACKENDS for noise in (PLAIN, NOISY)])
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns)


def heading(results: Results, group: str) -> str:
    """Return the words for a collection in the titles of figures."""
    return f"on data {group}" if results.is_made(group) else f"on {group}"


def candidates(results: Results, group: str) -> list[str]:
    """Return the combinations of the grid that no paper has."""
    models = set(results.models(group))
    return [cell.model for cell in cells() if cell.model in models and not cell.paper]


def better_than_papers(results: Results, group: str, metric: str = METRIC) -> pd.DataFrame:
    """Compare every combination that the papers lack with the best one in them, best first.

    The reference is the best on the *test* data, so that nothing in the papers is better; whoever beats it by a test
    beats them all. One-sided tests by the design of the data, corrected by Holm for all candidates together.
    """
    reference = best_of_papers(results, group, metric)
    rows = []
    for model in candidates(results, group):
        sample = results.difference(group, metric, model, reference)
        interval = interval_of(sample)
        rows.append(
            {"collection": group, "model": model, "reference": reference, "difference": 100 * interval.point}
            | {"low": 100 * interval.low, "high": 100 * interval.high, "over": sample.extent, "p": p_value_of(sample)}
            | {"combination": results.combinations_of(group, model)}
        )
    frame = pd.DataFrame(rows)
    corrected = holm(frame["p"], level=LEVEL / 2)
    frame = frame.assign(**{"p (Holm)": corrected.p_values, "better": corrected.rejected})
    return frame.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def table_of_better(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the ten new combinations with the largest lead over the best of the papers, on each collection."""
    frames = [better_than_papers(results, group).head(10) for group in whole_grids(results)]
    return pd.concat(frames, ignore_index=True), None


ANY, NEW, OWN = "all", "new combinations", "the papers' own"
WHO = (ANY, NEW, OWN, "stochastic", "xendcg", "uniquerating", "logrank")


def table_of_choices(results: Results) -> tuple[pd.DataFrame, None]:
    """Return for each collection the best of all, of the new combinations and of every paper, by validation NDCG@5."""
    rows: list[dict[str, Any]] = []
    for group in whole_grids(results):
        folds = validation_folds(results, group)
        for who in WHO:
            selected = choice(folds, who)
            models = list(dict.fromkeys(selected.values()))
            validation = [folds[fold][model] for fold, model in selected.items()]
            row: dict[str, Any] = {"collection": group, "chosen among": who, "model": "; ".join(models)}
            row["validation"] = 100 * sum(validation) / len(validation)
            for metric in METRICS:
                interval = mean_of_choice(results, group, metric, selected, scale=100)
                row |= {metric.upper(): interval.point, f"{metric.upper()} half width": interval.half_width}
            row["queries"] = len(results.by_query(group, METRICS[0]).dropna())
            rows.append({**row, "combination": results.combinations_of(group, *models)})
    return pd.DataFrame(rows), None


def choice(folds: pd.DataFrame, who: str) -> dict[int, str]:
    """Return the model that each fold's validation part chooses.

    Args:
        folds: validation quality, see :func:`~rankplug_crossover.study.quality.validation_folds`.
        who: among which models, one of :data:`WHO`.
    """
    papers = pd.Series(map(paper_of, folds.index), folds.index)
    among = {ANY: papers.notna(), NEW: papers == "", OWN: papers != ""}
    candidates = folds[among.get(who, papers == who)]
    return {int(fold): str(candidates[fold].idxmax()) for fold in candidates.columns}


def values_of_choice(results: Results, group: str, metric: str, chosen: Mapping[int, str]) -> pd.Series[float]:
    """Return the test metric of every query under the model that its fold chose."""
    values = results.by_query(group, metric)
    folds = values.index.get_level_values("fold")
    return pd.concat([values.loc[folds == fold, model] for fold, model in chosen.items()])


def mean_of_choice(results: Results, group: str, metric: str, chosen: dict[int, str], scale: float = 1.0) -> Interval:
    """Return the mean test metric where each fold is measured under the model that it chose."""
    own = values_of_choice(results, group, metric, chosen)
    return interval_of(results.sample_of_queries(group, scale * own, {(group, model) for model in chosen.values()}))


RANKED_NEW, RANKED_OWN = 7, 5
"""Numbers of new combinations and of the papers' own that are ranked."""


def leading(results: Results, group: str) -> list[str]:
    """Return the best new combinations and the best of the papers' own, both by validation data."""
    means = validation_folds(results, group).mean(axis=1).sort_values(ascending=False, kind="stable")
    order = [str(model) for model in means.index]
    new = [model for model in order if not paper_of(model)][:RANKED_NEW]
    return new + [model for model in order if paper_of(model)][:RANKED_OWN]


def ranks_of_leaders(results: Results, group: str) -> tuple[pd.DataFrame, CriticalDifference | None]:
    """Return the leading models with their mean ranks, and the critical difference between these.

    Blocks are what was repeated independently: the folds of a collection, or trials on data of their own. Queries of
    one fold or trial are answered by the same trained models and are no blocks. One block has no critical difference.
    """
    unit: Unit = "folds" if isinstance(results.design(group), OfficialFolds) else "trials"
    values = results.by_query(group, METRIC)[leading(results, group)].dropna()
    blocks = values.groupby(level=unit.removesuffix("s")).mean()
    ranks = (-blocks).rank(axis=1).mean()
    rows = pd.DataFrame({"collection": group, "model": ranks.index.astype(str), "mean rank": ranks.to_numpy()})
    return rows, critical_difference(blocks.to_numpy(), unit=unit) if len(blocks) > 1 else None


def draw_ranks_of_leaders(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw a critical difference diagram for each collection; bars join models whose difference is not significant."""
    every = {group: ranks_of_leaders(results, group) for group in whole_grids(results)}
    drawn = {group: difference for group, (_, difference) in every.items() if difference is not None}
    figure = None
    if drawn:
        figure, axes = new_figure(1, len(drawn), width=8.4, height=2.9, squeeze=False)
        for panel, (group, difference) in zip(axes[:, 0], drawn.items(), strict=True):
            models = list(every[group][0]["model"])
            colours = {model: PALETTE[3] if paper_of(model) else PALETTE[0] for model in models}
            draw_ranks(panel, models, difference, colours, {"new": PALETTE[0], "a paper's own": PALETTE[3]})
            panel.set_title(
                f"{heading(results, group)}: mean rank by {METRIC.upper()} of {len(models)} models over"
                f" {difference.blocks} {difference.unit} (1 is best); Friedman's p = {difference.p_value:.2g}",
                fontsize=8.5,
                pad=18,
            )
    frames = []
    for group, (rows, critical) in every.items():
        rows["paper"] = rows["model"].map(paper_of)
        rows["critical difference"] = critical.critical_difference if critical else float("nan")
        rows["combination"] = [results.combinations_of(group, model) for model in rows["model"]]
        frames.append(rows.sort_values("mean rank"))
    return pd.concat(frames, ignore_index=True), figure


COLUMNS_OF_TUNED = ("collection", "model", "paper", "ours", "half width", "draws", "trainings", "combination")


def table_of_tuned(results: Results) -> tuple[pd.DataFrame, None]:
    """Return each tuned model's test NDCG@5 in percent on each collection, with its budget; empty where not run."""
    rows = []
    for group in results.groups(kind=TUNED):
        runs = results.runs[group]
        for model in results.models(group):
            mean = results.mean(group, METRIC, model, scale=100)
            rows.append(
                {
                    "collection": results.place(group),
                    "model": model,
                    "paper": paper_of(TUNED_MODELS[model].model),
                    "ours": mean.point,
                    "half width": mean.half_width,
                    "draws": SIZES[results.profile].draws,
                    "trainings": len(runs.folds) * runs.trials * SIZES[results.profile].draws,
                    "combination": results.combinations_of(group, model),
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS_OF_TUNED)), None


def ranks_of_tuned(results: Results) -> tuple[list[str], CriticalDifference] | None:
    """Return the models and their ranks, with collections as blocks; none where there are not two collections."""
    groups = results.groups(kind=TUNED)
    if len(groups) < 2:
        return None
    models = results.models(groups[0])
    quality = [results.trials(group, METRIC)[models].mean().to_numpy() for group in groups]
    return models, critical_difference(quality, unit="data sets")


def draw_ranks_of_tuned(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw the critical difference diagram over collections; bars join models that are not told apart."""
    critical = ranks_of_tuned(results)
    if critical is None:
        return pd.DataFrame(columns=["model", "mean rank", "critical difference", "combination"]), None

    models, difference = critical
    groups = results.groups(kind=TUNED)
    papers = {model: paper_of(TUNED_MODELS[model].model) for model in models}
    paints = dict(zip(dict.fromkeys(papers.values()), PALETTE, strict=False))
    figure, axes = new_figure(width=8.4, height=2.9)
    draw_ranks(axes, models, difference, {model: paints[papers[model]] for model in models}, paints)
    axes.set_title(
        f"mean rank by {METRIC.upper()} over {len(groups)} collections (1 is best), all equally tuned;"
        f" Friedman's p = {difference.p_value:.2g}",
        fontsize=8.5,
        pad=18,
    )
    frame = pd.DataFrame({"model": models, "mean rank": difference.average_ranks})
    behind = [" ".join(results.combinations_of(group, model) for group in groups) for model in models]
    frame["critical difference"], frame["combination"] = difference.critical_difference, behind
    return frame.sort_values("mean rank", ignore_index=True), figure

"""One combination, described and run: what the notebook ``combination.ipynb`` shows, cell by cell.

Opened by hand it trains one trial while you watch; executed by a sweep it runs all trials of a combination and records
each the moment it is finished.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import numpy as np
from pydantic import Field

from rankplug.data import Split, load
from rankplug.errors import FitError, NotRunError
from rankplug.metrics import Metric
from rankplug.plotting import PALETTE, draw_mean, new_figure
from rankplug.registry import Parameters, read_parameters, registry
from rankplug.report.display import check_parameters
from rankplug.statistics import hierarchical_bootstrap
from rankplug.store import METRICS, Combination, Result, Store, Trial, markdown_table
from rankplug.sweeps import run_trial
from rankplug.system import use_threads

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from rankplug.training import Model

SIZES = {
    "smoke": {"dataset": "synthetic[queries=40,documents=20]", "lightgbm": "trees[rounds=10]"},
    "quick": {"dataset": "synthetic"},
}
"""Profile -> data set and scorer of each backend where none is named."""
Fold = Annotated[int, Field(ge=1)]
Repetition = Annotated[int, Field(ge=0)]


class TourParameters(Parameters):
    """The notebook's parameters; those of a combination mean what they mean there."""

    profile: Literal["smoke", "quick"] = Field("quick", description="size of what is not named")
    dataset: str = ""
    backend: str = "lightgbm"
    loss: str = "lambdarank"
    scorer: str = ""
    sampler: str = ""
    debias: str = ""
    transforms: tuple[str, ...] = ()
    selection: tuple[str, ...] = Field(("ndcg@5",), min_length=1)
    patience: int | None = None
    train_curve: bool = True
    metrics: tuple[str, ...] = METRICS
    seed: int = 0
    folds: tuple[Fold, ...] = Field((1,), min_length=1)
    trials: int = Field(1, ge=1, description="repetitions of each fold")
    runs: tuple[tuple[Fold, Repetition], ...] = Field(
        (), description="fold and number of each trial, in place of these"
    )
    identity: str = Field("", description="the combination's digest where this was planned")
    store: str = Field("", description="folder of results")
    progress: bool = Field(True, description="whether a bar shows the training")

    @property
    def combination(self) -> Combination:
        """The combination they name, with its plugins checked."""
        sizes = SIZES[self.profile]
        parts = {name: getattr(self, name) for name in Combination.model_fields}
        parts["dataset"] = self.dataset or sizes["dataset"]
        parts["scorer"] = self.scorer or sizes.get(self.backend, "")
        return Combination(**parts).validate_plugins()


def check_combination(values: Mapping[str, Any]) -> TourParameters:
    """Validate the notebook's parameters without a kernel, and name the one that is wrong."""
    parameters = read_parameters(TourParameters, values, "notebook combination.ipynb")
    if not parameters.combination.fits:
        raise FitError(f"backend {parameters.backend} cannot fit the scorer {parameters.scorer}")
    if parameters.identity not in ("", parameters.combination.identity):
        raise NotRunError(
            f"{parameters.combination} was planned as {parameters.identity[:40]}, but its data or plugins have changed,"
            " so nothing is recorded; run the sweep again"
        )
    return parameters


class Tour:
    """A combination with its trials and their results.

    Args:
        parameters: see :class:`TourParameters`; other names are ignored, so that ``Tour(globals())`` works.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        check_parameters(parameters)
        own = check_combination({name: parameters[name] for name in TourParameters.model_fields if name in parameters})
        runs = own.runs or itertools.product(own.folds, range(own.trials))
        self.combination = own.combination
        self.trials = [Trial(self.combination, fold, number) for fold, number in runs]
        self.store = Store(own.store or None)
        self._progress = None if own.progress else False
        self._models: dict[str, Model] = {}

    def _repr_markdown_(self) -> str:
        formulas, rows = [], []
        for part, plugins in self.combination.plugins.items():
            for plugin in plugins if part not in ("metrics", "selection") else []:
                kind = "transform" if part == "transforms" else part
                specification = registry().find(kind, plugin["name"]).specification
                parameters = ", ".join(f"{name} {value}" for name, value in plugin["parameters"].items())
                rows.append((part, f"`{plugin['name']}`", specification.summary, parameters))
                formulas.append(f"$${specification.formula}$$" if getattr(specification, "formula", "") else "")
        table = markdown_table(("part", "plugin", "what it is", "parameters"), rows)
        metrics = (", ".join(names) for names in (self.combination.selection, self.combination.metrics))
        choice = "The iteration is selected by {} and measured by {}.".format(*metrics)
        head = f"**{self.combination}**, trials: {len(self.trials)}"
        return "\n".join([head, "", table, "", choice, "", *formulas])

    @cached_property
    def split(self) -> Split:
        """The data of the first trial."""
        first, transforms = self.trials[0], self.combination.transforms
        return load(self.combination.dataset, fold=first.fold, seed=first.seed, transforms=transforms)

    def data(self) -> pd.DataFrame:
        """Return sizes and labels of the three parts."""
        import pandas as pd

        rows = {}
        every = np.unique(np.concatenate([lists.labels for lists in self.split]))
        for name, lists in self.split._asdict().items():
            sizes = {"queries": len(lists), "documents": lists.documents, "features": lists.features.shape[1]}
            lengths = {"shortest list": lists.lengths.min(), "longest list": lists.lengths.max()}
            shares = {f"label {label:g}": float(np.mean(lists.labels == label)) for label in every}
            rows[name] = {**sizes, **lengths, **shares}
        return pd.DataFrame.from_dict(rows, orient="index")

    def run(self) -> pd.DataFrame:
        """Run and record the trials that are not in the store, and return a summary of all; raise if some failed."""
        bad = [result for trial in self.trials if not self.store.has(trial) and (result := self._run(trial)).failed]
        if not_run := [result for result in bad if result.not_run]:
            raise NotRunError(f"{len(not_run)} of {len(self.trials)} trials could not run: {not_run[0].reason}")
        if bad:
            raise FitError(f"{len(bad)} of {len(self.trials)} trials failed, the first so:\n{bad[0].failure}")
        return self.summary()

    def _run(self, trial: Trial) -> Result:
        result = run_trial(trial, self._progress)
        if not result.not_run:
            self.store.write(result)
        if result.model is not None:
            self._models[trial.identity] = result.model
        return result

    @cached_property
    def results(self) -> list[Result]:
        """The stored results of the trials."""
        return [self.store.read(trial) for trial in self.trials]

    def summary(self) -> pd.DataFrame:
        """Return a table with one row for each trial."""
        import pandas as pd

        rows = []
        for result in self.results:
            means = {metric: np.nanmean(values) for metric, values in result.queries.items()}
            facts = {name: result.record[name] for name in ("best_iteration", "iterations", "fit_seconds")}
            rows.append({"fold": result.trial.fold, "trial": result.trial.number, **means, **facts})
        return pd.DataFrame(rows)

    def metrics(self) -> pd.DataFrame:
        """Return each metric's mean on the test queries with its 95 % interval."""
        import pandas as pd

        rows = {}
        for metric in self.combination.metrics:
            interval = hierarchical_bootstrap([result.queries[metric] for result in self.results])
            rows[metric] = {"mean": interval.point, "low": interval.low, "high": interval.high}
        return pd.DataFrame.from_dict(rows, orient="index")

    def curves(self) -> Figure:
        """Draw the first metric that selects on training and validation data after each iteration."""
        import pandas as pd

        metric = self.combination.selection[0]
        curves = [result.curve.frame().set_index("iteration") for result in self.results]
        figure, axes = new_figure()
        for part, colour in zip(("train", "valid"), PALETTE, strict=False):
            columns = [curve[f"{part} {metric}"] for curve in curves if f"{part} {metric}" in curve]
            if columns:
                draw_mean(axes, pd.concat(columns, axis=1).dropna(), colour, label=part)
        best = {int(result.record["best_iteration"]) for result in self.results if "best_iteration" in result.record}
        for index, iteration in enumerate(sorted(best)):
            axes.axvline(iteration, color="#555555", linestyle=":", linewidth=1, label="" if index else "kept")
        axes.set(xlabel="iteration", ylabel=metric)
        axes.legend()
        return _closed(figure)

    def extremes(self, count: int = 5) -> pd.DataFrame:
        """Return the worst and the best test queries of the first trial, by the last metric."""
        import pandas as pd

        test, first, metric = self.split.test, self.results[0], self.combination.metrics[-1]
        facts = {"documents": test.lengths, "relevant": np.add.reduceat(test.labels > 0, test.starts[:-1])}
        rows = pd.DataFrame({"query": test.query_ids, metric: first.queries[metric], **facts})
        ordered = rows.dropna().sort_values(metric, kind="stable", ignore_index=True)
        count = min(count, len(ordered) // 2)
        return pd.concat([ordered.head(count), ordered.tail(count)], keys=["worst", "best"]).droplevel(1)

    @cached_property
    def model(self) -> Model:
        """The first trial's model; it is trained again if its result came from the store."""
        first = self.trials[0]
        if first.identity not in self._models:
            self._models[first.identity] = cast("Model", run_trial(first, self._progress).model)
        return self._models[first.identity]

    def importance(self, queries: int = 50) -> pd.Series[float]:
        """Measure the fall of the last metric on test queries when a feature is shuffled among the documents."""
        import pandas as pd

        lists = self.split.test[: min(queries, len(self.split.test))]
        metric = Metric.named(self.combination.metrics[-1])
        whole = metric.mean(self.model.predict(lists), lists.labels, lists.starts)
        order = np.random.default_rng(0).permutation(lists.documents)
        falls = []
        with use_threads():
            for column in range(lists.features.shape[1]):
                features = np.array(lists.features)
                features[:, column] = features[order, column]
                scores = self.model.predict(replace(lists, features=features))
                falls.append(whole - metric.mean(scores, lists.labels, lists.starts))
        return pd.Series(falls, index=pd.RangeIndex(1, len(falls) + 1, name="feature"), name=f"fall of {metric}")

    def draw_importance(self, count: int = 15) -> Figure:
        """Draw bars for the features whose shuffling hurts most."""
        importance = self.importance()
        top = importance.nlargest(count)[::-1]
        figure, axes = new_figure(height=0.22 * len(top) + 0.8)
        axes.barh(range(len(top)), top, color=PALETTE[0])
        axes.set_yticks(range(len(top)), [str(feature) for feature in top.index], parse_math=False)
        axes.set(xlabel=str(importance.name), ylabel="feature")
        return _closed(figure)


def _closed(figure: Figure) -> Figure:
    """Close a figure, since a notebook shows one that stays open a second time."""
    import matplotlib.pyplot as plt

    plt.close(figure)
    return figure

"""Training of one model on data that outgrow one machine, by the engines' own Dask versions and with our objectives.

The training data are parts of whole lists, so no query is ever split over workers. Each worker computes the loss of its
own lists; the engines add up histograms over workers. Noise of samplers is keyed by a list's place on its worker, so
only losses without noise give the same model for any number of workers.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists
from rankplug.errors import DataError, FitError
from rankplug.losses import Loss
from rankplug.metrics import metric
from rankplug.registry import (
    BackendSpecification,
    Named,
    import_object,
    registry,
)
from rankplug.samplers import Sampler
from rankplug.system import package_versions, whole_number
from rankplug.training._models import LearningCurve, Model
from rankplug.training.debiasing.methods import Debiasing
from rankplug.training.fitting import Recipe, check_data, recipe_of
from rankplug.training.selection import Selection, metric_names
from rankplug.training.tree_settings import ENGINE, ROLES


@dataclass(frozen=True)
class SpreadLists:
    """Training data as Dask arrays whose chunks are parts of whole lists; one chunk of each array makes a part."""

    features: Any
    labels: Any
    lengths: Any
    query_numbers: Any


@dataclass(frozen=True, eq=False)
class ClusterProblem(Recipe):
    """Description of a model to be fitted on a cluster, with its data."""

    client: Any
    train: SpreadLists

    @property
    def settings(self) -> dict[str, Any]:
        """The scorer's parameters as the engine names them."""
        settings: dict[str, Any] = self.scorer_implementation(self.scorer_parameters)
        if local := [name for name in (*ROLES, ENGINE) if name in settings]:
            raise FitError(f"on a cluster, {self.scorer} cannot have {' or '.join(local)}; leave it out, or use rp.fit")
        return settings


@dataclass(frozen=True)
class FittedEngine:
    """A fitted engine: its model of all iterations, and access to the first of them.

    Args:
        staged: of features, the scores after each iteration in turn.
        cut: the model of the first iterations, with a record.
    """

    staged: Any
    cut: Any


def split_lists(lists: Lists, parts: int) -> list[Lists]:
    """Split lists into consecutive parts of about as many documents each; no list is split.

    >>> lists = Lists(np.ones((10, 1), np.float32), labels=np.zeros(10), starts=[0, 4, 5, 9, 10])
    >>> [part.lengths.tolist() for part in split_lists(lists, 2)]
    [[4, 1], [4, 1]]
    """
    if not 1 <= parts <= len(lists):
        raise DataError(f"{len(lists)} lists cannot be split into {parts} parts")
    bounds = [0]
    for part in range(1, parts):
        even = int(np.searchsorted(lists.starts, lists.documents * part / parts))
        # Every part has a list, however long its neighbours' are.
        bounds.append(min(max(even, bounds[-1] + 1), len(lists) - (parts - part)))
    bounds.append(len(lists))
    return [lists[first:last] for first, last in itertools.pairwise(bounds)]


def spread(client: Any, parts: Sequence[Any]) -> SpreadLists:
    """Make Dask arrays from parts, each a :class:`Lists` or a Dask future or delayed value of one."""
    import dask.array as da
    from dask.delayed import delayed

    # Scattered without a digest as name: equal data of an earlier fit may be about to be let go.
    held = [
        client.scatter(part, hash=False)
        if isinstance(part, Lists)
        else client.compute(part)
        if hasattr(part, "dask")
        else part
        for part in parts
    ]
    sizes = client.gather([client.submit(_size, part) for part in held])
    if len({columns for _, _, columns, _ in sizes}) > 1:
        raise DataError(f"the parts have different numbers of features: {sorted({size[2] for size in sizes})}")
    if any(categorical for *_, categorical in sizes):
        raise DataError("on a cluster, no feature can be categorical; encode it as numbers, or use rp.fit")

    def array(name: str, shapes: list[tuple[int, ...]], kind: Any) -> Any:
        pieces = [delayed(_piece)(part, name, first=first) for part, first in zip(held, firsts, strict=True)]
        chunks = [da.from_delayed(*piece, kind) for piece in zip(pieces, shapes, strict=True)]  # type: ignore[no-untyped-call]
        return da.concatenate(chunks)  # type: ignore[no-untyped-call]

    firsts = np.cumsum([0, *(lists for lists, *_ in sizes[:-1])]).tolist()
    return SpreadLists(
        array("features", [(documents, columns) for _, documents, columns, _ in sizes], np.float32),
        array("labels", [(documents,) for _, documents, *_ in sizes], np.float32),
        array("lengths", [(lists,) for lists, *_ in sizes], np.int64),
        array("query_numbers", [(documents,) for _, documents, *_ in sizes], np.int64),
    )


def _size(part: Lists) -> tuple[int, int, int, tuple[int, ...]]:
    return len(part), part.documents, part.features.shape[1], part.categorical


def _piece(part: Lists, name: str, first: int) -> NDArray[Any]:
    return part.query_of_document + first if name == "query_numbers" else np.asarray(getattr(part, name))


def fit_on_cluster(
    client: Any,
    backend: Named,
    *,
    loss: Named | Loss,
    train: Lists | Sequence[Any],
    scorer: Named | None = None,
    sampler: Named | Sampler | None = None,
    valid: Lists | None = None,
    selection: str | Sequence[str] = "ndcg@5",
    seed: int = 0,
    debias: Named | Debiasing | None = None,
) -> Model:
    """Fit a scorer to a loss on a Dask cluster; the model is an ordinary one.

    Args:
        client: of the cluster.
        backend: ``lightgbm`` or ``xgboost``, or another that can.
        loss: what is minimised.
        train: lists, which are spread over the workers, or parts of whole lists that the workers load themselves, as
            Dask futures or delayed values.
        scorer: what is fitted; the backend's usual one when absent.
        sampler: averages the loss over noise on the scores.
        valid: lists that choose the best iteration, once all are made.
        selection: what chooses.
        seed: of the noise and the trees.
        debias: takes the bias of positions out of the clicks that ``train`` carries, ``"ips"`` or ``"dual"``.
    """
    if debias is not None:
        options: dict[str, Any] = {
            "loss": loss, "scorer": scorer, "sampler": sampler, "selection": selection, "seed": seed,
        }  # fmt: skip
        return _debiased(Debiasing.named(debias), train, valid, partial(fit_on_cluster, client, backend, **options))
    began = time.perf_counter()
    if not hasattr(client, "scheduler_info"):
        raise FitError(f"client must be a dask.distributed.Client, not {client!r}")
    whole_number(seed, "seed")
    recipe = recipe_of(backend, scorer, loss, sampler, seed)
    engine = recipe.backend_specification
    if not engine.on_cluster:
        can = [
            specification.name
            for specification in registry().specifications(BackendSpecification)
            if specification.on_cluster
        ]
        raise FitError(f"{engine} cannot fit on a cluster; {' and '.join(can)} can")
    metrics = metric_names(selection)
    for name in metrics:
        metric(name)
    whole = train if isinstance(train, Lists) else None
    if whole is not None:
        check_data(recipe, whole, valid)
    workers = len(client.scheduler_info(n_workers=-1)["workers"])
    parts = split_lists(train, min(workers, len(train))) if isinstance(train, Lists) else list(train)
    if len(parts) < workers:
        raise FitError(f"{workers} workers need at least as many parts of the training data, got {len(parts)}")
    lists = spread(client, parts)
    recipe = recipe.for_data(lists.lengths.shape[0], lists.features.shape[1])
    problem = ClusterProblem(**vars(recipe), client=client, train=lists)
    with client.as_current():
        fitted: FittedEngine = import_object(engine.on_cluster, str(engine))(problem)
    curve, best = _select(fitted, valid, metrics, problem.scorer_parameters.rounds)  # type: ignore[attr-defined]
    record = recipe.record_with(
        whole,
        valid,
        features=problem.train.features.shape[1],
        versions=package_versions((*engine.requires, "distributed")),
        curve=curve,
        iterations=problem.scorer_parameters.rounds,  # type: ignore[attr-defined]
        best_iteration=best,
        seconds={"total": time.perf_counter() - began},
    )
    model: Model = fitted.cut(best + 1, record)
    return model


def _debiased(
    debiasing: Debiasing, train: Lists | Sequence[Any], valid: Lists | None, fit_plain: Callable[..., Model]
) -> Model:
    """Fit lists that carry clicks; propensities are told by all of them, so they are not yet in parts."""
    if not isinstance(train, Lists):
        raise FitError(f"debias={debiasing} takes the training data as rankplug.Lists; parts tell no propensities")

    def fit_lists(train: Lists, valid: Lists | None, positions: NDArray[np.int64] | None) -> Model:
        if positions is not None:
            raise FitError(f"on a cluster, debias cannot be {debiasing}; take ips or dual, or use rp.fit")
        return fit_plain(train=train, valid=valid)

    return debiasing.fit(train, valid, fit_lists)


def _select(
    fitted: FittedEngine, valid: Lists | None, metrics: tuple[str, ...], rounds: int
) -> tuple[LearningCurve, int]:
    curve = LearningCurve()
    if valid is None:
        return curve, rounds - 1
    chosen, qualities = Selection(metrics), [metric(name) for name in metrics]
    staged: Iterator[NDArray[Any]] = fitted.staged(valid.features)
    for iteration, scores in enumerate(staged):
        values = [quality.mean(scores, valid.labels, valid.starts) for quality in qualities]
        curve.add(iteration, {f"valid {name}": value for name, value in zip(metrics, values, strict=True)})
        chosen.improves(iteration, values)
    return curve, chosen.best_iteration

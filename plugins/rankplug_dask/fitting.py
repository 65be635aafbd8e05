"""Training of one model on data that outgrow one machine, by the engines' own Dask versions with our objectives.

The training data are parts of whole lists, so no query is split over workers. Each worker computes the loss of its own
lists; the engines add up histograms over workers. Noise of samplers is keyed by a list's place on its worker, so only
losses without noise give the same model for any number of workers.

An engine that can fit on a cluster has a method ``fit_on_cluster(problem: Problem, client) -> FittedEngine``, in whose
problem the training data are :class:`SpreadLists`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists
from rankplug.errors import DataError, FitError
from rankplug.losses import Loss
from rankplug.metrics import Metric, metric
from rankplug.registry import Named, registry
from rankplug.samplers import Sampler
from rankplug.system import package_versions, whole_number
from rankplug.training import LearningCurve, Model, Problem, Selection, debiased, metric_names


@dataclass(frozen=True, eq=False)
class SpreadLists:
    """Training data as Dask arrays whose chunks are parts of whole lists; one chunk of each array makes a part."""

    features: Any
    labels: Any
    lengths: Any
    query_numbers: Any
    feature_names: tuple[str, ...] = ()
    fingerprint: str | None = None
    categorical: tuple[int, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.lengths.shape[0])


@dataclass(frozen=True)
class FittedEngine:
    """A fitted engine.

    Args:
        staged: function of features that yields the scores after each iteration.
        cut: function of a number of iterations and a record that returns the model of the first iterations.
    """

    staged: Any
    cut: Any


def tree_settings(problem: Problem) -> dict[str, Any]:
    """Return the scorer's parameters as the engine names them; raise an error for those that need one machine."""
    settings: dict[str, Any] = problem.scorer_implementation(problem.scorer_parameters)
    needs_all_data = ("categorical", "increasing", "decreasing", "engine", "query_bagging")
    if local := [name for name in needs_all_data if name in settings]:
        raise FitError(f"on a cluster, {problem.scorer} cannot have {' or '.join(local)}; leave it out, or use rp.fit")
    return settings


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


def spread(client: Any, parts: Sequence[Any], fingerprint: str | None = None) -> SpreadLists:
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
    if len({columns for _, _, columns, *_ in sizes}) > 1:
        raise DataError(f"the parts have different numbers of features: {sorted({size[2] for size in sizes})}")
    if len({names for *_, names, _ in sizes}) > 1:
        raise DataError("the features of the parts have different names, or another order")
    if any(categorical for *_, categorical in sizes):
        raise DataError("on a cluster, no feature can be categorical; encode it as numbers, or use rp.fit")

    def array(name: str, shapes: list[tuple[int, ...]], kind: Any) -> Any:
        pieces = [delayed(_piece)(part, name, first=first) for part, first in zip(held, firsts, strict=True)]
        chunks = [da.from_delayed(*piece, kind) for piece in zip(pieces, shapes, strict=True)]
        return da.concatenate(chunks)

    firsts = np.cumsum([0, *(lists for lists, *_ in sizes[:-1])]).tolist()
    return SpreadLists(
        array("features", [(documents, columns) for _, documents, columns, *_ in sizes], np.float32),
        array("labels", [(documents,) for _, documents, *_ in sizes], np.float32),
        array("lengths", [(lists,) for lists, *_ in sizes], np.int64),
        array("query_numbers", [(documents,) for _, documents, *_ in sizes], np.int64),
        feature_names=sizes[0][3],
        fingerprint=fingerprint,
    )


def _size(part: Lists) -> tuple[int, int, int, tuple[str, ...], tuple[int, ...]]:
    return len(part), part.documents, part.features.shape[1], part.feature_names, part.categorical


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
    debias: Named | None = None,
) -> Model:
    """Fit a scorer to a loss on a Dask cluster; the model is an ordinary one.

    Args:
        client: a ``dask.distributed.Client``.
        backend: ``lightgbm`` or ``xgboost``, or another that can.
        loss: the loss to minimise.
        train: lists, which are spread over the workers, or parts of whole lists that the workers load themselves, as
            Dask futures or delayed values.
        scorer: the scorer to fit; the backend's default when absent.
        sampler: averages the loss over noise on the scores.
        valid: lists that select the best iteration, after all have run.
        selection: metric that selects the iteration, or several, compared in their order.
        seed: random seed of the noise and the trees.
        debias: takes the bias of positions out of the clicks that ``train`` carries, ``"ips"`` or ``"dual"``.
    """
    if debias is not None:
        options: dict[str, Any] = {
            "loss": loss, "scorer": scorer, "sampler": sampler, "selection": selection, "seed": seed,
        }  # fmt: skip
        return _debiased(debias, train, valid, partial(fit_on_cluster, client, backend, **options))
    started = time.perf_counter()
    if not hasattr(client, "scheduler_info"):
        raise FitError(f"client must be a dask.distributed.Client, not {client!r}")
    whole_number(seed, "seed")
    specification = registry().specification("backend", backend)
    engine = specification.load()
    if not hasattr(engine, "fit_on_cluster"):
        raise FitError(f"{specification} cannot fit on a cluster; lightgbm and xgboost can")
    metrics = {name: metric(name) for name in metric_names(selection)}
    workers = len(client.scheduler_info(n_workers=-1)["workers"])
    if isinstance(train, Lists):
        if not len(train):
            raise DataError("there is no list to train on")
        parts, fingerprint = split_lists(train, min(workers, len(train))), train.fingerprint
    else:
        parts, fingerprint = list(train), None
    if len(parts) < workers:
        raise FitError(f"{workers} workers need at least as many parts of the training data, got {len(parts)}")
    lists = cast(Lists, spread(client, parts, fingerprint))
    problem = Problem.of(backend, loss=loss, train=lists, scorer=scorer, sampler=sampler, valid=valid, seed=seed)
    with client.as_current():
        fitted: FittedEngine = engine.fit_on_cluster(problem, client)
    rounds = problem.scorer_parameters.rounds  # type: ignore[attr-defined]
    curve, best = _select(fitted, problem.valid, metrics, rounds)
    record = problem.record(
        curve=curve,
        iterations=rounds,
        best_iteration=best,
        seconds={"total": time.perf_counter() - started},
    )
    record.versions.update(package_versions(("distributed",)))
    model: Model = fitted.cut(best + 1, record)
    return model


def _debiased(
    debias: Named, train: Lists | Sequence[Any], valid: Lists | None, fit_plain: Callable[..., Model]
) -> Model:
    """Fit lists that carry clicks; propensities are estimated from all of them, so they must not be in parts."""
    if not isinstance(train, Lists):
        raise FitError(f"debias={debias} takes the training data as rankplug.Lists; propensities need all of them")

    def fit_lists(train: Lists, valid: Lists | None, positions: NDArray[np.int64] | None) -> Model:
        if positions is not None:
            raise FitError(f"on a cluster, debias cannot be {debias}; take ips or dual, or use rp.fit")
        return fit_plain(train=train, valid=valid)

    return debiased(debias, train, valid, fit_lists)


def _select(
    fitted: FittedEngine, valid: Lists | None, metrics: Mapping[str, Metric], rounds: int
) -> tuple[LearningCurve, int]:
    curve = LearningCurve()
    if valid is None:
        return curve, rounds - 1
    selection = Selection(tuple(metrics))
    staged: Iterator[NDArray[Any]] = fitted.staged(valid.features)
    for iteration, scores in enumerate(staged):
        values = [quality.mean(scores, valid.labels, valid.starts) for quality in metrics.values()]
        curve.add(iteration, {f"valid {name}": value for name, value in zip(metrics, values, strict=True)})
        selection.improves(iteration, values)
    return curve, selection.best_iteration

"""LightGBM as a backend.

A scorer it fits names a function ``(parameters) -> dict`` of LightGBM's parameters under ``fitted_by["lightgbm"]``; its
parameters have ``rounds``, the number of trees.

Results are the same for any number of threads with ``deterministic`` (the default). Under ``boosting=dart`` the scores
of the training data are those of the trees that were not dropped, so there is no training curve.
"""

from __future__ import annotations

import functools
import hashlib
import re
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from rankplug.data import Integers, Lists
from rankplug.errors import DataError, FitError
from rankplug.system import stream, threads
from rankplug.training import (
    LOSS,
    BoostingObjective,
    Model,
    Part,
    Problem,
    Record,
    StepwiseLearner,
    TreeSettings,
    threads_for_trees,
    train,
    with_engine,
)

if TYPE_CHECKING:
    from rankplug_export import TreeEnsemble

NANOSECONDS = 0.9
"""Nanoseconds for one value of a document, on one thread."""
LONGEST_LIST, LARGEST_LABEL = 10_000, 30
"""Limits of LightGBM's own objectives."""
LARGEST_BINNED = 2**27
"""Bytes of features up to which their bins are stored for the next fit."""
BY_QUERY = "bagging_by_query"
"""LightGBM's parameter of 4.6 and later; with gradients that it does not compute itself it samples nothing."""


class LightGBMModel(Model):
    """Trees of LightGBM; the file is LightGBM's text."""

    suffix = ".txt"

    def __init__(self, text: str, record: Record) -> None:
        super().__init__(record)
        self.text = text
        self.booster = lgb.Booster(model_str=text)

    def __reduce__(self) -> tuple[Any, ...]:
        return LightGBMModel, (self.text, self.record)

    def _scores(self, features: NDArray[np.float32], starts: Integers | None) -> NDArray[Any]:
        return np.asarray(self.booster.predict(features, raw_score=True, num_threads=threads()))

    def feature_importances(self) -> NDArray[np.float64]:
        gains = np.asarray(self.booster.feature_importance("gain"), np.float64)
        return gains / (gains.sum() or 1.0)

    def contributions(self, features: NDArray[np.float32]) -> NDArray[np.float64] | None:
        if "\nis_linear=1" in self.text:
            return None
        shares = self.booster.predict(features, pred_contrib=True, num_threads=threads())
        return np.asarray(shares, np.float64)[:, :-1]

    def tree_ensemble(self) -> TreeEnsemble:
        from rankplug_lightgbm.as_arrays import ensemble_of

        return ensemble_of(self.text)

    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.booster.feature_name())

    def encode(self, suffix: str) -> bytes:
        return self.text.encode()


class LightGBMLearner(StepwiseLearner):
    """Trees in the making; an iteration is a tree."""

    unit = "tree"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        settings = TreeSettings.of(problem)
        self.roles, sampling = settings.roles, settings.sampling
        self.dart = settings.engine["boosting"] == "dart"
        self.native = bool(problem.backend_parameters.native)  # type: ignore[attr-defined]
        parameters = {
            "verbosity": -1,
            "metric": "None",
            "objective": "none",
            # As many as OpenMP's: a number here would stand in the file of the model, which does not depend on it.
            "num_threads": 0,
            "deterministic": problem.backend_parameters.deterministic,  # type: ignore[attr-defined]
            "force_row_wise": problem.backend_parameters.deterministic,  # type: ignore[attr-defined]
            "seed": stream(problem.seed, "trees") % 2**31,
            **settings.engine,
            **({"monotone_constraints": self.roles.monotone} if self.roles.monotone else {}),
            **(native_settings(problem) if self.native else {}),
            **(_by_query(*sampling) if self.native and sampling else {}),
        }
        if settings.named:
            known = known_parameters()
            unknown = settings.named.keys() - known
            parameters = with_engine(parameters, settings.named, "lightgbm", unknown=unknown, known=known)
        if not self.native:
            self.derivatives = BoostingObjective(problem.objective("newton"), LOSS in problem.metrics, sampling)
        self.booster: Any
        # Trees of dart are dropped from the scores that a booster stores, and linear leaves need features of all.
        linear = settings.engine["linear_tree"]
        self.samples = sampling is not None and not (self.native or self.dart or linear)
        parts: dict[Part, Lists] = {"train": problem.train}
        parts |= {} if problem.valid is None else {"valid": problem.valid}
        if self.samples:
            from rankplug_lightgbm.query_sampling import SampledTrees

            data = self._dataset(problem.train, parameters)
            self.booster = SampledTrees(parameters, data, parts, self.derivatives.sampled_rows)
            return
        # Positions, weights and groups are of LightGBM's own objectives, and leaves of lines need the features too.
        bare = not (self.native or linear) and problem.positions is None
        key = key_of(parameters, list(parts.values()), self.roles.categorical) if bare else None
        binned = take_binned(key)
        train = binned.train if binned else self._dataset(problem.train, parameters)
        self.booster = lgb.Booster(parameters, train)
        valid = binned.valid if binned else None
        if problem.valid is not None:
            valid = valid or self._dataset(problem.valid, parameters, reference=train)
            self.booster.add_valid(valid, "valid")
        store_binned(key, train, valid, self.booster)

    def _dataset(self, lists: Lists, parameters: dict[str, Any], reference: lgb.Dataset | None = None) -> lgb.Dataset:
        group = lists.lengths.astype(np.int32) if self.native else None
        weight = self.problem.weights if self.native and reference is None else None
        if weight is not None and weight.size == len(lists):
            weight = np.repeat(weight, lists.lengths)
        return lgb.Dataset(
            lists.features,
            lists.labels,
            reference=reference,
            group=group,
            weight=weight,
            position=self.problem.positions if reference is None else None,
            params=parameters,
            feature_name=list(lists.feature_names) or "auto",
            categorical_feature=list(self.roles.categorical) or "auto",
        )

    def advance(self, iteration: int) -> bool:
        if self.native:
            return not self.booster.update()

        def objective(scores: NDArray[np.float64], data: lgb.Dataset) -> tuple[NDArray[Any], NDArray[Any]]:
            step = (self.derivatives if self.samples else self.derivatives.everywhere)(scores, iteration)
            self.loss = self.derivatives.loss
            return step.gradient, step.curvature

        return not self.booster.update(fobj=objective)

    def scores(self, part: Part) -> NDArray[Any] | None:
        if self.samples:
            return self.booster.scores(part)
        if part == "train" and self.dart:
            return None
        seen: list[NDArray[Any]] = []

        def look(scores: NDArray[Any], data: lgb.Dataset) -> tuple[str, float, bool]:
            seen.append(scores)
            return "seen", 0.0, True

        if part == "train":
            self.booster.eval_train(look)
        else:
            self.booster.eval_valid(look)
        return seen[0]

    def snapshot(self) -> int | str:
        trees = self.booster.current_iteration()
        return self.booster.model_to_string(num_iteration=-1) if self.dart else trees

    def model(self, snapshot: int | str, record: Record) -> LightGBMModel:
        text = snapshot if isinstance(snapshot, str) else self.booster.model_to_string(num_iteration=snapshot)
        return LightGBMModel(text, record)


def _by_query(share: float, frequency: int) -> dict[str, Any]:
    """Return LightGBM's parameters for sampling whole queries, which only its own objectives know how to do."""
    if BY_QUERY not in known_parameters():
        raise FitError(
            f"LightGBM {lgb.__version__} samples documents, not whole queries; take 4.6 or later, or leave native or"
            " query_bagging away"
        )
    return {BY_QUERY: True, "bagging_fraction": share, "bagging_freq": frequency}


@functools.cache
def known_parameters() -> tuple[str, ...]:
    """Return the names of LightGBM's parameters, which the text of every model lists."""
    quiet = {"verbosity": -1, "objective": "none"}
    empty = lgb.Booster(quiet, lgb.Dataset(np.zeros((2, 1)), np.zeros(2), params=quiet))
    return tuple(re.findall(r"^\[(\w+): ", empty.model_to_string(), re.MULTILINE))


def native_settings(problem: Problem) -> dict[str, Any]:
    """Return LightGBM's parameters for the problem's loss, after checking that the data are within its limits."""
    name = problem.loss.specification.name
    if name not in NATIVE:
        raise FitError(
            f"LightGBM has no objective of its own for {name}, only for {' and '.join(NATIVE)}; leave native away"
        )
    if problem.sampler is not None:
        raise FitError("LightGBM's own objectives take no sampler; leave native or the sampler away")
    if problem.positions is not None and name != "lambdarank":
        raise FitError(f"LightGBM debiases its lambdarank alone, not {name}; take the loss lambdarank")
    _check_limits(problem)
    return {"objective_seed": stream(problem.seed, "noise") % 2**31, **NATIVE[name](problem.loss.parameters)}


def _lambdarank(parameters: Any) -> dict[str, Any]:
    truncation = getattr(parameters, "truncation", None)
    return {
        "objective": "lambdarank",
        "sigmoid": parameters.sigma,
        "lambdarank_norm": parameters.norm,
        "lambdarank_truncation_level": LONGEST_LIST if truncation is None else truncation,
    }


def _xe_ndcg(parameters: Any) -> dict[str, Any]:
    same_draws = {"objective_seed": parameters.objective_seed} if parameters.gamma_rng == "lightgbm" else {}
    return {"objective": "rank_xendcg", **same_draws}


NATIVE = {"lambdarank": _lambdarank, "xe_ndcg": _xe_ndcg}


def _check_limits(problem: Problem) -> None:
    for name, lists in (("training", problem.train), ("validation", problem.valid)):
        if lists is None:
            continue
        if lists.lengths.max() > LONGEST_LIST:
            raise DataError(
                f"LightGBM's own objectives take lists of up to {LONGEST_LIST:,} documents; the longest of the"
                f" {name} data has {lists.lengths.max():,}: leave native away, or truncate the lists"
            )
        if lists.labels.min() < 0 or (lists.labels % 1).any():
            raise DataError(
                f"LightGBM's own objectives take whole labels of zero or more, and those of the {name} data are not:"
                " leave native away, or map the labels"
            )
        if lists.labels.max() > LARGEST_LABEL:
            raise DataError(
                f"LightGBM's own objectives take labels up to {LARGEST_LABEL}; those of the {name} data go to"
                f" {lists.labels.max():g}: leave native away, or map the labels"
            )


class Binned(NamedTuple):
    """Data of the last fit as LightGBM binned them, which the next fit on the same data takes.

    A sweep trains many losses on the same lists with the same parameters, and finding the bins takes much of the time
    of a small fit. Data are compared by a digest of all numbers, so changed data are binned again.
    """

    key: bytes
    train: lgb.Dataset
    valid: lgb.Dataset | None
    booster: weakref.ref[lgb.Booster]


_last_binned: list[Binned] = []


def key_of(parameters: dict[str, Any], parts: Sequence[Lists], categorical: Sequence[int]) -> bytes | None:
    """Return a digest of all that determines the bins; None where the data are too large to store.

    Args:
        parameters: parameters of LightGBM.
        parts: training and validation data.
        categorical: positions of features without an order.
    """
    if sum(lists.features.nbytes for lists in parts) > LARGEST_BINNED:
        return None
    digest = hashlib.blake2b(repr((sorted(parameters.items()), list(categorical))).encode(), digest_size=16)
    for lists in parts:
        digest.update(repr((lists.features.shape, lists.feature_names)).encode())
        for numbers in (lists.features, lists.labels):
            digest.update(np.ascontiguousarray(numbers).data)
    return digest.digest()


def take_binned(key: bytes | None) -> Binned | None:
    """Remove the data of the last fit and return them, if they are the same and no trees grow on them any more."""
    try:
        last = _last_binned.pop()
    except IndexError:
        return None
    return last if last.key == key and last.booster() is None else None


def store_binned(key: bytes | None, train: lgb.Dataset, valid: lgb.Dataset | None, booster: lgb.Booster) -> None:
    """Store the data of a fit in place of those of the fit before; nothing where the key is None."""
    _last_binned[:] = [] if key is None else [Binned(key, train, valid, weakref.ref(booster))]


class LightGBM:
    """The backend ``lightgbm``."""

    def fit(self, problem: Problem) -> Model:
        rounds: int = problem.scorer_parameters.rounds  # type: ignore[attr-defined]
        try:
            return train(LightGBMLearner(problem), problem, rounds)
        except lgb.basic.LightGBMError as error:
            if "num_features" in str(error):
                raise FitError(
                    "no feature splits the training documents in two: each has one value, or too few documents have"
                    " another; look at the features, or ask for fewer documents a leaf, as by trees[min_data=1]"
                ) from error
            raise FitError(f"LightGBM stopped: {error}") from error

    def threads(self, problem: Problem) -> int:
        return threads_for_trees(problem, NANOSECONDS, getattr(problem.scorer_parameters, "leaves", 2))

    def fit_on_cluster(self, problem: Problem, client: Any) -> Any:
        from rankplug_lightgbm.on_cluster import fit

        return fit(problem, client)

    def load(self, content: bytes, record: Record) -> LightGBMModel:
        return LightGBMModel(content.decode(), record)


engine = LightGBM()

"""XGBoost as a backend.

A scorer it fits names a function ``(parameters) -> dict`` of XGBoost's parameters under ``fitted_by["xgboost"]``; its
parameters have ``rounds``, the number of iterations.

XGBoost adds up histograms and predictions in an order that does not depend on the number of threads, so trees repeat
bit for bit; linear models are updated coordinate by coordinate and do so too.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import xgboost as xgb
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

LINEAR = "gblinear"
LARGEST_LABEL = 31
"""Largest label that XGBoost's own objectives take."""
NANOSECONDS = 1.8
"""Nanoseconds for one value of a document, on one thread."""


class XGBoostModel(Model):
    """A model of XGBoost; the file is its JSON if the name ends so, else its UBJSON."""

    suffix = ".ubj"

    def __init__(self, content: bytes, record: Record) -> None:
        super().__init__(record)
        self.booster = xgb.Booster(model_file=bytearray(content))
        self.linear = f'"name":"{LINEAR}"' in self.booster.save_config().replace(" ", "")

    def __reduce__(self) -> tuple[Any, ...]:
        return XGBoostModel, (self.encode(self.suffix), self.record)

    def _scores(self, features: NDArray[np.float32], starts: Integers | None) -> NDArray[Any]:
        self.booster.set_param({"nthread": threads()})
        if self.linear:
            data = xgb.DMatrix(features, nthread=threads())
            return np.asarray(self.booster.predict(data, output_margin=True, validate_features=False))
        return np.asarray(self.booster.inplace_predict(features, predict_type="margin"))

    def feature_importances(self) -> NDArray[np.float64]:
        if self.linear:
            return super().feature_importances()
        names = self.booster.feature_names or [f"f{feature}" for feature in range(self.record.features)]
        gains = np.zeros(self.record.features)
        for name, gain in self.booster.get_score(importance_type="total_gain").items():
            gains[names.index(name)] = gain
        return gains / (gains.sum() or 1.0)

    def contributions(self, features: NDArray[np.float32]) -> NDArray[np.float64] | None:
        if self.linear:
            return None
        known = {"feature_names": self.booster.feature_names, "feature_types": self.booster.feature_types}
        data = xgb.DMatrix(features, nthread=threads(), enable_categorical=True, **known)
        return np.asarray(self.booster.predict(data, pred_contribs=True), np.float64)[:, :-1]

    def tree_ensemble(self) -> TreeEnsemble | None:
        from rankplug_xgboost.as_arrays import ensemble_of

        return None if self.linear else ensemble_of(self.booster, self.record.features)

    def linear_weights(self) -> NDArray[np.float64] | None:
        from rankplug_xgboost.as_arrays import weights_of

        return weights_of(self.booster, self.record.features)[0] if self.linear else None

    def onnx_graph(self) -> bytes | None:
        from rankplug_export.onnx_graphs import onnx_linear

        from rankplug_xgboost.as_arrays import weights_of

        if not self.linear:
            return None
        weights, bias = weights_of(self.booster, self.record.features)
        return onnx_linear(weights, bias=bias)

    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.booster.feature_names or super().feature_names())

    def encode(self, suffix: str) -> bytes:
        return bytes(self.booster.save_raw("json" if suffix == ".json" else "ubj"))


class XGBoostLearner(StepwiseLearner):
    """Trees or linear steps in the making."""

    unit = "round"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        settings = TreeSettings.of(problem)
        self.roles, sampling = settings.roles, settings.sampling
        self.kind = settings.engine["booster"]
        self.native = bool(problem.backend_parameters.native)  # type: ignore[attr-defined]
        if self.native and sampling:
            raise FitError(
                "XGBoost's own objectives sample documents, not whole queries; leave native or query_bagging away"
            )
        parameters = {
            "objective": "reg:squarederror",
            "base_score": 0.0,
            "disable_default_eval_metric": True,
            "nthread": threads(),
            "seed": stream(problem.seed, "trees") % 2**31,
            **settings.engine,
            **({"monotone_constraints": self.roles.monotone} if self.roles.monotone else {}),
            **(native_settings(problem) if self.native else {}),
        }
        if settings.named:
            unknown = _unknown(parameters, settings.named)
            parameters = with_engine(parameters, settings.named, "xgboost", unknown=unknown)
        if not self.native:
            self.derivatives = BoostingObjective(problem.objective("newton"), LOSS in problem.metrics, sampling)
        self.train = self._matrix(problem.train, parameters)
        self.valid = None if problem.valid is None else self._matrix(problem.valid, parameters, self.train)
        known = [data for data in (self.train, self.valid) if data is not None]
        self.booster = xgb.Booster(parameters, known)

    def _matrix(self, lists: Lists, parameters: dict[str, Any], reference: xgb.DMatrix | None = None) -> xgb.DMatrix:
        facts: dict[str, Any] = {"label": lists.labels, "nthread": threads()}
        if self.native:
            facts["group"] = lists.lengths
            facts["weight"] = self._list_weights() if reference is None else None
        if lists.feature_names:
            facts["feature_names"] = list(lists.feature_names)
        if self.roles.categorical:
            kinds = ["c" if feature in self.roles.categorical else "q" for feature in range(lists.features.shape[1])]
            facts |= {"feature_types": kinds, "enable_categorical": True}
        if self.kind == LINEAR:
            return xgb.DMatrix(lists.features, **facts)
        return xgb.QuantileDMatrix(lists.features, max_bin=parameters["max_bin"], ref=reference, **facts)

    def _list_weights(self) -> NDArray[Any] | None:
        """Return one weight a list, as XGBoost's own objectives need: that of its documents where they agree."""
        weights, lists = self.problem.weights, self.problem.train
        return weights if weights is None or weights.size == len(lists) else weights[lists.starts[:-1]]

    def advance(self, iteration: int) -> bool:
        if self.native:
            self.booster.update(self.train, iteration)
            return True
        scores = self.booster.predict(self.train, output_margin=True, training=True)
        step = self.derivatives.everywhere(scores, iteration)
        self.loss = self.derivatives.loss
        self.booster.boost(self.train, iteration, grad=step.gradient, hess=step.curvature)
        return True

    def scores(self, part: Part) -> NDArray[Any] | None:
        return np.asarray(self.booster.predict(self.train if part == "train" else self.valid, output_margin=True))

    def snapshot(self) -> int | bytes:
        """Return the number of trees, where a model's trees do not change, else the model."""
        return self.booster.num_boosted_rounds() if self.kind == "gbtree" else bytes(self.booster.save_raw())

    def model(self, snapshot: int | bytes, record: Record) -> XGBoostModel:
        content = snapshot if isinstance(snapshot, bytes) else bytes(self.booster[:snapshot].save_raw())
        return XGBoostModel(content, record)


def _unknown(parameters: dict[str, Any], own: dict[str, Any]) -> list[str]:
    """Return those of the engine's own parameters that XGBoost, which lists none, says it does not use."""
    settings = {**parameters, **{name: str(value) for name, value in own.items()}, "validate_parameters": True}
    settings.pop("monotone_constraints", None)
    settings["verbosity"] = 1
    # Its verbosity is the process's, and may have been turned off by whoever used it before.
    with warnings.catch_warnings(record=True) as caught, xgb.config_context(verbosity=1):
        warnings.simplefilter("always")
        with contextlib.suppress(xgb.core.XGBoostError):
            # Impossible values raise an error when the trees are grown.
            data = xgb.DMatrix(np.zeros((1, 1)), label=np.zeros(1))
            xgb.Booster(settings, [data]).update(data, 0)
    unused = " ".join(str(warning.message) for warning in caught)
    return [name for name in own if f'"{name}"' in unused]


def native_settings(problem: Problem) -> dict[str, Any]:
    """Return XGBoost's parameters for the problem's loss, after checking that the data are within its limits."""
    name = problem.loss.specification.name
    if name not in NATIVE:
        raise FitError(
            f"XGBoost has no objective of its own for {name}, only for {' and '.join(NATIVE)}; leave native away"
        )
    if problem.sampler is not None:
        raise FitError("XGBoost's own objectives take no sampler; leave native or the sampler away")
    if problem.train.labels.min() < 0:
        raise DataError(f"XGBoost's own objectives take labels of zero or more, got {problem.train.labels.min():g}")
    if (largest := problem.train.labels.max()) > LARGEST_LABEL:
        raise DataError(
            f"XGBoost's own objectives take labels up to {LARGEST_LABEL}, these go to {largest:g}: leave native away,"
            " or map the labels"
        )
    parameters: Any = problem.loss.parameters
    if getattr(parameters, "sigma", 1.0) != 1.0:
        raise FitError(f"XGBoost's own objectives have sigma=1, not {parameters.sigma:g}; leave native away")
    longest = int(problem.train.lengths.max())
    truncation = getattr(parameters, "truncation", None)
    return {
        "objective": NATIVE[name],
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": longest if truncation is None else min(truncation, longest),
        "lambdarank_normalization": getattr(parameters, "norm", False),
        **({} if problem.positions is None else _unbiased(problem.train, problem.positions)),
    }


def _unbiased(lists: Lists, positions: Integers) -> dict[str, Any]:
    """Return XGBoost's parameters for unbiased LambdaMART, which takes the order of documents as their positions."""
    places = np.arange(lists.documents) - np.repeat(lists.starts[:-1], lists.lengths) + 1
    if not np.array_equal(positions, places):
        raise DataError(
            "XGBoost's unbiased LambdaMART takes documents in the order in which they were shown, from position 1"
            " down; sort those of each list by position"
        )
    return {"lambdarank_unbiased": True}


NATIVE = {"lambdarank": "rank:ndcg", "ranknet": "rank:pairwise"}


class XGBoost:
    """The backend ``xgboost``."""

    def fit(self, problem: Problem) -> Model:
        rounds: int = problem.scorer_parameters.rounds  # type: ignore[attr-defined]
        try:
            return train(XGBoostLearner(problem), problem, rounds)
        except xgb.core.XGBoostError as error:
            raise FitError(f"XGBoost stopped: {sentence_of(error)}") from error
        except ValueError as error:
            # Names of features that its models cannot hold.
            raise FitError(f"XGBoost stopped: {error}") from error

    def threads(self, problem: Problem) -> int:
        return threads_for_trees(problem, NANOSECONDS, getattr(problem.scorer_parameters, "leaves", 2))

    def fit_on_cluster(self, problem: Problem, client: Any) -> Any:
        from rankplug_xgboost.on_cluster import fit

        return fit(problem, client)

    def load(self, content: bytes, record: Record) -> XGBoostModel:
        return XGBoostModel(content, record)


def sentence_of(error: Exception) -> str:
    """Return what XGBoost says, without time, place and stack of its own code.

    >>> sentence_of(Exception("[10:00:00] /build/src/tree.cc:12: Check failed: a > 0\\nStack trace:\\n  [bt] (0) x"))
    'Check failed: a > 0'
    """
    text = str(error).partition("Stack trace:")[0].strip()
    return re.sub(r"^\[[\d:]+\] \S+?:\d+: ", "", text)


engine = XGBoost()

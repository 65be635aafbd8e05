"""Fitted models: their scores, their provenance and their files.

A model is saved in the engine's own open format under the user's name for it, so that the plain library can read it,
with a JSON file beside it (``<name>.rankplug.json``) that records how it was trained and a digest of both.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Columns, Encoding, FeatureReader, Integers, Lists, open_table, read_rows
from rankplug.errors import DataError, FitError, GrammarError, ModelFileError, UnknownPluginError
from rankplug.registry import parse, registry
from rankplug.system import check_can_write, numbers, use_threads, whole_file, write_whole

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SIDECAR = ".rankplug.json"
FORMAT = "rankplug model 1"


@dataclass
class LearningCurve:
    """Metrics after every iteration: one row an iteration, one column a metric and part, such as ``valid ndcg@5``.

    >>> curve = LearningCurve()
    >>> curve.add(0, {"valid ndcg@5": 0.4})
    >>> curve.add(1, {"valid ndcg@5": 0.5, "train loss": 1.0})
    >>> curve.iterations, curve.columns["valid ndcg@5"], curve.columns["train loss"]
    ([0, 1], [0.4, 0.5], [nan, 1.0])
    """

    iterations: list[int] = field(default_factory=list)
    columns: dict[str, list[float]] = field(default_factory=dict)

    def add(self, iteration: int, metrics: Mapping[str, float]) -> None:
        """Append a row."""
        for name in metrics:
            self.columns.setdefault(name, [math.nan] * len(self.iterations))
        self.iterations.append(iteration)
        for name, values in self.columns.items():
            values.append(float(metrics.get(name, math.nan)))

    def __len__(self) -> int:
        return len(self.iterations)

    def __iter__(self) -> Iterator[dict[str, float]]:
        for row, iteration in enumerate(self.iterations):
            yield {"iteration": iteration, **{name: values[row] for name, values in self.columns.items()}}

    def frame(self) -> pd.DataFrame:
        """Return the curve as a data frame."""
        import pandas as pd

        return pd.DataFrame({"iteration": self.iterations, **self.columns})

    def describe(self) -> dict[str, Any]:
        """Return the curve as plain values for JSON; undefined numbers are None."""
        columns = {
            name: [value if math.isfinite(value) else None for value in values] for name, values in self.columns.items()
        }
        return {"iterations": self.iterations, "columns": columns}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> LearningCurve:
        """Read a curve that :meth:`describe` wrote."""
        columns = {
            name: [math.nan if value is None else value for value in values]
            for name, values in described["columns"].items()
        }
        return cls(list(described["iterations"]), columns)


@dataclass(frozen=True)
class Record:
    """Provenance of a model: how it was trained, on which data, with which versions.

    Args:
        combination: texts of backend, scorer, loss and sampler, and the seed.
        data: fingerprints of training and validation data, and their names where they were loaded by name.
        features: number of features.
        feature_names: names of the features in the order of training, empty where the data named none.
        categories: levels of categorical features by name, in the order of their codes.
        encoding: change of the data's features into those of the engine, where it needs plain numbers, see
            :class:`rankplug.data.Encoding`; ``features`` and ``feature_names`` are then the engine's.
        versions: of Python and the packages that took part.
        curve: metrics after every iteration.
        iterations: number of iterations.
        best_iteration: which one the model is, counted from 0.
        stopped: why training ended: ``finished``, ``patience``, ``interrupted``, ``exhausted`` (no split or step
            was left to make), ``callback``; of L-BFGS and cutting planes ``tolerance``, ``iterations`` (as many as were
            allowed) or ``line search`` (no lower value along the line).
        chosen: values that validation chose among several, such as ``C``, and propensities that debiasing went by.
        seconds: time of training and of its parts.
        peak_memory: largest resident size of the process in bytes, 0 where the system does not report it.
    """

    combination: dict[str, Any]
    data: dict[str, Any]
    features: int
    feature_names: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    encoding: Encoding | None = None
    versions: dict[str, str] = field(default_factory=dict)
    curve: LearningCurve = field(default_factory=LearningCurve)
    iterations: int = 0
    best_iteration: int = 0
    stopped: str = "finished"
    chosen: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0

    def describe(self) -> dict[str, Any]:
        """Return the record as plain values for JSON."""
        return {**asdict(self), "curve": self.curve.describe()}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Record:
        """Read a record that :meth:`describe` wrote."""
        encoding = described["encoding"]
        converted = {
            "feature_names": tuple(described["feature_names"]),
            "categories": {name: tuple(levels) for name, levels in described["categories"].items()},
            "encoding": None if encoding is None else Encoding.read(encoding),
            "curve": LearningCurve.read(described["curve"]),
        }
        return cls(**{**described, **converted})


class Model(abc.ABC):
    """A fitted scorer; each backend has its own kind."""

    suffix = ""
    """Usual ending of its files."""
    scores_lists = True
    """True if :meth:`predict` takes lists, as :func:`rankplug.evaluate` asks: some scorers compare their documents."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __repr__(self) -> str:
        scorer, backend, loss = (self.record.combination.get(part) for part in ("scorer", "backend", "loss"))
        return f"<model {scorer} fitted by {backend} to {loss}>"

    @property
    def best_iteration(self) -> int:
        """The iteration the model is, counted from 0."""
        return self.record.best_iteration

    @property
    def curve(self) -> LearningCurve:
        """Metrics after every iteration."""
        return self.record.curve

    @abc.abstractmethod
    def _scores(self, features: NDArray[np.float32], starts: Integers | None) -> NDArray[Any]:
        """Return the scores of documents with as many features as in training; offsets where the lists are known."""

    @abc.abstractmethod
    def encode(self, suffix: str) -> bytes:
        """Serialize the model in the engine's format; ``suffix`` is the file's ending if there are several formats."""

    def feature_importances(self) -> NDArray[np.float64]:
        """Return each feature's share of what all splits of the trees gained."""
        raise FitError(f"{self!r} has no trees, whose splits show how important a feature is")

    def contributions(self, features: NDArray[np.float32]) -> NDArray[np.float64] | None:
        """Return what each feature adds to the score of each document (SHAP values); None if the engine has none.

        Args:
            features: as :meth:`features_of` returns them.
        """
        return None

    def tree_ensemble(self) -> Any:
        """Return the trees as a ``rankplug_export.TreeEnsemble``; None where the model is no sum of trees."""
        return None

    def linear_weights(self) -> NDArray[np.float64] | None:
        """Return one weight a feature, of which scores are a sum but for a constant; None where they are none."""
        return None

    def onnx_graph(self) -> bytes | None:
        """Return the model as ONNX, where trees or weights are not all of it and there is such a form."""
        return None

    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the engine's features, those that engines give where the data named none."""
        return self.record.feature_names or tuple(f"f{feature}" for feature in range(self.record.features))

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the model for another program, and return the path.

        The ending of the name selects the format: ``.onnx``; ``.json``, which Vespa, Elasticsearch and OpenSearch read
        (XGBoost's dump for trees, weights by feature for linear models); ``.xml``, RankLib's; or that of the engine's
        own files. Unlike :meth:`save` it writes no sidecar, so that rankplug cannot read the file back.
        """
        exported: Path = registry().exported("export_model")(self, path)
        return exported

    def compile(self) -> Any:
        """Return the model compiled for prediction where few documents come at a time; for trees."""
        return registry().exported("compile_model")(self)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the data's features in the order of training, empty where the data named none."""
        encoding = self.record.encoding
        return self.record.feature_names if encoding is None else encoding.names

    def features_of(self, data: Any) -> NDArray[np.float32]:
        """Return the features of data, one row a document, in the order of training, categories as codes.

        Where both the model and the data name their features, columns are matched by name, and columns that the model
        does not know are ignored. Data without names must have the columns of the training data in the same order.

        Args:
            data: lists, a matrix, a data frame of pandas or polars, a table of pyarrow, or the path of a table's file.
        """
        known, matrix = self.input_names, data
        if isinstance(data, Lists):
            data = data.with_categories(self.record.categories) if known else data
            columns, matrix = data.feature_names, data.features
        elif known and (isinstance(data, (str, os.PathLike)) or _is_named_table(data)):
            data = open_table(data)
            columns = tuple(data.schema.names)
        else:
            columns = ()
        if missing := [name for name in known if columns and name not in columns]:
            reasons = data.columns.get("left_out", {}) if isinstance(data, Lists) else {}
            about = [f"{name} ({reasons[name]})" if name in reasons else name for name in missing]
            raise DataError(
                f"the data lack {len(missing)} of the {len(known)} features of the model: {shortened(about)}"
            )
        if not isinstance(data, Lists) and columns:
            matrix = FeatureReader(data, known, self.record.categories).matrix()
        elif known and columns and columns != known:
            position = {name: place for place, name in enumerate(columns)}
            matrix = matrix[:, [position[name] for name in known]]
        features = numbers(matrix, "features", "float32")
        width = self.record.features if self.record.encoding is None else len(self.record.encoding.medians)
        if features.ndim != 2 or features.shape[1] != width:
            raise DataError(f"the model was trained on {width} features, got an array of shape {features.shape}")
        return np.ascontiguousarray(features)

    def lists_of(self, table: Any, **columns: str | None) -> Lists:
        """Return the lists of a table with the model's features, see :meth:`rankplug.Lists.from_table`.

        Args:
            table: a data frame, a table, or the path of a file.
            columns: columns of ``query``, ``label`` and ``document``; those of the training data by default.
        """
        own = {role: self.record.data.get("columns", {}).get(role) or "" for role in ("query", "label", "document")}
        return Lists.from_table(table, features=self.input_names, categories=self.record.categories,
                                **{**own, **columns})  # type: ignore[arg-type] # fmt: skip

    def score_table(self, table: Any, *, query: str = "", document: str = "") -> pa.Table:
        """Return the scores of a table's rows, in their order, beside the names of their queries and documents.

        Args:
            table: a data frame, a table of pyarrow, or the path of a file; it needs no labels.
            query: column of queries; that of the training data where the table has it.
            document: column of documents; that of the training data where the table has it.
        """
        opened, known = open_table(table), self.input_names
        if not known:
            raise DataError(
                f"{self!r} was trained on features without names, which cannot be found in a table; predict on an array"
                " with the same columns in the same order"
            )
        own = self.record.data.get("columns", {})
        for role, name in (("query", query), ("document", document)):
            if name:
                opened.check(name, f"column for the {role}")
        ids = {role: name or own.get(role) for role, name in (("query", query), ("document", document))}
        present = {role: name for role, name in ids.items() if name in opened.schema.names}
        if "query" not in present:
            scores = self.predict(opened)
        else:
            rows = read_rows(opened, Columns(present["query"], label=None))
            features = FeatureReader(opened, known, self.record.categories).matrix(rows)
            scores = self.predict(
                Lists(features, rows.labels, rows.starts, feature_names=known, categories=self.record.categories)
            )[rows.positions]
        return opened.columns(present.values()).append_column("score", [scores])

    def predict(self, data: Any) -> NDArray[np.float64]:
        """Return one score a document, the higher the better; columns are matched as :meth:`features_of` says.

        Args:
            data: lists, a matrix with one row a document, a data frame, a table, or the path of a table's file.
        """
        features = self.features_of(data)
        if features.shape[0] == 0:
            return np.empty(0)
        if self.record.encoding is not None:
            features = self.record.encoding(features)
        starts = data.starts if isinstance(data, Lists) else None
        with use_threads():
            return np.ascontiguousarray(self._scores(features, starts), dtype=np.float64)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the engine's file and its sidecar; an older model of that name is replaced."""
        target = named_file(path)
        content = self.encode(target.suffix)
        sidecar = {
            "format": FORMAT,
            "backend": parse(self.record.combination["backend"]).name,
            "record": self.record.describe(),
        }
        sidecar["digest"] = file_digest(content, sidecar)
        _write(target, content, json.dumps(sidecar, indent=1).encode())
        return target


def load_model(path: str | os.PathLike[str]) -> Model:
    """Load a model that :meth:`Model.save` wrote, in this process or another."""
    target = named_file(path)
    if not target.is_file():
        raise ModelFileError(f"there is no model file {target}")
    beside = sidecar_of(target)
    if not beside.is_file():
        raise ModelFileError(
            f"{beside.name} is missing beside {target}: only models saved by rankplug can be loaded; a model of a plain"
            " engine is read by that engine"
        )
    content = target.read_bytes()
    try:
        sidecar = json.loads(beside.read_bytes())
        if sidecar["format"] != FORMAT:
            raise ModelFileError(f"{beside} has the format {sidecar['format']!r}; this version reads {FORMAT!r}")
        intact = sidecar["digest"] == file_digest(content, sidecar)
        backend, record = sidecar["backend"], Record.read(sidecar["record"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{beside} is damaged or not of rankplug ({type(error).__name__}: {error})") from None
    if not intact:
        raise ModelFileError(f"{target} is damaged or was replaced: it is not the file that {beside.name} describes")
    try:
        engine = registry().find("backend", backend).specification.load()
    except (GrammarError, UnknownPluginError) as error:
        raise ModelFileError(f"{target} was saved by the backend {backend}, which is not installed: {error}") from None
    try:
        model: Model = engine.load(content, record)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise ModelFileError(f"{target} cannot be read by {backend}: {reason}") from error
    return model


def file_digest(content: bytes, sidecar: Mapping[str, Any]) -> str:
    """Return the digest of a model's file and of what its sidecar says, by which damage to either is noticed."""
    description = {name: value for name, value in sidecar.items() if name != "digest"}
    text = json.dumps(description, sort_keys=True).encode()
    return hashlib.blake2b(text + content, digest_size=16).hexdigest()


def _is_named_table(data: Any) -> bool:
    """Tell whether data are a frame or table whose columns all have names."""
    columns = getattr(data, "column_names", None) or getattr(data, "columns", None)
    return columns is not None and len(columns) > 0 and all(isinstance(name, str) for name in columns)


def shortened(names: Sequence[str], most: int = 5) -> str:
    """Return the first names of several, with the number of others.

    >>> shortened(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    others = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + others


def write_model_file(path: str | os.PathLike[str], encode: Callable[[str], bytes]) -> Path:
    """Write a model's file without a sidecar, and return its path.

    Args:
        path: file to write.
        encode: returns the content for an ending of the file's name.
    """
    target = named_file(path)
    content = encode(target.suffix)
    try:
        write_whole(target, content)
    except OSError as error:
        raise _cannot_write(target, error) from error
    return target


def sidecar_of(path: Path) -> Path:
    """Return the path of the sidecar, which records how a model was trained."""
    return path.with_name(path.name + SIDECAR)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the error now that saving a model under this name would raise after the training."""
    target = named_file(path)
    beside = sidecar_of(target)
    if target.is_dir():
        raise ModelFileError(f"cannot write {target}: it is a folder; name a file in it")
    for path in (target, beside):
        try:
            check_can_write(path)
        except OSError as error:
            raise _cannot_write(path, error) from error


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise an error if a file has this name that saving a model did not write, such as the text to train on."""
    target = named_file(path)
    beside = sidecar_of(target)
    for file in (target, beside):
        if file.is_file() and file.stat().st_size and not _describes_a_model(beside):
            raise ModelFileError(f"{file} is there already and is no model of rankplug; name another, or remove it")


def _describes_a_model(sidecar: Path) -> bool:
    """Tell whether a file is one that is written beside a model, of whatever version."""
    try:
        described = json.loads(sidecar.read_bytes()) if sidecar.is_file() else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(described, dict) and str(described.get("format")).startswith(FORMAT.rstrip("0123456789"))


def named_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a model's file; raise where no file can have this name."""
    try:
        target = Path(path)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            target.stat()
    except (TypeError, ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"no model's file can be named {str(path)[:100]!r}: {reason}") from error
    if not target.name:
        raise ModelFileError(f"a model is named by the path of its file, not by {str(path)!r}")
    return target


def _write(target: Path, content: bytes, description: bytes) -> None:
    """Write both files of a model; where there is no room for both, both stay as they were."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The inner one gets its name first: a file without a description beside it would be nobody's model.
        with whole_file(target) as model, whole_file(sidecar_of(target)) as beside:
            model.write(content)
            beside.write(description)
            model.flush()
            os.fsync(model.fileno())
    except OSError as error:
        raise _cannot_write(target, error) from error


def _cannot_write(path: Path, error: OSError) -> ModelFileError:
    return ModelFileError(
        f"cannot write {path}: {error.strerror or error}; free space or allow writing there, or name another file"
    )

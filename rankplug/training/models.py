"""Fitted models: what they predict, where they come from, and how they are kept in a file.

A model is saved as the engine's own open format under the name the user gives, so that the plain library can read it,
and a JSON file beside it (``<name>.rankplug.json``) with everything known about its making.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.data import Integers, Lists
from rankplug.errors import DataError, FitError, ModelFileError
from rankplug.registry import parse, registry
from rankplug.system import cache_folder, check_can_write, numbers, use_threads, whole_file, write_whole
from rankplug.training.formats.compiled_trees import CompiledModel
from rankplug.training.formats.exporting import exported
from rankplug.training.formats.tree_ensemble import TreeEnsemble
from rankplug.training.learning_curve import LearningCurve

SIDECAR = ".rankplug.json"
FORMAT = "rankplug model 1"


@dataclass(frozen=True)
class Record:
    """Provenance of a model: how it was trained, on which data, with which versions.

    Args:
        combination: texts of backend, scorer, loss and sampler, and the seed.
        data: fingerprints of training and validation data, and their names where they were loaded by name.
        features: number of features.
        versions: of Python and the packages that took part.
        curve: metrics after every iteration.
        iterations: how many were made.
        best_iteration: which one the model is, counted from 0.
        stopped: why training ended: ``finished``, ``patience``, ``interrupted``, ``exhausted`` (no split or step
            was left to make), ``callback``; of L-BFGS and cutting planes ``tolerance``, ``iterations`` (as many as were
            allowed) or ``line search`` (which found nothing lower).
        chosen: values that validation chose among several, such as ``C``, and propensities that debiasing went by.
        seconds: time of training and of its parts.
        peak_memory: largest resident size of the process in bytes, 0 where the system does not tell.
    """

    combination: dict[str, Any]
    data: dict[str, Any]
    features: int
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
        return cls(**{**described, "curve": LearningCurve.read(described["curve"])})


class Model(abc.ABC):
    """A fitted scorer; each backend has its own kind."""

    suffix = ""
    """Usual ending of its files."""
    scores_lists = True
    """True if :meth:`predict` takes lists, as :func:`rankplug.evaluate` asks: some scorers compare their documents."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __repr__(self) -> str:
        made = self.record.combination
        return f"<model {made.get('scorer')} fitted by {made.get('backend')} to {made.get('loss')}>"

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
        raise FitError(f"{self!r} has no trees, whose splits tell how important a feature is")

    def contributions(self, lists: Lists) -> NDArray[np.float64] | None:
        """Return what each feature adds to the score of each document (SHAP values); None where no engine tells."""
        return None

    def tree_ensemble(self) -> TreeEnsemble | None:
        """Return the trees as arrays; None where the model is no sum of trees."""
        return None

    def linear_weights(self) -> NDArray[np.float64] | None:
        """Return one weight a feature, of which scores are a sum but for a constant; None where they are none."""
        return None

    def onnx_graph(self) -> bytes | None:
        """Return the model as ONNX, where trees or weights are not all of it and there is such a form."""
        return None

    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the features, those that engines give where the data named none."""
        return tuple(f"f{feature}" for feature in range(self.record.features))

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the model for another program, and return the path.

        The ending of the name tells the format: ``.onnx``; ``.json``, which Vespa, Elasticsearch and OpenSearch read
        (XGBoost's dump for trees, weights by feature for linear models); ``.xml``, RankLib's; or that of the engine's
        own files. Unlike :meth:`save` it writes nothing beside the file, so that rankplug does not read it back.
        """
        target = named_file(path)
        content = exported(self, target.suffix)
        try:
            write_whole(target, content)
        except OSError as error:
            raise _cannot_write(target, error) from error
        return target

    def compile(self) -> CompiledModel:
        """Return the model compiled for prediction where few documents come at a time; for trees."""
        ensemble = self.tree_ensemble()
        if ensemble is None:
            raise FitError(f"{self!r} has no trees to compile; its predict is compiled as it is")
        return CompiledModel(ensemble)

    def predict(self, data: Lists | ArrayLike) -> NDArray[np.float64]:
        """Return one score a document, the higher the better, of lists or of the rows of a matrix."""
        starts = data.starts if isinstance(data, Lists) else None
        features = data.features if isinstance(data, Lists) else numbers(data, "features", "float32")
        if features.ndim != 2 or features.shape[1] != self.record.features:
            raise DataError(
                f"the model was trained on {self.record.features} features, got an array of shape {features.shape}"
            )
        if features.shape[0] == 0:
            return np.empty(0)
        with use_threads():
            return np.ascontiguousarray(self._scores(features, starts), dtype=np.float64)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the engine's file and its sidecar; an older model of that name is replaced."""
        target = named_file(path)
        content = self.encode(target.suffix)
        backend = parse(self.record.combination["backend"]).name
        sidecar = {
            "format": FORMAT,
            "backend": backend,
            "digest": hashlib.blake2b(content, digest_size=16).hexdigest(),
            "record": self.record.describe(),
        }
        _write(target, content, json.dumps(sidecar, indent=1).encode())
        if trusts_files(backend):
            # What was made here needs no trial when it is loaded.
            mark_readable(content, backend, self.record)
        return target


def trusts_files(backend: str) -> bool:
    """Tell whether a backend's reader may crash at a damaged file."""
    engine = registry().find("backend", backend).specification.load()
    return bool(getattr(engine, "trusts_files", False))


def readable_mark(content: bytes, backend: str, record: Record) -> Path:
    """Return the file in the cache that is there once a model could be read; its name covers all that matters."""
    facts = repr((backend, record.features, record.combination, record.versions)).encode()
    return cache_folder() / "models" / hashlib.blake2b(content + facts, digest_size=16).hexdigest()


def mark_readable(content: bytes, backend: str, record: Record) -> None:
    """Remember that a model can be read."""
    with contextlib.suppress(OSError):
        write_whole(readable_mark(content, backend, record), b"")


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
    try:
        target = Path(path)
        target.is_file()
        # Of some names that no file can have, the line above says only that there is none.
        with contextlib.suppress(OSError):
            os.stat(target)
    except TypeError:
        raise ModelFileError(f"a model is named by the path of its file, not by {path!r}") from None
    except OSError as error:
        raise ModelFileError(f"no file can be named {str(path)[:100]!r}: {error.strerror}") from error
    except ValueError as error:
        raise ModelFileError(f"no file can be named {str(path)[:100]!r}: {error}") from error
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

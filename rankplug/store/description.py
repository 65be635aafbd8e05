"""Descriptions in stored results and failures: the name that each gives, and its schema, checked when it is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from rankplug.registry import registry, source_digest

Whole = Annotated[int, Field(ge=0, lt=1 << 63)]
Number = Annotated[float, Field(gt=-1e15, lt=1e15)]
YEAR_10000 = 253_402_300_800.0


class _RecordPart(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class CombinationRecord(_RecordPart):
    """The parts of a combination, as plain values."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    backend: str
    loss: str
    scorer: str = ""
    sampler: str = ""
    transforms: list[str] = []
    selection: list[str]
    patience: Whole | None = None
    metrics: list[str]
    seed: Whole = 0
    debias: str = ""
    train_curve: bool = True


class PluginRecord(_RecordPart):
    """A plugin with all its parameters."""

    name: str
    distribution: str
    parameters: dict[str, Any]


class Record(_RecordPart):
    """Facts recorded about a run; further fields are free."""

    started: Annotated[float, Field(ge=0, lt=YEAR_10000)] | None = None
    machine: str | None = None
    threads: Whole | None = None
    load_seconds: Number | None = None
    fit_seconds: Number | None = None
    measure_seconds: Number | None = None
    best_iteration: Number | None = None
    iterations: Number | None = None
    stopped: str | bool | None = None
    test_fingerprint: str | None = None


class Description(_RecordPart):
    """All that is stored beside a result's values."""

    identity: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    combination: CombinationRecord
    fold: Whole
    trial: Whole
    seed: Whole
    plugins: dict[str, list[PluginRecord]] = {}
    versions: dict[str, str] = {}
    data_fingerprint: str = ""
    record: Record
    failure: str = ""


def identity_of(
    plugins: Mapping[str, Any], versions: Mapping[str, Any], parts: Mapping[str, Any], data_fingerprint: str
) -> str:
    """Return the name of results, from what their record says as from the combination itself.

    Args:
        plugins: behind each part, with all parameters.
        versions: of distributions and engines.
        parts: of the combination, by name.
        data_fingerprint: what the data set says of its data.
    """
    rest = [parts["seed"], parts["patience"], parts["selection"], data_fingerprint]
    if parts.get("debias"):
        # Written only where there is one, so that names from before it stay.
        rest.append(describe_debiasing(parts["debias"]))
    if not parts.get("train_curve", True):
        rest.append("no training curve")
    words = json.dumps([plugins, versions, rest], sort_keys=True, default=str)
    return hashlib.blake2b(words.encode(), digest_size=8).hexdigest()


def describe_debiasing(reference: str) -> dict[str, Any]:
    """Return name and all parameters of a debiasing, checked."""
    return describe_plugin("debiasing", reference)


def describe_plugin(kind: str, reference: str) -> dict[str, Any]:
    """Return everything about a plugin that a result's name depends on: its origin, its version and all parameters."""
    plugin = registry().find(kind, reference)
    _, parameters = registry().resolve(kind, reference)
    revision = plugin.specification.revision
    code = source_digest(plugin.specification, plugin.distribution)
    return {
        "name": plugin.specification.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        **({"revision": revision} if revision else {}),
        **({"code": code} if code else {}),
        "parameters": parameters.model_dump(),
        **({"source": plugin.source} if plugin.source else {}),
    }

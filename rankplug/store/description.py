"""Schema of the description in every stored result and failure, checked whenever one is read."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
    """All of it."""

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


def problem_of(about: Any) -> str:
    """Return the first problem of a description; empty if it is valid."""
    try:
        Description.model_validate(about)
        json.dumps(about, ensure_ascii=False).encode()
    except ValidationError as error:
        first = error.errors()[0]
        field = " ".join(str(part) for part in first["loc"]) or "description"
        return f"its {field}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    except UnicodeEncodeError:
        return "it holds text that is no Unicode"
    return ""

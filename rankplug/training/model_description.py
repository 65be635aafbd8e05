"""Schema of the file beside a model, checked whenever a model is loaded."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Whole = Annotated[int, Field(ge=0, lt=1 << 63)]
Seconds = Annotated[float, Field(ge=0, lt=1e15)]


class _Described(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="forbid")


class DescribedCurve(_Described):
    """A learning curve: as many values in each column as there are iterations."""

    iterations: list[int]
    columns: dict[str, list[float | None]]

    @model_validator(mode="after")
    def _even(self) -> DescribedCurve:
        if any(len(values) != len(self.iterations) for values in self.columns.values()):
            raise ValueError("its columns are of different lengths")
        return self


class DescribedMaking(_Described):
    """Texts of what was combined."""

    model_config = ConfigDict(extra="allow")

    backend: str
    scorer: str | None = None
    loss: str | None = None
    sampler: str | None = None
    seed: Whole = 0


class DescribedData(_Described):
    """Data that a model was trained on; further fields are free."""

    model_config = ConfigDict(extra="allow")

    train: str | None = None
    valid: str | None = None
    dataset: str | None = None
    fold: Annotated[int, Field(ge=1, lt=1 << 31)] | None = None
    transforms: list[str] = []
    seed: Whole | None = None


class DescribedRecord(_Described):
    """Provenance of a model, see :class:`rankplug.training.Record`."""

    combination: DescribedMaking
    data: DescribedData
    features: Annotated[int, Field(ge=1, lt=1 << 31)]
    versions: dict[str, str] = {}
    curve: DescribedCurve
    iterations: Whole = 0
    best_iteration: Whole = 0
    stopped: str = ""
    chosen: dict[str, Any] = {}
    seconds: dict[str, Seconds] = {}
    peak_memory: Whole = 0


class Sidecar(_Described):
    """All that lies beside a model."""

    format: str
    backend: str
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    record: DescribedRecord


def problem_of(sidecar: Any) -> str:
    """Say what is wrong with a sidecar; empty where nothing is."""
    try:
        Sidecar.model_validate(sidecar)
        json.dumps(sidecar, ensure_ascii=False).encode()
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(str(part) for part in first["loc"]) or "description"
        return f"its {place}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    except (UnicodeEncodeError, ValueError):
        return "it holds text that is no Unicode"
    return ""

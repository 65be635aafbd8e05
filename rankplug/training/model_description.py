"""Schema of the file beside a model, checked whenever a model is loaded."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

Whole = Annotated[int, Field(ge=0, lt=1 << 63)]
Seconds = Annotated[float, Field(ge=0, lt=1e15)]


class _DescriptionPart(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="forbid")


class CurveDescription(_DescriptionPart):
    """A learning curve: as many values in each column as there are iterations."""

    iterations: list[int]
    columns: dict[str, list[float | None]]

    @model_validator(mode="after")
    def _even(self) -> CurveDescription:
        if any(len(values) != len(self.iterations) for values in self.columns.values()):
            raise ValueError("its columns are of different lengths")
        return self


class MakingDescription(_DescriptionPart):
    """Texts of what was combined."""

    model_config = ConfigDict(extra="allow")

    backend: str
    scorer: str | None = None
    loss: str | None = None
    sampler: str | None = None
    seed: Whole = 0


class DataDescription(_DescriptionPart):
    """Data that a model was trained on; further fields are free."""

    model_config = ConfigDict(extra="allow")

    train: str | None = None
    valid: str | None = None
    dataset: str | None = None
    fold: Annotated[int, Field(ge=1, lt=1 << 31)] | None = None
    transforms: list[str] = []
    seed: Whole | None = None


class RecordDescription(_DescriptionPart):
    """Provenance of a model, see :class:`rankplug.training.Record`."""

    combination: MakingDescription
    data: DataDescription
    features: Annotated[int, Field(ge=1, lt=1 << 31)]
    versions: dict[str, str] = {}
    curve: CurveDescription
    iterations: Whole = 0
    best_iteration: Whole = 0
    stopped: str = ""
    chosen: dict[str, Any] = {}
    seconds: dict[str, Seconds] = {}
    peak_memory: Whole = 0


class Sidecar(_DescriptionPart):
    """All that lies beside a model."""

    format: str
    backend: Annotated[str, Field(max_length=200)]
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    record: RecordDescription

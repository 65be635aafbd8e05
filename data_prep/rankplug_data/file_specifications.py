"""The data sets that lie in files, and splitting them, as plugins; light, as this is imported for every listing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from rankplug import DatasetSpecification
from rankplug.data import ENDINGS
from rankplug.registry import Parameters
from rankplug_data.catalogue import BENCHMARKS, Benchmark
from rankplug_data.official import OfficialDataset


class OwnDataParameters(Parameters):
    """Parameters of all data sets in a user's own files."""

    path: str = Field(description="a file or folder")
    valid: str | None = Field(None, description="a file for validation, where path is one file")
    test: str | None = Field(None, description="a file for testing, where path is one file")

    @property
    def paths(self) -> tuple[str | None, str | None, str | None]:
        """The files of training, validation and test part, where they are named."""
        return self.path, self.valid, self.test

    @field_validator("path", "valid", "test")
    @classmethod
    def _can_be_a_path(cls, path: str | None) -> str | None:
        if path is not None and (not path or "\0" in path or any("\ud800" <= letter <= "\udfff" for letter in path)):
            raise ValueError(
                "a path has at least one letter, all of them of Unicode and none of them NUL; rename the file"
            )
        return path


class OwnFileParameters(OwnDataParameters):
    """Parameters of ``letor-file``."""

    path: str = Field(description="a text of documents, or a folder or archive with train.txt, vali.txt and test.txt")
    valid: str | None = Field(None, description="a text for validation, where path is one text")
    test: str | None = Field(None, description="a text for testing, where path is one text")
    features: int | None = Field(None, ge=1, description="number of features; the highest in the text when absent")
    first_feature: Literal[0, 1] = Field(1, description="number of the first feature")
    on_error: Literal["raise", "skip"] = Field("raise", description="what to make of broken lines")


def _several(value: Any) -> Any:
    return value if isinstance(value, tuple) else (value,)


class TableParameters(OwnDataParameters):
    """Parameters of ``table`` and ``parquet``."""

    path: str = Field(
        description="a CSV, TSV, JSON lines, Parquet, Arrow or Feather file, or a folder of some, such as train-*,"
        " validation-* and test-*"
    )
    query: str = Field("", description="column that tells the query of a row; guessed by its name when absent")
    label: str = Field(
        "", description="column of relevance, zero or more, with fractions if need be; guessed by its name when absent"
    )
    valid: str | None = Field(None, description="a file or folder for validation, where path holds one part")
    test: str | None = Field(None, description="a file or folder for testing, where path holds one part")
    document: str = Field("", description="column that names documents; guessed by its name when absent")
    features: Annotated[tuple[str, ...], BeforeValidator(_several)] = Field(
        (),
        description="columns of features, in order; all other columns of numbers and text when absent, but ids",
    )
    categorical: Annotated[tuple[str, ...], BeforeValidator(_several)] = Field(
        (), description="features of numbers that are codes of categories, whole numbers from 0"
    )
    missing_labels: Literal["raise", "skip", "zero"] = Field(
        "raise", description="rows without a label: an error, left out, or taken as irrelevant"
    )


def _official(benchmark: Benchmark) -> DatasetSpecification:
    others = {name for other in BENCHMARKS for name in other.inside if name not in benchmark.inside}
    dataset = OfficialDataset(benchmark, tuple(sorted(others)))
    return DatasetSpecification(
        name=benchmark.name,
        summary=benchmark.summary,
        implementation=dataset,
        parameters=dataset.parameters(),
        folds=benchmark.folds,
        fingerprint=dataset.fingerprint,
        licence=benchmark.licence,
    )


DATASETS = [
    *map(_official, BENCHMARKS),
    DatasetSpecification(
        name="letor-file",
        summary="your own LETOR or SVMlight text, folder or archive",
        implementation="rankplug_data.own_data:OWN_FILES",
        parameters=OwnFileParameters,
        folds=5,
        fingerprint="rankplug_data.own_data:content_digest",
    ),
    *(
        DatasetSpecification(
            name=name,
            summary=f"your own tables: {formats} with a column of queries",
            implementation="rankplug_data.own_data:OWN_TABLES",
            parameters=TableParameters,
            folds=5,
            fingerprint="rankplug_data.own_data:content_digest",
            endings=endings,
        )
        for name, formats, endings in (
            ("table", "CSV, TSV, JSON lines, Parquet, Arrow or Feather", ENDINGS),
            ("parquet", "Parquet, Arrow or Feather files", ()),
        )
    ),
]

"""Any table of one's own as a data set: Parquet, Arrow or Feather files, or a folder of them, with a column of queries.

Tables are read once, some rows at a time, into arrays that are mapped into memory, so they may be larger than it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import rankplug
from rankplug.data import Columns, FeatureReader, Table, check_labels, feature_columns, read_rows, shard_of, table_files
from rankplug.errors import DataError
from rankplug.system import require_modules
from rankplug_data.file_specifications import TableParameters
from rankplug_data.own_data import OwnData
from rankplug_data.preparation.preparing import Preparation, complete
from rankplug_data.preparation.storing import Manifest, PreparedData, new_rows, write_array, write_manifest
from rankplug_data.public.benchmark import PARTS
from rankplug_data.text.letor import OnError

NAMES_OF_PARTS = {"train": "train", "validation": "valid", "valid": "valid", "vali": "valid", "val": "valid",
                  "dev": "valid", "test": "test"}  # fmt: skip
PART = re.compile(rf"({'|'.join(NAMES_OF_PARTS)})(?![a-z])")


@dataclass(kw_only=True)
class TablePreparation(Preparation):
    """Order to prepare tables.

    Args:
        columns: what their columns are.
        parts: the files of each part.
    """

    columns: Columns
    parts: dict[str, list[Path]]

    def write(self, folder: Path) -> None:
        """Read all tables, and write what is in them."""
        tables = {
            part: Table(str(files[0] if len(files) == 1 else self.source), [shard_of(file) for file in files])
            for part, files in self.parts.items()
        }
        rows = {part: read_rows(table, self.columns) for part, table in tables.items()}
        for part, part_rows in rows.items():
            check_labels(part_rows.labels, f" in {tables[part].name}")
        names, left_out = feature_columns(next(iter(tables.values())), self.columns)
        for table in tables.values():
            feature_columns(table, replace(self.columns, features=tuple(names)))
        readers = {part: FeatureReader(table, names) for part, table in tables.items()}
        for part, table in tables.items():
            if readers[part].width != readers["train"].width:
                raise DataError(f"{table.name} has {readers[part].width} features, train {readers['train'].width}")
        bounds = np.cumsum([0, *(part_rows.labels.size for part_rows in rows.values())])
        shape = (int(bounds[-1]), readers["train"].width)
        features = new_rows(folder / "features.npy", shape)
        for part, first, last in zip(rows, bounds[:-1], bounds[1:], strict=True):
            readers[part].fill(rows[part], features[first:last])
        del features
        everything = list(rows.values())
        write_array(folder, "labels", np.concatenate([part_rows.labels for part_rows in everything]))
        lengths = np.concatenate([np.diff(part_rows.starts) for part_rows in everything])
        write_array(folder, "starts", np.concatenate([[0], np.cumsum(lengths)]))
        write_array(folder, "query_ids", np.concatenate([part_rows.query_ids for part_rows in everything]))
        documents = [part_rows.document_ids for part_rows in everything if part_rows.document_ids is not None]
        if documents:
            write_array(folder, "document_ids", np.concatenate(documents))
        ends = np.cumsum([0, *(part_rows.query_ids.size for part_rows in everything)]).tolist()
        files = [file for files in self.parts.values() for file in files]
        steps = [f"read {', '.join(map(str, files))}", "values rounded to float32, missing ones are nan"]
        steps += [f"{part}: {note}" for part, part_rows in rows.items() for note in part_rows.notes]
        steps += left_out
        manifest = Manifest(
            name=self.source.name,
            version="",
            source=str(self.source.resolve()),
            texts={str(file): {"bytes": file.stat().st_size} for file in files},
            folds={"1": {part: (ends[index], ends[index + 1]) for index, part in enumerate(rows)}},
            steps=steps,
            skipped={"lines": 0, "first": []},
            made_with=rankplug.__version__,
            feature_names=list(readers["train"].feature_names),
        )
        used = np.any([reader.used for reader in readers.values()], axis=0)
        complete(PreparedData(folder, manifest), int(used.sum()))
        manifest.warnings += steps[2:]
        write_manifest(folder, manifest)


class OwnTables(OwnData):
    """The data set ``parquet``."""

    name = "parquet"

    def options(self, parameters: TableParameters) -> str:
        return repr(self._columns(parameters, "raise"))

    def draws_parts(self, parameters: TableParameters) -> bool:
        return len(self._parts(parameters)) < len(PARTS)

    def preparation(self, parameters: TableParameters, on_error: OnError) -> TablePreparation:
        require_modules("pyarrow")
        path = Path(parameters.path).expanduser()
        columns, parts = self._columns(parameters, on_error), self._parts(parameters)
        return TablePreparation(source=path, columns=columns, parts=parts)

    def _columns(self, parameters: TableParameters, on_error: OnError) -> Columns:
        missing = "skip" if on_error == "skip" else parameters.missing_labels
        return Columns(parameters.query, parameters.label, parameters.document, parameters.features, missing)

    def _parts(self, parameters: TableParameters) -> dict[str, list[Path]]:
        """Return the files of each part; those of a folder by their names or folders, if these name parts."""
        root = Path(parameters.path).expanduser()
        files = table_files(root)
        if not files:
            raise DataError(f"{root} holds no Parquet, Arrow or Feather file")
        parts = {"train": files}
        if root.is_dir() and parameters.valid is None and parameters.test is None:
            named = [_part_of(file.relative_to(root)) for file in files]
            if "train" in named and all(named):
                parts = {
                    part: [file for file, name in zip(files, named, strict=True) if name == part]
                    for part in PARTS
                    if part in named
                }
        for part, path in (("valid", parameters.valid), ("test", parameters.test)):
            if path is not None:
                parts[part] = table_files(Path(path).expanduser())
        return {part: parts[part] for part in PARTS if part in parts}


def _part_of(path: Path) -> str:
    """Return the part that a path names; empty if it names none.

    >>> _part_of(Path("data/validation-00000-of-00001.parquet")), _part_of(Path("train/part-0.arrow"))
    ('valid', 'train')
    >>> _part_of(Path("trains.parquet"))
    ''
    """
    for word in path.parts:
        if match := PART.match(word.lower()):
            return NAMES_OF_PARTS[match[1]]
    return ""


OWN_TABLES = OwnTables()

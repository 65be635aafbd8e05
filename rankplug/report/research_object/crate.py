"""A reproduction as a research object: an RO-Crate after Workflow Run Crate 0.5, which other tools read and check.

The folder holds the results with the numbers of every test query, what was drawn and judged from them, the executed
notebooks, and ``sweep.yaml``, the workflow that ran. The metadata say of every combination its plugins with all
parameters, versions, digests of its data and the licence. ``SHA256SUMS`` has a digest of each file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rankplug.errors import RankplugError
from rankplug.report.research_object.crate_metadata import METADATA, WORKFLOW, crate_metadata, result_name
from rankplug.report.research_object.reviewing import artifact_appendix, codecheck
from rankplug.store import SUMS, Store, sha256_of, sweep_file, write_sums
from rankplug.system import check_can_write, whole_folder

if TYPE_CHECKING:
    from rankplug.report.study_report import StudyReport


def write_crate(shown: Mapping[str, StudyReport], report: Path, store: Store, folder: Path) -> Path:
    """Write a crate of some studies' reports into a new folder, and return the path of its metadata.

    Args:
        shown: the studies with their evaluations.
        report: the folder in which the files of their exhibits lie.
        store: of the results.
        folder: to be written; it may exist if it is empty.
    """
    require_empty(folder)
    folder = folder.resolve()
    records = list(
        {(record["identity"], record["fold"], record["trial"]): record for record in _records(shown)}.values()
    )
    if not records:
        raise RankplugError("these studies have no runs, so there is nothing to put into a crate")
    contents = _contents(shown, report, store, records)
    metadata = crate_metadata(shown, records, contents)
    contents[METADATA] = json.dumps(metadata, indent=1, default=str).encode()
    contents[SUMS] = write_sums({name: sha256_of(content) for name, content in contents.items()}).encode()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: of a folder with some of the files nobody could make a crate any more.
        with whole_folder(folder) as made:
            for name, content in contents.items():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                (made / name).write_bytes(content)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return folder / METADATA


def require_empty(folder: Path) -> None:
    """Raise the error now that writing a crate would raise after hours of training."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RankplugError(f"{folder} exists and is no empty folder; name another with --crate")
    try:
        check_can_write(folder.resolve().parent / METADATA)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _cannot_write(folder: Path, error: OSError) -> RankplugError:
    reason = error.strerror or error
    return RankplugError(
        f"cannot write the crate to {folder}: {reason}; free space, or name another folder with --crate"
    )


def _records(shown: Mapping[str, StudyReport]) -> Iterator[dict[str, Any]]:
    for report in shown.values():
        yield from report.results.records


def _contents(
    shown: Mapping[str, StudyReport], report: Path, store: Store, records: list[dict[str, Any]]
) -> dict[str, bytes]:
    """Return every file of the crate but its metadata and digests."""
    contents = {
        WORKFLOW: yaml.safe_dump(sweep_file(records), sort_keys=False).encode(),
        "records.json": json.dumps(records, indent=1).encode(),
        "codecheck.yml": codecheck(shown).encode(),
        "artifact-appendix.md": artifact_appendix(shown, records).encode(),
    }
    results = [result_name(record) for record in records]
    contents |= {f"results/{name}": (store.folder / name).read_bytes() for name in results}
    names = [file for report in shown.values() for files in report.files.values() for file in files]
    contents |= {name: (report / name).read_bytes() for name in ["claims.json", "summary.md", *names]}
    for name, study_report in shown.items():
        if study_report.notebook is not None:
            contents[f"notebooks/{name}.ipynb"] = study_report.notebook.read_bytes()
    return contents

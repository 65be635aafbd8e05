"""A sample of MSLR-WEB10K to set beside made data, where a folder named by ``RANKPLUG_DATA`` holds one."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock

from rankplug.data import Lists, load
from rankplug.system import cache_folder, data_folders, whole_folder
from rankplug_data.archives import members

NAME = "MSLR-WEB10K-sample"
TEXTS = ("msn1.fold1.train.5k.txt", "msn1.fold1.test.5k.txt")


def mslr_sample() -> Lists | None:
    """Return the sample's documents, or None if there is no sample."""
    folder = next(filter(None, map(_unpacked, data_folders())), None)
    if folder is None:
        return None
    first, second = (str(folder / text) for text in TEXTS)
    return Lists.concatenate(load({"name": "letor-file", "path": first, "test": second}))


def where_it_is_looked_for() -> str:
    """Return a sentence for readers who have no sample."""
    folders = ", ".join(map(str, data_folders())) or "no folder, as RANKPLUG_DATA is not set"
    return f"no {NAME} or {NAME}.tar.xz found; looked in {folders}"


def _unpacked(folder: Path) -> Path | None:
    if all((folder / NAME / text).is_file() for text in TEXTS):
        return folder / NAME
    archive, kept = folder / f"{NAME}.tar.xz", cache_folder() / "data" / NAME
    if not archive.is_file() or kept.is_dir():
        return kept if archive.is_file() else None
    kept.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(kept.with_suffix(".lock")):
        if kept.is_dir():
            return kept
        with whole_folder(kept) as unpacked:
            for member in members(archive):
                name = Path(member.name).name
                if name in TEXTS:
                    with (unpacked / name).open("wb") as file:
                        file.writelines(block.tobytes() for block in member.blocks())
    return kept

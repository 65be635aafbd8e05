"""A sample of MSLR-WEB10K to compare with synthetic data, where a folder named by ``RANKPLUG_DATA`` holds one."""

from __future__ import annotations

from rankplug.data import Lists
from rankplug.system import data_folders
from rankplug_data import letor
from rankplug_data.archives import members

NAME = "MSLR-WEB10K-sample"
TEXTS = ("msn1.fold1.train.5k.txt", "msn1.fold1.test.5k.txt")


def mslr_sample() -> Lists | None:
    """Return the sample's documents, or None if there is no sample."""
    sources = [folder / name for folder in data_folders() for name in (NAME, f"{NAME}.tar.xz")]
    for source in filter(lambda path: path.exists(), sources):
        parts = {}
        for member in members(source):
            name = member.name.rpartition("/")[2]
            if name in TEXTS:
                parts[name] = letor.join(member.blocks(), member.label)
        return Lists.concatenate([parts[name] for name in TEXTS])
    return None


def where_it_is_looked_for() -> str:
    """Return a sentence for readers who have no sample."""
    folders = ", ".join(map(str, data_folders())) or "no folder, as RANKPLUG_DATA is not set"
    return f"no {NAME} or {NAME}.tar.xz found; looked in {folders}"

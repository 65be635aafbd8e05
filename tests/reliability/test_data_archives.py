"""Archives of data from other people write nothing outside their folder and do not fill the disk."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

import rankplug as rp
from rankplug.errors import DataError


def made_archive(path: Path, names: list[str], content: bytes) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for kind, name in ((tarfile.SYMTYPE, "vali.txt"), (tarfile.LNKTYPE, "test.txt"), (tarfile.CHRTYPE, "dev")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
    return path


@pytest.mark.parametrize("ending", [".zip", ".tgz"])
def test_hostile_names_write_only_into_the_cache(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    lines = "".join(f"{n % 2} qid:{n // 5} 1:{n}\n" for n in range(50)).encode()
    names = ["../../train.txt", "/tmp/vali.txt", "..\\..\\test.txt"]
    path = made_archive(tmp_path / f"hostile{ending}", names, lines)
    before = {found for found in tmp_path.parent.rglob("*") if tmp_path / "cache" not in found.parents}
    split = rp.load({"name": "letor-file", "path": str(path)})
    assert [part.documents for part in split] == [50, 50, 50]
    after = {found for found in tmp_path.parent.rglob("*") if tmp_path / "cache" not in found.parents}
    assert after - before == {tmp_path / "cache"}


def test_a_bomb_in_an_archive_is_refused_before_it_fills_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("rankplug_data.archives.ALWAYS_ALLOWED", 1 << 20)
    monkeypatch.setattr("rankplug_data.archives.LARGEST_GROWTH", 10)
    line = b"0 qid:1 1:1\n"
    path = made_archive(tmp_path / "bomb.tgz", ["train.txt", "vali.txt", "test.txt"], line * 2_000_000)
    with pytest.raises(DataError, match="grows to more than 10 times"):
        rp.load({"name": "letor-file", "path": str(path)})
    written = sum(found.stat().st_size for found in (tmp_path / "cache").rglob("*") if found.is_file())
    assert written < 1 << 20

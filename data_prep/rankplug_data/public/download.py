"""Fetches files: resumed where a connection was cut, tried at each address in turn, verified, then put in place.

pooch verifies the digest and renames the finished file to its name; this module adds what it has not: resuming.
"""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

import pooch
import requests
from tqdm import tqdm

from rankplug.errors import DataError
from rankplug_data.public.benchmark import Download

PIECE = 1 << 18
ATTEMPTS = 5
TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""

_CUT = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


class ResumingDownloader:
    """A downloader for pooch that goes on where a cut connection stopped.

    What has arrived is kept beside the file as ``.part``, also when the program ends.
    """

    def __init__(self, part: Path, attempts: int = ATTEMPTS, wait: float = 1.0, progress: bool = True) -> None:
        self.part, self.attempts, self.wait, self.progress = part, attempts, wait, progress

    def __call__(self, url: str, output_file: str | Path, owner: Any) -> None:
        """Fetch the address into the file that pooch verifies."""
        for attempt in range(1, self.attempts + 1):
            try:
                self._fetch(url)
                break
            except _CUT:
                if attempt == self.attempts:
                    raise
                time.sleep(self.wait * 2 ** (attempt - 1))
        os.replace(self.part, output_file)

    def _fetch(self, url: str) -> None:
        have = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                if response.headers.get("Content-Range", "") == f"bytes */{have}":
                    return
                self.part.unlink()
                raise requests.ConnectionError(f"{url} does not go on at byte {have}")
            response.raise_for_status()
            resumed = response.status_code == requests.codes.partial_content
            have = have if resumed else 0
            length = response.headers.get("Content-Length")
            total = have + int(length) if length else None
            with self.part.open("ab" if resumed else "wb") as file, self._bar(total, have) as bar:
                for piece in response.iter_content(PIECE):
                    file.write(piece)
                    have += len(piece)
                    bar.update(len(piece))
            if total is not None and have < total:
                raise requests.ConnectionError(f"{url} ended after {have:,} of {total:,} bytes")

    def _bar(self, total: int | None, have: int) -> Any:
        disable = None if self.progress else True
        return tqdm(total=total, initial=have, unit="B", unit_scale=True, desc=self.part.stem, disable=disable)


def fetch(download: Download, folder: Path, *, attempts: int = ATTEMPTS, wait: float = 1.0) -> Path:
    """Return the file, fetched unless it is there with the right digest."""
    target = folder / download.file
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    failures = []
    pooch.get_logger().setLevel(logging.WARNING)
    for url in download.urls:
        for _ in range(2):
            resumed = part.exists()
            try:
                pooch.retrieve(
                    url,
                    known_hash=f"sha256:{download.sha256}",
                    fname=target.name,
                    path=target.parent,
                    downloader=ResumingDownloader(part, attempts, wait),
                )
                return target
            except ValueError:
                failures.append(f"{url}: what came has another SHA-256 than {download.sha256}")
                if not resumed:
                    break
            except requests.RequestException as error:
                failures.append(f"{url}: {_reason(error)}")
                break
    raise DataError(f"{download.file} could not be fetched: {'; '.join(failures)}")


def _reason(error: requests.RequestException) -> str:
    if error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    return str(error) or type(error).__name__

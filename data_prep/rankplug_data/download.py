"""Downloads: resumed where a connection was cut, tried at each address in turn, verified, then put in place.

pooch verifies the digest and renames the finished file to its name; this module adds what it has not: resuming.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pooch
import requests
import urllib3
from tqdm import tqdm

from rankplug.errors import DataError
from rankplug_data.catalogue import Download

PIECE = 1 << 18
ATTEMPTS = 5
TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""

SLOWEST = 1000
"""Bytes a second below which a connection counts as cut."""
LARGEST = 20 << 30
"""Bytes of the largest file that is fetched."""
BUSY = (429, 500, 502, 503, 504)
"""Answers of a server that may give another one soon."""
MIRRORS = "RANKPLUG_MIRRORS"

_CUT = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


class ResumingDownloader:
    """A downloader for pooch that goes on where a cut connection stopped.

    What has arrived is kept beside the file as ``.part``, also when the program ends.
    """

    def __init__(
        self, part: Path, attempts: int = ATTEMPTS, wait: float = 1.0, progress: bool = True, patience: float = TIMEOUT
    ) -> None:
        self.part, self.attempts, self.wait, self.progress, self.patience = part, attempts, wait, progress, patience

    def __call__(self, url: str, output_file: str | Path, owner: Any) -> None:
        """Fetch the address into the file that pooch verifies."""
        for attempt in range(1, self.attempts + 1):
            try:
                self._fetch(url)
                break
            except requests.RequestException as error:
                busy = error.response is not None and error.response.status_code in BUSY
                if attempt == self.attempts or not (busy or isinstance(error, _CUT)):
                    raise
                time.sleep(self.wait * 2 ** (attempt - 1))
        # Not by whole_file, which removes what a failure leaves: a cut download goes on from its part.
        os.replace(self.part, output_file)

    def _fetch(self, url: str) -> None:
        have = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        with requests.get(url, headers=headers, stream=True, timeout=self.patience) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                if response.headers.get("Content-Range", "") == f"bytes */{have}":
                    return
                self.part.unlink()
                raise requests.ConnectionError(f"{url} does not go on at byte {have}")
            response.raise_for_status()
            begin = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
            resumed = response.status_code == requests.codes.partial_content
            if resumed and begin != str(have):
                raise requests.ConnectionError(f"{url} goes on at byte {begin or '?'} and not at {have}")
            have = have if resumed else 0
            length = response.headers.get("Content-Length")
            total = have + int(length) if length else None
            with self.part.open("ab" if resumed else "wb") as file, self._bar(total, have) as bar:
                for piece in self._in_time(_pieces(response), url):
                    file.write(piece)
                    have += len(piece)
                    bar.update(len(piece))
                    if have > LARGEST:
                        raise requests.RequestException(f"{url} does not end after {have:,} bytes")
            if total is not None and have < total:
                raise requests.ConnectionError(f"{url} ended after {have:,} of {total:,} bytes")

    def _in_time(self, pieces: Iterable[bytes], url: str) -> Iterator[bytes]:
        """Give pieces as they come; raise where they come so slowly that nobody waits for the end."""
        since, came = time.monotonic(), 0
        for piece in pieces:
            yield piece
            came += len(piece)
            if (now := time.monotonic()) > since + self.patience:
                if came < SLOWEST * (now - since):
                    raise requests.ConnectionError(f"{url} sends less than {SLOWEST:,} bytes a second")
                since, came = now, 0

    def _bar(self, total: int | None, have: int) -> Any:
        disable = None if self.progress else True
        return tqdm(total=total, initial=have, unit="B", unit_scale=True, desc=self.part.stem, disable=disable)


def _pieces(response: requests.Response) -> Iterator[bytes]:
    """Give what comes as it comes: who waits for a whole piece from a slow server does not see how slow it is."""
    try:
        while piece := response.raw.read1(PIECE, decode_content=False):
            yield piece
    except urllib3.exceptions.HTTPError as error:
        raise requests.ConnectionError(str(error)) from error


def addresses(download: Download) -> tuple[str, ...]:
    """Return the addresses of a file, in their order: its own, then the mirrors that the user names."""
    mirrors = os.environ.get(MIRRORS, "").split()
    return (*download.urls, *(f"{mirror.rstrip('/')}/{download.file}" for mirror in mirrors))


def answer_of(url: str, patience: float = TIMEOUT) -> str:
    """Return what is wrong with an address; empty where it has a file. One byte is asked for."""
    try:
        headers = {"Accept-Encoding": "identity", "Range": "bytes=0-0"}
        with requests.get(url, headers=headers, stream=True, timeout=patience) as response:
            response.raise_for_status()
            if response.headers.get("Content-Type", "").startswith("text/html"):
                return "the server sends a page and no file"
            return "" if next(response.iter_content(1), b"") else "the server sends nothing"
    except requests.RequestException as error:
        return _reason(error)


def fetch(
    download: Download, folder: Path, *, attempts: int = ATTEMPTS, wait: float = 1.0, patience: float = TIMEOUT
) -> Path:
    """Return the file, fetched unless it is there with the right digest."""
    target = folder / download.file
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    failures = []
    pooch.get_logger().setLevel(logging.WARNING)
    for url in addresses(download):
        for _ in range(2):
            resumed = part.exists()
            try:
                pooch.retrieve(
                    url,
                    known_hash=f"sha256:{download.sha256}",
                    fname=target.name,
                    path=target.parent,
                    downloader=ResumingDownloader(part, attempts, wait, patience=patience),
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

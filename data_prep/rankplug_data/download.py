"""Downloads: resumed where a connection was cut, tried at each address in turn, verified, then put in place.

pooch verifies the digest and renames the finished file; this module adds resuming.
"""

from __future__ import annotations

import functools
import logging
import os
import time
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
"""Bytes of the largest file that is downloaded."""
BUSY = (429, 500, 502, 503, 504)
"""Answers of a server that may give another one soon."""
MIRRORS = "RANKPLUG_MIRRORS"


def addresses(download: Download) -> tuple[str, ...]:
    """Return the addresses of a file, in their order: its own, then the mirrors that the user names."""
    mirrors = os.environ.get(MIRRORS, "").split()
    return (*download.urls, *(f"{mirror.rstrip('/')}/{download.file}" for mirror in mirrors))


def answer_of(url: str, patience: float = TIMEOUT) -> str:
    """Return what is wrong with an address; empty where it has a file, of which one byte is requested."""
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
    """Return the file, downloaded unless it exists with the right digest.

    What has arrived is stored beside the file as ``.part``, also when the program ends.
    """
    target = folder / download.file
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    downloader = functools.partial(_download, part=part, attempts=attempts, wait=wait, patience=patience)
    failures = []
    pooch.get_logger().setLevel(logging.WARNING)
    for url in addresses(download):
        for _ in range(2):
            resumed = part.exists()
            try:
                pooch.retrieve(url, f"sha256:{download.sha256}", target.name, target.parent, downloader=downloader)
                return target
            except ValueError:
                failures.append(f"{url}: what came has another SHA-256 than {download.sha256}")
                if not resumed:
                    break
            except requests.RequestException as error:
                failures.append(f"{url}: {_reason(error)}")
                break
    raise DataError(f"{download.file} could not be fetched: {'; '.join(failures)}")


def _download(
    url: str, output_file: str, pooch: Any, *, part: Path, attempts: int, wait: float, patience: float
) -> None:
    """Download an address into the file that pooch verifies, and continue where a connection is cut."""
    for attempt in range(1, attempts + 1):
        try:
            _continue(url, part, patience)
            break
        except requests.RequestException as error:
            busy = error.response is not None and error.response.status_code in BUSY
            cut = isinstance(
                error, (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
            )
            if attempt == attempts or not (busy or cut):
                raise
            time.sleep(wait * 2 ** (attempt - 1))
    os.replace(part, output_file)


def _continue(url: str, part: Path, patience: float) -> None:
    """Append to the part what it lacks."""
    size = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={size}-"} if size else {})}
    with requests.get(url, headers=headers, stream=True, timeout=patience) as response:
        place = response.headers.get("Content-Range", "").removeprefix("bytes ")
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            if place == f"*/{size}":
                return
            part.unlink()
            raise requests.ConnectionError(f"{url} does not go on at byte {size}")
        response.raise_for_status()
        resumed = response.status_code == requests.codes.partial_content
        begin = place.partition("-")[0]
        if resumed and begin != str(size):
            raise requests.ConnectionError(f"{url} goes on at byte {begin or '?'} and not at {size}")
        size = size if resumed else 0
        length = response.headers.get("Content-Length")
        total = size + int(length) if length else None
        bar = tqdm(total=total, initial=size, unit="B", unit_scale=True, desc=part.stem, disable=None)
        since, before = time.monotonic(), size
        with part.open("ab" if resumed else "wb") as file, bar:
            # As it comes: waiting for a whole piece would hide how slow a server is.
            while piece := _piece(response):
                size += file.write(piece)
                bar.update(len(piece))
                if size > LARGEST:
                    raise requests.RequestException(f"{url} does not end after {size:,} bytes")
                if (now := time.monotonic()) > since + patience:
                    if size - before < SLOWEST * (now - since):
                        raise requests.ConnectionError(f"{url} sends less than {SLOWEST:,} bytes a second")
                    since, before = now, size
        if total is not None and size < total:
            raise requests.ConnectionError(f"{url} ended after {size:,} of {total:,} bytes")


def _piece(response: requests.Response) -> bytes:
    try:
        piece: bytes = response.raw.read1(PIECE, decode_content=False)
    except urllib3.exceptions.HTTPError as error:
        raise requests.ConnectionError(str(error)) from error
    return piece


def _reason(error: requests.RequestException) -> str:
    if error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    return str(error) or type(error).__name__

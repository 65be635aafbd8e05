"""A public data set as a plugin: what ``rp.load`` and ``rankplug data`` do with it.

This module is imported whenever plugins are listed, so that everything heavy is imported where it is used.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from rankplug.data import Split
from rankplug.errors import DataError
from rankplug.registry import Parameters
from rankplug_data.public.benchmark import Benchmark

if TYPE_CHECKING:
    from rankplug_data.preparation.preparing import Request
    from rankplug_data.preparation.storing import PreparedData
    from rankplug_data.text.letor import OnError


class DataWarning(UserWarning):
    """Data that are usable but not as published."""


@dataclass(frozen=True)
class OfficialDataset:
    """A public data set: fetched or found, prepared at first use, then mapped into memory.

    Args:
        benchmark: what is known of it.
        others: names of folders that hold other sets in the same archives.
    """

    benchmark: Benchmark
    others: tuple[str, ...] = ()

    def parameters(self) -> type[Parameters]:
        """Return the model of the data set's parameters: the version, if there are several."""
        versions = self.benchmark.versions
        if not versions:
            return Parameters
        version: Any = (Literal[versions], Field(versions[0], description="which of the official versions"))
        name = f"{self.benchmark.name.title().replace('-', '')}Parameters"
        model: type[Parameters] = create_model(name, __base__=Parameters, version=version)
        return model

    def __call__(self, parameters: Parameters, fold: int, seed: int) -> Split:
        """Train, validation and test of an official fold; the seed changes nothing."""
        prepared = self._prepared(parameters)
        if prepared is None or fold not in prepared.folds:
            prepared = self._make(parameters, None, "raise", lambda ready: fold not in ready.folds)
        if fold not in prepared.folds:
            raise DataError(
                f"{prepared.manifest.source} has only fold {', '.join(map(str, prepared.folds))} of"
                f" {self.benchmark.name}, not {fold}"
            )
        return prepared.split(fold)

    def fingerprint(self, parameters: Parameters) -> str:
        """Return a fingerprint of the data; empty for the released ones, which their name stands for.

        Where the release has never been read, prepared data always say what they are.
        """
        prepared = self._prepared(parameters)
        if prepared is None:
            return ""
        here = {fold: prepared.fingerprint(fold) for fold in prepared.folds}
        released = dict(enumerate(self.benchmark.fingerprints.get(self._version(parameters), ()), start=1))
        return " ".join(digest for fold, digest in here.items() if digest != released.get(fold))

    def state(self, parameters: Parameters) -> str:
        """Say whether the data set is prepared, found, or to be fetched."""
        if self._prepared(parameters) is not None:
            return "prepared"
        if self._candidates():
            return "found"
        return "can be fetched" if self.benchmark.downloads else "to be got by hand"

    def get(self, parameters: Parameters, *, accept_licence: bool) -> str:
        """Fetch the files, and say where they are."""
        from rankplug_data.public.download import fetch
        from rankplug_data.public.sources import downloads_folder

        downloads = self.benchmark.downloads.get(self._version(parameters), ())
        if not downloads:
            raise DataError(f"{self._what(parameters)} cannot be fetched without a click. {self._by_hand()}")
        if not accept_licence:
            raise DataError(
                f"{self.benchmark.title} has a licence. {self.benchmark.licence} See {self.benchmark.page}."
                " If you accept it, add --accept-licence"
            )
        paths = [fetch(download, downloads_folder()) for download in downloads]
        return str(paths[0] if len(paths) == 1 else os.path.commonpath(paths))

    def check_links(self, parameters: Parameters) -> list[tuple[str, str]]:
        """Ask each of its addresses for a byte: the address, and what is wrong with it or nothing."""
        from rankplug_data.public.download import addresses, answer_of

        downloads = self.benchmark.downloads.get(self._version(parameters), ())
        return [(url, answer_of(url)) for download in downloads for url in addresses(download)]

    def prepare(self, parameters: Parameters, *, source: Path | None, on_error: OnError) -> str:
        """Prepare the data set, and say what there is."""
        return self._make(parameters, source, on_error, lambda ready: source is not None).report()

    def info(self, parameters: Parameters) -> str:
        """Describe all that is known of the data set."""
        known = self.benchmark
        published = known.published
        lines = [
            known.title,
            f"page: {known.page}",
            f"licence: {known.licence}",
            f"cite: {known.citation}",
            f"by hand: {self._by_hand()}",
        ]
        for download in known.downloads.get(self._version(parameters), ()):
            note = f" ({known.mirrors_note})" if known.mirrors_note else ""
            lines.append(f"address: {' or '.join(download.urls)}{note}")
        if known.versions:
            lines.append(f"versions: {', '.join(known.versions)}")
        unsure = "" if published.confirmed else " (as published, not counted on the files)"
        lines.append(
            f"numbers: {published.queries:,} queries, {published.documents:,} documents, {known.features} features,"
            f" folds 1 to {known.folds}{unsure}"
        )
        lines.append(f"here: {self.state(parameters)}")
        prepared = self._prepared(parameters)
        if prepared is not None:
            lines.append(prepared.report())
        elif candidates := self._candidates():
            lines += [f"found: {path}" for path in candidates]
        return "\n".join(lines)

    def verify(self, parameters: Parameters) -> tuple[str, list[str]]:
        """Read all prepared data again; return what there is, and what is wrong with it."""
        from rankplug_data.preparation.verifying import problems_of

        prepared = self._prepared(parameters)
        if prepared is None:
            raise DataError(
                f"{self._what(parameters)} is not prepared yet: rankplug data prepare {self.benchmark.name}"
            )
        return prepared.report(), problems_of(prepared)

    def _version(self, parameters: Parameters) -> str:
        return str(getattr(parameters, "version", ""))

    def _what(self, parameters: Parameters) -> str:
        version = self._version(parameters)
        return f"{self.benchmark.name}[version={version}]" if version else self.benchmark.name

    def _folder(self, parameters: Parameters) -> Path:
        from rankplug_data.public.sources import prepared_folder

        version = self._version(parameters)
        return prepared_folder() / (f"{self.benchmark.name}-{version}" if version else self.benchmark.name)

    def _prepared(self, parameters: Parameters) -> PreparedData | None:
        from rankplug_data.preparation.storing import PreparedData

        return PreparedData.open(self._folder(parameters))

    def _candidates(self) -> list[Path]:
        from rankplug_data.public.sources import candidates

        return candidates(self.benchmark.archives)

    def _by_hand(self) -> str:
        return (
            f"{self.benchmark.instructions} The page is {self.benchmark.page} . Put the archive or the unpacked folder,"
            f" named {self.benchmark.archives[0]}, into a folder that the environment variable RANKPLUG_DATA names, or"
            f" say rankplug data prepare {self.benchmark.name} --source PATH"
        )

    def _make(
        self, parameters: Parameters, source: Path | None, on_error: OnError, outdated: Callable[[PreparedData], bool]
    ) -> PreparedData:
        """Prepare the data set from a named source, or from the first that is found and complete."""
        from rankplug_data.preparation.preparing import NotAsReleasedError, prepare

        sources = self._candidates() if source is None else [source]
        incomplete = []
        for candidate in sources:
            try:
                request = self._request(parameters, candidate, on_error)
                prepared = prepare(request, self._folder(parameters), outdated)
            except NotAsReleasedError as error:
                incomplete.append(str(error))
                continue
            for sentence in prepared.manifest.warnings:
                warnings.warn(f"{self._what(parameters)}: {sentence}", DataWarning, stacklevel=4)
            return prepared
        if incomplete:
            raise DataError("; ".join(incomplete))
        fetch = f"rankplug data get {self.benchmark.name} fetches it. " if self.benchmark.downloads else ""
        raise DataError(f"{self._what(parameters)} is not on this machine. {fetch}By hand: {self._by_hand()}")

    def _request(self, parameters: Parameters, source: Path, on_error: OnError) -> Request:
        from rankplug_data.preparation.layout import Layout
        from rankplug_data.preparation.preparing import Request, files_of
        from rankplug_data.preparation.statistics import mismatches
        from rankplug_data.text.letor import Columns

        known = self.benchmark
        version = self._version(parameters)
        return Request(
            name=known.name,
            version=version,
            source=source,
            files=files_of(source, Layout(known.folds, known.files, version, known.versions, self.others)),
            folds=known.folds,
            columns=Columns(count=known.features),
            on_error=on_error,
            judge=lambda statistics, parts: mismatches(known.published, statistics, parts),
            expected=self._expected(version),
        )

    def _expected(self, version: str) -> str:
        names = ", ".join(" or ".join(names) for names in self.benchmark.files.values())
        inside = f" below {version}" if version else ""
        return f"{names}{' in Fold1 to Fold5' if self.benchmark.folds > 1 else ''}{inside}"

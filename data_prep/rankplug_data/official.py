"""A public data set as a plugin: what ``rp.load`` and ``rankplug data`` do with it.

This module is imported whenever plugins are listed, so everything heavy is imported where it is used.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, create_model

from rankplug.data import Split
from rankplug.errors import DataError
from rankplug.registry import Parameters
from rankplug.system import data_folders
from rankplug_data.catalogue import Benchmark

if TYPE_CHECKING:
    from rankplug_data.letor import OnError
    from rankplug_data.prepared import PreparedData


class DataWarning(UserWarning):
    """Data that are usable but not as published."""


@dataclass(frozen=True)
class OfficialDataset:
    """A public data set: downloaded or found, prepared at first use, then mapped into memory.

    Args:
        benchmark: its facts.
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
        """Load an official fold; a validation part that the release lacks is sampled from the training part."""
        from rankplug_data.own_data import complete_split

        prepared = self._prepared(parameters)
        if prepared is None or fold not in prepared.folds:
            prepared = self._prepare(parameters, None, "raise", lambda ready: fold in ready.folds)
        if fold not in prepared.folds:
            raise DataError(
                f"{prepared.manifest.source} has only fold {', '.join(map(str, prepared.folds))} of"
                f" {self.benchmark.name}, not {fold}"
            )
        return complete_split(prepared.parts(fold), fold, seed, self.benchmark.name)

    def fingerprint(self, parameters: Parameters) -> str:
        """Return a digest of data that differ from the release; all where the release has never been read."""
        prepared = self._prepared(parameters)
        if prepared is None:
            return ""
        folds = {fold: prepared.fingerprint(fold) for fold in prepared.folds}
        released = dict(enumerate(self.benchmark.fingerprints.get(self._version(parameters), ()), start=1))
        return " ".join(digest for fold, digest in folds.items() if digest != released.get(fold))

    def state(self, parameters: Parameters) -> str:
        """Return whether the data set is prepared, found, or to be downloaded."""
        if self._prepared(parameters) is not None:
            return "prepared"
        if self._candidates():
            return "found"
        return "can be fetched" if self.benchmark.downloads else "manual download"

    def get(self, parameters: Parameters, *, accept_licence: bool) -> str:
        """Download the files, and return where they are."""
        from rankplug_data.download import fetch
        from rankplug_data.prepared import downloads_folder

        downloads = self.benchmark.downloads.get(self._version(parameters), ())
        if not downloads:
            raise DataError(f"{self._what(parameters)} cannot be fetched without a click. {self._manual_download()}")
        if not accept_licence:
            raise DataError(
                f"{self.benchmark.title} has a licence. {self.benchmark.licence} See {self.benchmark.page}."
                " If you accept it, add --accept-licence"
            )
        paths = [fetch(download, downloads_folder()) for download in downloads]
        return str(paths[0] if len(paths) == 1 else os.path.commonpath(paths))

    def check_links(self, parameters: Parameters) -> list[tuple[str, str]]:
        """Request a byte from each address; return the address, and what is wrong with it or nothing."""
        from rankplug_data.download import addresses, answer_of

        downloads = self.benchmark.downloads.get(self._version(parameters), ())
        return [(url, answer_of(url)) for download in downloads for url in addresses(download)]

    def prepare(self, parameters: Parameters, *, source: Path | None, on_error: OnError) -> str:
        """Prepare the data set, and describe it."""

        def is_current(ready: PreparedData) -> bool:
            return source is None and not (on_error == "raise" and ready.manifest.skipped)

        return self._prepare(parameters, source, on_error, is_current).report()

    def info(self, parameters: Parameters) -> str:
        """Describe the data set."""
        known = self.benchmark
        published = known.published
        lines = [
            known.title,
            f"page: {known.page}",
            f"licence: {known.licence}",
            f"cite: {known.citation}",
            f"manual download: {self._manual_download()}",
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
        """Read all prepared data again; return its description, and what is wrong with it."""
        prepared = self._prepared(parameters)
        if prepared is None:
            raise DataError(
                f"{self._what(parameters)} is not prepared yet: rankplug data prepare {self.benchmark.name}"
            )
        return prepared.report(), prepared.problems()

    def _version(self, parameters: Parameters) -> str:
        return str(getattr(parameters, "version", ""))

    def _what(self, parameters: Parameters) -> str:
        version = self._version(parameters)
        return f"{self.benchmark.name}[version={version}]" if version else self.benchmark.name

    def _prepared(self, parameters: Parameters) -> PreparedData | None:
        from rankplug_data.prepared import PreparedData

        return PreparedData.open(self._folder(parameters))

    def _folder(self, parameters: Parameters) -> Path:
        from rankplug_data.prepared import prepared_folder

        version = self._version(parameters)
        return prepared_folder() / (f"{self.benchmark.name}-{version}" if version else self.benchmark.name)

    def _candidates(self) -> list[Path]:
        """Return archives and folders of this name, in ``RANKPLUG_DATA`` first and then among the downloads."""
        from rankplug_data.archives import SUFFIXES
        from rankplug_data.prepared import downloads_folder
        from rankplug_data.releases import same_name

        def entries() -> Iterator[Path]:
            for name in self.benchmark.archives:
                for folder in filter(Path.is_dir, [*data_folders(), downloads_folder()]):
                    for entry in (folder, *sorted(folder.iterdir())):
                        if same_name(entry.name, name) and (entry.is_dir() or entry.name.lower().endswith(SUFFIXES)):
                            yield entry

        return list(dict.fromkeys(entries()))

    def _manual_download(self) -> str:
        return (
            f"{self.benchmark.instructions} The page is {self.benchmark.page} . Put the archive or the unpacked folder,"
            f" named {self.benchmark.archives[0]}, into a folder that the environment variable RANKPLUG_DATA names, or"
            f" say rankplug data prepare {self.benchmark.name} --source PATH"
        )

    def _prepare(
        self, parameters: Parameters, source: Path | None, on_error: OnError, is_current: Callable[[PreparedData], bool]
    ) -> PreparedData:
        """Prepare the data set from a named source, or from the first that is found and complete."""
        from rankplug_data.letor import Columns
        from rankplug_data.prepared import prepare
        from rankplug_data.releases import Layout, NotAsReleasedError, Release, files_of

        known, version = self.benchmark, self._version(parameters)
        layout = Layout(known.folds, known.files, version, known.versions, self.others)
        names = ", ".join(" or ".join(names) for names in known.files.values())
        incomplete = []
        for candidate in self._candidates() if source is None else [source]:
            release = Release(
                name=known.name,
                version=version,
                source=candidate,
                files=lambda path=candidate: files_of(path, layout),  # type: ignore[misc]
                columns=Columns(count=known.features),
                folds=known.folds,
                parts=tuple(known.files),
                rotates=known.folds > 1,
                on_error=on_error,
                expected=names + " in Fold1 to Fold5" * (known.folds > 1) + f" below {version}" * bool(version),
                published=known.published,
            )
            try:
                prepared = prepare(self._folder(parameters), candidate, release.write, is_current)
            except NotAsReleasedError as error:
                incomplete.append(str(error))
                continue
            for sentence in prepared.manifest.warnings:
                warnings.warn(f"{self._what(parameters)}: {sentence}", DataWarning, stacklevel=4)
            return prepared
        if incomplete:
            raise DataError("; ".join(incomplete))
        fetch = f"rankplug data get {known.name} fetches it. " if known.downloads else ""
        raise DataError(
            f"{self._what(parameters)} is not on this machine. {fetch}Manual download: {self._manual_download()}"
        )

"""A user's own data as a data set, whatever their format: prepared once, named by its files, split by query."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Container
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankplug.data import Lists, Split
from rankplug.errors import DataError
from rankplug.system import generator
from rankplug_data.file_specifications import OwnDataParameters
from rankplug_data.preparation.preparing import Preparation, prepare
from rankplug_data.preparation.storing import PreparedData
from rankplug_data.preparation.verifying import problems_of
from rankplug_data.public.benchmark import PARTS
from rankplug_data.public.sources import prepared_folder
from rankplug_data.text.letor import OnError
from rankplug_data.text.regular_files import changed, edit_state, is_there
from rankplug_data.transforms import divide

TRAIN_SHARE, VALID_SHARE = 0.6, 0.2


class OwnData(ABC):
    """A data set in files of the user's; each format has its own kind.

    Of one file, the parts that are not named are drawn from it at random by query: 60/20/20 when neither is named.
    """

    name = ""
    """The data set, as users name it."""

    @abstractmethod
    def preparation(self, parameters: Any, on_error: OnError) -> Preparation:
        """Return what prepares the data."""

    @abstractmethod
    def draws_parts(self, parameters: Any) -> bool:
        """Tell whether the data are all one part, from which others are drawn."""

    @abstractmethod
    def options(self, parameters: Any) -> str:
        """Return those parameters that change what is prepared."""

    def __call__(self, parameters: OwnDataParameters, fold: int, seed: int) -> Split:
        prepared = self._make(parameters, self.on_error(parameters))
        if self.draws_parts(parameters):
            return _drawn(prepared.parts(1), fold, seed, self.name)
        if fold not in prepared.folds:
            raise DataError(f"{parameters.path} has fold {', '.join(map(str, prepared.folds))}, not {fold}")
        return prepared.split(fold)

    def on_error(self, parameters: Any) -> OnError:
        """Return what the parameters say of broken data."""
        return "raise"

    def state(self, parameters: OwnDataParameters) -> str:
        """Say whether the data are prepared."""
        return "prepared" if PreparedData.open(self._folder(parameters)) else "found"

    def get(self, parameters: OwnDataParameters, *, accept_licence: bool) -> str:
        """Return the path; the files are the user's own, so there is nothing to fetch."""
        return parameters.path

    def prepare(self, parameters: OwnDataParameters, *, source: Path | None, on_error: OnError) -> str:
        """Prepare the data, and say what there is."""
        if source is not None:
            parameters = parameters.model_copy(update={"path": str(source)})
        return self._told(parameters, self._make(parameters, on_error))

    def info(self, parameters: OwnDataParameters) -> str:
        """Say what there is."""
        prepared = PreparedData.open(self._folder(parameters))
        return f"{parameters.path}: not prepared yet" if prepared is None else self._told(parameters, prepared)

    def verify(self, parameters: OwnDataParameters) -> tuple[str, list[str]]:
        """Read all prepared data again; return what there is, and what is wrong with it."""
        prepared = self._make(parameters, self.on_error(parameters))
        return self._told(parameters, prepared), problems_of(prepared)

    def _told(self, parameters: OwnDataParameters, prepared: PreparedData) -> str:
        if not self.draws_parts(parameters):
            return prepared.report()
        shares = _shares(prepared.manifest.folds["1"])
        words = "/".join(f"{100 * share:g}" for share in shares.values())
        drawn = f"whenever they are loaded, {', '.join(shares)} are drawn from train by query, {words}"
        return prepared.report(drawn if len(shares) > 1 else "")

    def _make(self, parameters: OwnDataParameters, on_error: OnError) -> PreparedData:
        folder = self._folder(parameters)
        ready = PreparedData.open(folder)
        if ready is not None:
            return ready
        preparation = self.preparation(parameters, on_error)

        def check() -> None:
            if self._folder(parameters) != folder:
                raise changed(preparation.source)

        return prepare(replace(preparation, check_unchanged=check), folder, lambda ready: False)

    def _folder(self, parameters: OwnDataParameters) -> Path:
        """Return a folder named by what would change the result: the files' paths, sizes and times, and the options."""
        digest = hashlib.blake2b(digest_size=10)
        digest.update(self.options(parameters).encode())
        for part, name in zip(PARTS, parameters.paths, strict=True):
            if name is not None:
                path = Path(name).expanduser().resolve()
                if not is_there(path):
                    raise DataError(f"there is no file or folder {path}")
                for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                    if not file.exists():
                        # A link that leads nowhere.
                        continue
                    state = " ".join(map(str, edit_state(file.stat())))
                    digest.update(f"{part} {file} {state}\n".encode("utf-8", "surrogateescape"))
        return prepared_folder() / f"{self.name}-{digest.hexdigest()}"


def _shares(there: Container[str]) -> dict[str, float]:
    """Return the share of the queries that the training part keeps, and that of each part that is missing."""
    given = {"train": TRAIN_SHARE, "valid": VALID_SHARE, "test": VALID_SHARE}
    wanted = {part: share for part, share in given.items() if part == "train" or part not in there}
    return {part: share / sum(wanted.values()) for part, share in wanted.items()}


def _drawn(parts: dict[str, Lists], fold: int, seed: int, name: str) -> Split:
    """Return the parts that there are, and draw missing ones from the training part."""
    shares = _shares(parts)
    if len(shares) == 1:
        return Split(*(parts[part] for part in PARTS))
    train = parts["train"]
    chosen = divide(len(train), list(shares.values())[:-1], generator(seed, name, fold))
    drawn = {part: train[queries] for part, queries in zip(shares, chosen, strict=True)}
    every = {**parts, **drawn}
    return Split(*(every[part] for part in PARTS))

"""Any LETOR or SVMlight text of one's own as a data set: a file, three files, a folder or an archive."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path

from rankplug.data import Lists, Split
from rankplug.errors import DataError
from rankplug.system import generator
from rankplug_data.file_specifications import OwnFileParameters
from rankplug_data.preparation.layout import FOLD, Layout, Place
from rankplug_data.preparation.preparing import Finder, Request, files_of, prepare
from rankplug_data.preparation.storing import PreparedData
from rankplug_data.preparation.verifying import problems_of
from rankplug_data.public.benchmark import LETOR_NAMES, PARTS
from rankplug_data.public.sources import prepared_folder
from rankplug_data.splits import divide, pick
from rankplug_data.text.archives import Member, members
from rankplug_data.text.letor import Columns, OnError
from rankplug_data.text.regular_files import changed, is_there

TRAIN_SHARE, VALID_SHARE = 0.6, 0.2


class OwnFiles:
    """The data set ``letor-file``.

    A folder or archive is read like an official release, with ``Fold1`` ... or without. Of one text, the parts that are
    not named are drawn from it at random by query: 60/20/20 when neither is named.
    """

    def __call__(self, parameters: OwnFileParameters, fold: int, seed: int) -> Split:
        prepared = self._make(parameters, parameters.on_error)
        if self._is_one_text(parameters):
            return _drawn(prepared.parts(1), fold, seed)
        if fold not in prepared.folds:
            raise DataError(f"{parameters.path} has fold {', '.join(map(str, prepared.folds))}, not {fold}")
        return prepared.split(fold)

    def state(self, parameters: OwnFileParameters) -> str:
        """Say whether the data are prepared."""
        return "prepared" if PreparedData.open(self._folder(parameters)) else "found"

    def get(self, parameters: OwnFileParameters, *, accept_licence: bool) -> str:
        """Return the path; the files are the user's own, so there is nothing to fetch."""
        return parameters.path

    def prepare(self, parameters: OwnFileParameters, *, source: Path | None, on_error: OnError) -> str:
        """Prepare the data, and say what there is."""
        if source is not None:
            parameters = parameters.model_copy(update={"path": str(source)})
        return self._told(parameters, self._make(parameters, on_error))

    def info(self, parameters: OwnFileParameters) -> str:
        """Say what there is."""
        prepared = PreparedData.open(self._folder(parameters))
        return f"{parameters.path}: not prepared yet" if prepared is None else self._told(parameters, prepared)

    def verify(self, parameters: OwnFileParameters) -> tuple[str, list[str]]:
        """Read all prepared data again; return what there is, and what is wrong with it."""
        prepared = self._make(parameters, parameters.on_error)
        return self._told(parameters, prepared), problems_of(prepared)

    def _told(self, parameters: OwnFileParameters, prepared: PreparedData) -> str:
        if not self._is_one_text(parameters):
            return prepared.report()
        shares = _shares(prepared.manifest.folds["1"])
        words = "/".join(f"{100 * share:g}" for share in shares.values())
        drawn = f"whenever they are loaded, {', '.join(shares)} are drawn from train by query, {words}"
        return prepared.report(drawn if len(shares) > 1 else "")

    def _make(self, parameters: OwnFileParameters, on_error: OnError) -> PreparedData:
        folder = self._folder(parameters)
        ready = PreparedData.open(folder)
        if ready is not None:
            return ready
        request = self._request(parameters, on_error)

        def check() -> None:
            if self._folder(parameters) != folder:
                raise changed(request.source)

        return prepare(replace(request, check_unchanged=check), folder, lambda ready: False)

    def _request(self, parameters: OwnFileParameters, on_error: OnError) -> Request:
        path = Path(parameters.path).expanduser()
        one_text = self._is_one_text(parameters)
        folded = not one_text and any(_fold_of(member) for member in members(path))
        folds = 5 if folded else 1
        names = ", ".join(" or ".join(names) for names in LETOR_NAMES.values())
        return Request(
            name=path.name,
            version="",
            source=path,
            files=self._texts(parameters) if one_text else files_of(path, Layout(folds, LETOR_NAMES)),
            folds=folds,
            columns=Columns(parameters.first_feature, parameters.features),
            parts=("train",) if one_text else PARTS,
            on_error=on_error,
            expected=f"{names}, in Fold1 to Fold5 or without folders",
        )

    def _texts(self, parameters: OwnFileParameters) -> Finder:
        def find() -> Iterator[tuple[Place | None, Member]]:
            for part, path in zip(PARTS, (parameters.path, parameters.valid, parameters.test), strict=True):
                if path is not None:
                    for member in members(Path(path).expanduser()):
                        yield Place(1, part), member

        return find

    def _is_one_text(self, parameters: OwnFileParameters) -> bool:
        path = Path(parameters.path).expanduser()
        if path.is_dir():
            return False
        inside = list(zip(range(2), members(path), strict=False))
        return len(inside) == 1 and inside[0][1].label == str(path)

    def _folder(self, parameters: OwnFileParameters) -> Path:
        """Return a folder named by what would change the result: the files' paths, sizes and times, and the options."""
        digest = hashlib.blake2b(digest_size=10)
        digest.update(f"{parameters.first_feature} {parameters.features} {parameters.on_error}".encode())
        for part, name in zip(PARTS, (parameters.path, parameters.valid, parameters.test), strict=True):
            if name is not None:
                path = Path(name).expanduser().resolve()
                if not is_there(path):
                    raise DataError(f"there is no file or folder {path}")
                for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                    if not file.exists():
                        # A link that leads nowhere.
                        continue
                    state = file.stat()
                    digest.update(
                        f"{part} {file} {state.st_size} {state.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
                    )
        return prepared_folder() / f"letor-file-{digest.hexdigest()}"


def _fold_of(member: Member) -> bool:
    return any(FOLD.fullmatch(folder) for folder in member.name.split("/")[:-1])


def _shares(there: Container[str]) -> dict[str, float]:
    """Return the share of the queries that the training part keeps, and that of each part that is missing."""
    given = {"train": TRAIN_SHARE, "valid": VALID_SHARE, "test": VALID_SHARE}
    wanted = {part: share for part, share in given.items() if part == "train" or part not in there}
    return {part: share / sum(wanted.values()) for part, share in wanted.items()}


def _drawn(parts: dict[str, Lists], fold: int, seed: int) -> Split:
    """Return the parts that there are, and draw missing ones from the training part."""
    shares = _shares(parts)
    if len(shares) == 1:
        return Split(*(parts[part] for part in PARTS))
    train = parts["train"]
    chosen = divide(len(train), list(shares.values())[:-1], generator(seed, "letor-file", fold))
    drawn = {part: pick([train], queries) for part, queries in zip(shares, chosen, strict=True)}
    found = {**parts, **drawn}
    return Split(*(found[part] for part in PARTS))


OWN_FILES = OwnFiles()

"""Any LETOR or SVMlight text of one's own as a data set: a file, three files, a folder or an archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankplug_data.file_specifications import OwnFileParameters
from rankplug_data.own_data import OwnData
from rankplug_data.preparation.layout import FOLD, Layout, Place
from rankplug_data.preparation.preparing import Finder, Request, files_of
from rankplug_data.public.benchmark import LETOR_NAMES, PARTS
from rankplug_data.text.archives import Member, members
from rankplug_data.text.letor import Columns, OnError


class OwnFiles(OwnData):
    """The data set ``letor-file``.

    A folder or archive is read like an official release, with ``Fold1`` ... or without.
    """

    name = "letor-file"

    def on_error(self, parameters: OwnFileParameters) -> OnError:
        return parameters.on_error

    def options(self, parameters: OwnFileParameters) -> str:
        return f"{parameters.first_feature} {parameters.features} {parameters.on_error}"

    def draws_parts(self, parameters: OwnFileParameters) -> bool:
        path = Path(parameters.path).expanduser()
        if path.is_dir():
            return False
        inside = list(zip(range(2), members(path), strict=False))
        return len(inside) == 1 and inside[0][1].label == str(path)

    def preparation(self, parameters: OwnFileParameters, on_error: OnError) -> Request:
        path = Path(parameters.path).expanduser()
        one_text = self.draws_parts(parameters)
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
            for part, path in zip(PARTS, parameters.paths, strict=True):
                if path is not None:
                    for member in members(Path(path).expanduser()):
                        yield Place(1, part), member

        return find


def _fold_of(member: Member) -> bool:
    return any(FOLD.fullmatch(folder) for folder in member.name.split("/")[:-1])


OWN_FILES = OwnFiles()

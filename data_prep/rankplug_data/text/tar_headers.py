"""Headers of tar archives that claim nothing the archive cannot hold, and an end that must be there.

The standard library takes an archive that is cut between two files, or within a header, for one that ends there, and
reads on for as many bytes as a header claims.
"""

from __future__ import annotations

import tarfile
from typing import Any

LARGEST_EXTENSION = 1 << 20
"""Bytes of a long name and the like."""


class BoundedHeader(tarfile.TarInfo):
    """The header of a file of an archive; :func:`headers_of` makes the kind for an archive of some size."""

    most = 0
    """Bytes that the archive can hold."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Any:
        """Read the next header; raise where the archive just stops."""
        try:
            return super().fromtarfile(archive)._checked()
        except tarfile.HeaderError as error:
            if str(error) == "end of file header":
                raise
            raise tarfile.ReadError("it has no end" if str(error) == "empty header" else str(error)) from None

    @classmethod
    def frombuf(cls, *words: Any, **options: Any) -> Any:
        """Read a header from bytes; its file or extension is read after this, so that the size is checked now."""
        return super().frombuf(*words, **options)._checked()

    def _checked(self) -> BoundedHeader:
        if self.islnk() or self.issym() or self.isdir() or self.isdev():
            # Nothing follows, whatever the size says.
            return self
        most = self.most if self.isreg() else min(self.most, LARGEST_EXTENSION)
        if not 0 <= self.size <= most:
            raise tarfile.ReadError(f"{self.name} claims {self.size:,} bytes")
        if self.issparse():
            raise tarfile.ReadError(f"{self.name} has holes (a sparse file), which are not read here")
        return self


def headers_of(most: int) -> type[BoundedHeader]:
    """Return the kind of header for an archive that holds at most some bytes."""
    return type("BoundedHeader", (BoundedHeader,), {"most": most})

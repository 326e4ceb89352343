"""The directories that units lie in, each opened once: what is found together lies together."""

from __future__ import annotations

import os

from ...oskit.files import opening
from .scan import open_below


class Parents:
    """Opens a unit's parent, component by component, unless it still is open. `most`: that many stay open."""

    __slots__ = ("_fds", "_newest", "most")

    def __init__(self, most: int = 1) -> None:
        self.most = most
        self._fds: dict[tuple[str, str], int] = {}
        self._newest = -1

    def __contains__(self, place: tuple[str, str]) -> bool:
        return place in self._fds

    @property
    def are_many(self) -> bool:
        return len(self._fds) >= self.most or (bool(self._fds) and opening.are_few_after(self._newest))

    def open(self, root: str, path: str) -> int:
        """The descriptor belongs to us, and lives at least until another directory is asked for. Raises OSError."""
        fd = self._fds.get((root, path), -1)
        if fd < 0:
            if self.are_many:
                self.close()
            fd = self._newest = self._fds[root, path] = open_below(root, path)
        return fd

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def __del__(self) -> None:
        self.close()

"""What the guard may ask about the disk, without os.path: where a path's parent really is, and whether it exists."""

import posix

_MOST_LINKS = 40


class Disk:
    """`look(path) -> (resolved parent or None, exists)`, each directory resolved once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {"/": "/", "": "/"}

    def look(self, path: str) -> "tuple[str | None, bool]":
        if not path.startswith("/") or "\0" in path:
            return None, False
        parent = self._resolved(path.rpartition("/")[0], 0)
        return parent, parent is not None and _exists(path)

    def _resolved(self, directory: str, links: int) -> str | None:
        """The directory with every symlink followed; what does not exist yet stays as it is written."""
        directory = directory.rstrip("/")
        if directory in self._known:
            return self._known[directory]
        above, _, name = directory.rpartition("/")
        parent = self._resolved(above, links)
        found = None if parent is None else self._step(parent, name, links)
        self._known[directory] = found
        return found

    def _step(self, parent: str, name: str, links: int) -> str | None:
        if name in ("", "."):
            return parent
        if name == "..":
            return parent.rpartition("/")[0] or "/"
        here = f"{parent.rstrip('/')}/{name}"
        try:
            target = posix.readlink(here)
        except FileNotFoundError:
            return here
        except OSError as error:
            return here if error.errno == 22 else None  # EINVAL: no link
        if links >= _MOST_LINKS:
            return None
        return self._resolved(target if target.startswith("/") else f"{parent.rstrip('/')}/{target}", links + 1)


def _exists(path: str) -> bool:
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True

"""Files of ours that were made from others, and are believed only while those look as they did. Hot path."""

import posix
from _frozen_importlib import ModuleSpec  # importlib.machinery is one import more
from marshal import loads

from .headstart import open_private, read_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, ModuleType
    from typing import Any

    from .headstart import Stamp


def stamp(paths: "Iterable[str]") -> "list[Stamp]":
    """What the sources look like now. A file that is not there has a stamp too."""
    return [_stamp(path) for path in paths]


def _stamp(path: str) -> "Stamp":
    try:
        seen = posix.stat(path)
    except OSError:
        return [path, 0, 0, 0]
    return [path, seen.st_mtime_ns, seen.st_size, seen.st_ino]


def read_private(path: str, max_bytes: int) -> "bytes | None":
    """The bytes of a file that is ours, writable by nobody else, no link and no longer than that; else None."""
    fd, size = open_private(path, max_bytes)
    return None if fd < 0 else read_out(fd, size)


def private_lines(path: str, max_bytes: int) -> "list[str]":
    """The lines of such a file; none where there is no such file."""
    return (read_private(path, max_bytes) or b"").decode("utf-8", "surrogateescape").split("\n")


def kept_document(path: str, max_bytes: int) -> "dict[str, Any] | None":
    """What was compiled into a file of ours; None if it is not there, not ours, or nothing of the kind."""
    data = read_private(path, max_bytes)
    try:
        document = loads(data) if data else None
    except (ValueError, EOFError, TypeError):
        return None
    return document if isinstance(document, dict) else None


class CodeFinder:
    """Finds modules in a file of compiled ones, as if in their own. Whoever has such a file says where and what."""

    __slots__ = ()

    def source_of(self, name: str) -> "tuple[str, bool] | None":
        """Its source and whether it is a package; None if the file does not hold it, or not as the source is now."""
        raise NotImplementedError

    def code_of(self, name: str) -> "CodeType":
        raise NotImplementedError

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        found = self.source_of(name)
        if found is None:
            return None
        source, is_package = found
        spec = ModuleSpec(name, self, origin=source, is_package=is_package)  # type: ignore[arg-type]
        if is_package:
            spec.submodule_search_locations = [source.rpartition("/")[0]]
        return spec

    def create_module(self, spec: "ModuleSpec") -> None:
        return None

    def exec_module(self, module: "ModuleType") -> None:
        spec = module.__spec__
        module.__file__ = spec.origin if spec else None
        exec(self.code_of(module.__name__), module.__dict__)

"""Paths as words: joined, normalised, compared by component, and resolved through the caller's look()."""

from __future__ import annotations

from .analysis import CREATE, DELETE, READ, PathUse
from .fields import Field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[[str], tuple[str | None, bool]]


MAX_CLIMBS = 64


def normalised(path: str) -> str:
    """Absolute, without . and .. and doubled slashes; as bash's cd does it, by the letters alone."""
    if "/." not in path and "//" not in path and (path[-1] != "/" or path == "/"):
        return path
    kept: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if kept:
                kept.pop()
        elif name and name != ".":
            kept.append(name)
    return "/" + "/".join(kept)


def joined(cwd: str | None, path: str) -> str | None:
    if path.startswith("/"):
        return path
    return None if cwd is None else f"{cwd}/{path}"


def resolved(path: str, follows: bool, look: Look) -> str | None:
    """Where it really lies. `follows`: its last component too, where a program would follow a link."""
    if "/../" in path or path.endswith("/.."):
        return _climbing(path, follows, look)
    follows = follows or path.endswith(("/", "/."))
    path = normalised(path)
    if path == "/":
        return "/"
    parent = look(path + "/_" if follows else path)[0]
    if parent is None or follows:
        return parent
    return f"{'' if parent == '/' else parent}{path[path.rindex('/') :]}"


def _climbing(path: str, follows: bool, look: Look) -> str | None:
    """The parent of a link's target is not the parent of the link: go step by step."""
    here, climbed = "", 0
    for name in path.split("/"):
        if name == "..":
            climbed += 1
            real = resolved(here or "/", True, look)
            if real is None or climbed > MAX_CLIMBS:
                return None
            here = real.rsplit("/", 1)[0]
        elif name and name != ".":
            here = f"{here}/{name}"
    return resolved(here or "/", follows or path.endswith(("/", "/.", "/..")), look)


def uses(field: Field, offset: int, mode: str, cwds: tuple[str | None, ...], look: Look, source: str) -> list[PathUse]:
    """One use for every directory that the shell may be in."""
    span = (field.word.start, field.word.end) if field.word is not None and source else (-1, -1)
    raw = source[span[0] : span[1]] if span[0] >= 0 else field.text or ""
    if field.stem is None:
        return [PathUse(raw, None, mode, span=span)]
    path = field.stem[offset:]
    found = []
    for cwd in cwds if not path.startswith("/") else (None,):
        full = joined(cwd, path)
        if full is None:
            found.append(PathUse(raw, None, mode, span=span))
        elif field.pattern_at >= offset:
            found.append(_pattern_use(raw, full, field.pattern_at - offset + len(full) - len(path), mode, look, span))
        else:
            real = resolved(full, mode != DELETE and mode != CREATE, look)
            found.append(PathUse(raw, normalised(full), mode, resolved=real, span=span))
    return found


def _pattern_use(raw: str, full: str, at: int, mode: str, look: Look, span: tuple[int, int]) -> PathUse:
    """Whatever matches lies in the directory before the pattern, unless the pattern is a directory that is a link."""
    directory = full[: full.rindex("/", 0, at + 1) + 1]
    pattern = full[len(directory) :]
    use = PathUse(raw, normalised(directory), mode, is_glob=True, span=span)
    if pattern.startswith("."):
        use.path = None  # .* has been known to match ..
    elif "/" not in pattern and mode in (DELETE, CREATE, READ):
        use.resolved = resolved(directory, True, look)
    elif "/.." in pattern:
        use.path = None
    return use

"""Follow a command line the way bash would, and tell every command and path that it could touch."""

from .analysis import ANY, Analysis, PathUse, Simple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Look = Callable[[str], tuple[str | None, bool]]


def analyse(command: str, *, cwd: str, home: str, variables: "Mapping[str, str]", look: "Look") -> Analysis:
    """Never raises; what it cannot read makes the whole analysis opaque."""
    if any(c in command for c in "\"'\\$`<>|&;(){}*?[~#\n"):
        return Analysis((), "the reader is not written yet")
    words = command.split()
    paths = []
    for word in words[1:]:
        if not word.startswith("-"):
            path = word if word.startswith("/") else f"{cwd}/{word}"
            parent, _ = look(path)
            resolved = None if parent is None else parent + path[path.rindex("/") :]
            paths.append(PathUse(word, path, ANY, resolved=resolved))
    name = words[0].rsplit("/", 1)[-1] if words else None
    return Analysis(
        (Simple(tuple(words), name=name, cwd=cwd, paths=tuple(paths), span=(0, len(command)), text=command),)
    )

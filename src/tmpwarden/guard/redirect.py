"""Lead literal /tmp paths of a command into the scratch, word by word, and leave everything else byte for byte."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Look = Callable[[str], tuple[str | None, bool]]

TMP_ROOTS = ("/tmp",)


def rewrite(
    command: str,
    *,
    scratch: str,
    cwd: str,
    home: str,
    variables: "Mapping[str, str]",
    look: "Look",
    tmp_roots: tuple[str, ...] = TMP_ROOTS,
    uid: int = -1,
    keep: tuple[str, ...] = (),
) -> str | None:
    """The command that uses the scratch instead, or None where nothing changes. `keep`: names in /tmp to leave."""
    return None


def rewrite_path(
    path: str,
    *,
    scratch: str,
    cwd: str,
    look: "Look",
    mode: str = "any",
    tmp_roots: tuple[str, ...] = TMP_ROOTS,
    uid: int = -1,
    keep: tuple[str, ...] = (),
) -> str | None:
    """The same for one path of a file tool."""
    return None

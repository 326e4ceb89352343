"""The merged rules in one stamped file, so that a hook reads no TOML. Hot path: the slow half is imported when stale.

A broken config leaves the last good file in force; what is wrong is handed back as one sentence.
"""

import posix

from .rules import Rules, from_row

SCHEMA = 2  # raise it when a row means something else: what was compiled before is compiled anew
MAX_BYTES = 1 << 22


class InForce:
    """The rules to go by, and what is wrong with the config, if anything."""

    __slots__ = ("complaint", "rules")

    def __init__(self, rules: Rules, complaint: str = "") -> None:
        self.rules = rules
        self.complaint = complaint


def rules_in_force(files: "tuple[str, ...]", cache: str, *, uid: int) -> InForce:
    """Rules from the compiled file `cache` if it still fits its sources, else compiled anew from `files`."""
    document = _read(cache, uid)
    if document is not None and document["stamp"] == stamp(_sources(files, document)):
        return InForce(_rules(document), str(document["complaint"]))
    from .compiling import compile_rules

    return compile_rules(files, cache, last_good=None if document is None else document)


def _sources(files: "tuple[str, ...]", document: "dict[str, object]") -> "tuple[str, ...]":
    presets = document["presets"]
    assert isinstance(presets, list)
    return (*presets, *files)


def stamp(paths: "tuple[str, ...]") -> "list[list[object]]":
    """What the sources looked like. A file that is not there has a stamp too."""
    found: list[list[object]] = [[SCHEMA]]
    for path in paths:
        try:
            st = posix.stat(path)
            found.append([path, st.st_mtime_ns, st.st_size, st.st_ino])
        except OSError:
            found.append([path, 0, 0, 0])
    return found


def _read(cache: str, uid: int) -> "dict[str, object] | None":
    """The compiled document; None if it is not there, not ours, or not readable as one."""
    try:
        fd = posix.open(cache, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError:
        return None
    try:
        st = posix.fstat(fd)
        if st.st_uid != uid or st.st_mode & 0o022 or st.st_size > MAX_BYTES:
            return None
        data = posix.read(fd, MAX_BYTES)
    except OSError:
        return None
    finally:
        posix.close(fd)
    try:
        document = _scan(data.decode())
        return document if isinstance(document, dict) and document["schema"] == SCHEMA else None
    # SystemError: the C scanner has no JSONDecodeError to raise for a torn text as long as nobody imported json
    except (ValueError, StopIteration, KeyError, SystemError):
        return None


class _Plain:
    """What the C scanner wants to be told; the `json` module would say the same and costs 2.3 interpreters."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = None
    memo: "dict[str, str]" = {}  # noqa: RUF012


def _scan(text: str) -> object:
    from _json import make_scanner

    return make_scanner(_Plain)(text, 0)[0]  # type: ignore[arg-type]


def _rules(document: "dict[str, object]") -> Rules:
    rows = document["rules"]
    assert isinstance(rows, list)
    return Rules(
        tuple([from_row(row) for row in rows]),
        redirect_tmp=document["redirect_tmp"] is True,
        target=str(document["target"]),
        on_error=str(document["on_error"]),
        default=str(document["default"]),
    )


def config_files(config_dir: str) -> "tuple[str, ...]":
    """Where `[guard]` and `[redirect]` may stand, the last word last. Not in a project: that may be a stranger's."""
    try:
        more = sorted(name for name in posix.listdir(f"{config_dir}/guard.d") if name.endswith(".toml"))
    except OSError:
        more = []
    return (
        "/etc/tmpwarden/config.toml",
        f"{config_dir}/config.toml",
        *[f"{config_dir}/guard.d/{name}" for name in more],
    )


def cache_path(state_dir: str) -> str:
    return f"{state_dir}/guard/rules.json"

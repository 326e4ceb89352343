"""Functions that bash has exported to whoever started us: the `sh` between drops them. Names only. Hot path."""

import posix

from .. import system

_HEAD = b"BASH_FUNC_"
_MOST = 4 << 20


def exported_functions() -> "frozenset[str] | None":
    """Those that our parent began with; None where nobody can tell and a `sh` may have dropped some."""
    environ = system.hot.environment(posix.getppid(), _MOST)
    if environ is None:
        return None if _sh_drops_them() else frozenset()
    return functions_in(environ)


def functions_in(environ: bytes) -> "frozenset[str]":
    """The names of the functions in a NUL separated environment; no value is kept."""
    entries = [entry for entry in environ.split(b"\0") if entry.startswith(_HEAD)]
    return frozenset(function_of(entry.partition(b"=")[0].decode("utf-8", "replace")) for entry in entries)


def function_of(variable: str) -> str:
    """`rm` for BASH_FUNC_rm%%; older ones write BASH_FUNC_rm()."""
    return variable[len(_HEAD) :].partition("%")[0].removesuffix("()")


def _sh_drops_them() -> bool:
    """dash and its kin do. bash as `sh` hands them on, so that they are in our own environment."""
    try:
        return not posix.readlink("/bin/sh").endswith("bash")
    except OSError:
        return system.hot.TELLS_MOUNTS  # no link: a Mac's own sh, which is a bash

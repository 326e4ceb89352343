"""Variables that the process that started us began with: `sh` drops exported functions. Names only. Hot path."""

import posix

from .. import system

_MOST = 4 << 20
_OF_LOADERS = ("LD_", "DYLD_")  # of no effect if they are empty


def inherited_names() -> "frozenset[str] | None":
    """Of our parent's variables; None where nobody can tell and a `sh` may have dropped some."""
    environ = system.hot.environment(posix.getppid(), _MOST)
    if environ is None:
        return None if _sh_drops_functions() else frozenset()
    return names_in(environ)


def names_in(environ: bytes) -> "frozenset[str]":
    """The names in a NUL separated environment that mean something; no value is kept."""
    pairs = [entry.partition(b"=") for entry in environ.split(b"\0") if entry]
    variables = [(name.decode("utf-8", "replace"), value) for name, _, value in pairs]
    return frozenset(name for name, value in variables if means_something(name, value))


def means_something(name: str, value: bytes) -> bool:
    """The line in an agent's settings empties what would be loaded into our own interpreter."""
    return bool(value) or not name.startswith(_OF_LOADERS)


def _sh_drops_functions() -> bool:
    """dash and its kin do. bash as `sh` hands them on, so that they are in our own environment."""
    try:
        return not posix.readlink("/bin/sh").endswith("bash")
    except OSError:
        return system.hot.TELLS_MOUNTS  # no link: a Mac's own sh, which is a bash

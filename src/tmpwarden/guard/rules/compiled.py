"""The merged rules in one stamped file, so that a hook reads no TOML. Hot path; the slow half waits.

A broken config leaves the last good file in force; what is wrong is handed back as one sentence.
"""

import posix

from ...stamped import kept_document, stamp
from .rule import SCHEMA, InForce, rules_of

MAX_BYTES = 1 << 22


def rules_in_force(files: "tuple[str, ...]", cache: str) -> InForce:
    """Rules from the compiled file `cache` if it still fits its sources, else compiled anew from `files`."""
    document = kept_document(cache, MAX_BYTES)
    if document is not None and document.get("schema") != SCHEMA:
        document = None
    if document is not None and document["stamp"] == stamp(_sources(files, document)):
        return InForce(rules_of(document), str(document["complaint"]))
    from .compiling import compile_rules

    return compile_rules(files, cache, last_good=None if document is None else document)


def _sources(files: "tuple[str, ...]", document: "dict[str, object]") -> "tuple[str, ...]":
    presets = document["presets"]
    assert isinstance(presets, list)
    return (*presets, *files)


def config_files(config_dir: str) -> "tuple[str, ...]":
    """Where `[guard]` and `[redirect]` may stand, the last word last: the host's, then the user's. Not in a project:
    that may be a stranger's."""
    return (*_files_of("/etc/tmpwarden"), *_files_of(config_dir))


def _files_of(directory: str) -> "list[str]":
    try:
        more = sorted(name for name in posix.listdir(f"{directory}/guard.d") if name.endswith(".toml"))
    except OSError:
        more = []
    return [f"{directory}/config.toml", *[f"{directory}/guard.d/{name}" for name in more]]


def cache_path(state_dir: str) -> str:
    return f"{state_dir}/guard/rules"

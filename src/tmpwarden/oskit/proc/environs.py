"""Variables in the NUL separated environment of a process."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ... import agent_facts

_OF_AGENTS = (*agent_facts.TEMP_VARIABLES, *agent_facts.TEMP_WITNESSES)
TEMP_VARIABLES = (b"TMPDIR", b"TMP", b"TEMP", *(name.encode() for name in _OF_AGENTS))


def temp_directories(environ: bytes) -> Iterator[tuple[str, str]]:
    """(variable, value) of every absolute temp directory in an environment."""
    for variable in TEMP_VARIABLES:
        value = variable_in(environ, variable)
        if value is not None and value.startswith("/"):
            yield os.fsdecode(variable), value


def variable_in(environ: bytes, name: bytes) -> str | None:
    """The value of one variable in a NUL separated environment."""
    needle = name + b"="
    at = 0 if environ.startswith(needle) else environ.find(b"\0" + needle) + 1
    if at == 0 and not environ.startswith(needle):
        return None
    at += len(needle)
    end = environ.find(b"\0", at)
    return os.fsdecode(environ[at : end if end >= 0 else len(environ)])

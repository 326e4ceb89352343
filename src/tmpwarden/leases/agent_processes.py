"""Which running processes are an agent, told by the program they run. Used only to doubt: a name proves nothing, but
as long as such a process lives we do not say that nobody carries its session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..oskit.proc import proc_links, procs
from ..oskit.proc.namespaces import MountTable
from ..text import is_within

_INTERPRETERS = (b"node", b"bun", b"deno", b"npx", b"bunx", b"python", b"uv", b"uvx")


def running(agent: str, commands: Mapping[int, tuple[bytes, ...]]) -> tuple[int, ...]:
    """Processes of this user whose program is called like the agent. `commands`: every process's command line."""
    word = os.fsencode(agent)
    alike = (pid for pid, arguments in commands.items() if is_program_of(word, arguments))
    return tuple(pid for pid in alike if procs.may_be_ours(pid))


def is_program_of(word: bytes, arguments: tuple[bytes, ...]) -> bool:
    """`codex`, `/opt/bin/codex`, `node .../@google/gemini-cli/index.js`: the program, or an interpreter's script."""
    if not arguments:
        return False
    program = arguments[0].rsplit(b"/", 1)[-1]
    if _is_called(word, program):
        return True
    if not program.startswith(_INTERPRETERS):
        return False
    script = next((argument for argument in arguments[1:] if not argument.startswith(b"-")), b"")
    *directories, file = script.split(b"/")[-5:]
    scratch = b"%b-%d" % (word, os.geteuid())  # claude-1000 holds every script that Claude writes for itself
    return _is_called(word, file) or any(_is_called(word, part) for part in directories if part != scratch)


def _is_called(word: bytes, name: bytes) -> bool:
    """`codex`, `codex.js`, `codex-cli`; not `codexology`."""
    return name == word or (name.startswith(word) and name[len(word) : len(word) + 1] in (b"-", b".", b"_", b" "))


def may_write_below(pid: int, root: str) -> bool:
    """Whether this agent's temporary files or its home lie at or below `root`, by the environment it started with."""
    try:
        environ = procs.environment(pid)
    except procs.ENDED:
        return bool(procs.other_threads(pid))  # its first thread may have ended while others go on
    except OSError:
        return True  # it hides, or is just being loaded
    places = ["/tmp", *(value for _, value in proc_links.temp_directories(environ))]
    places += [home for home in [proc_links.variable_in(environ, b"HOME")] if home]
    table = MountTable.of()
    return table is None or any(is_within(table.resolve(place).rstrip("/"), root) for place in places)


def unaccounted(found: Iterable[int], owners: Iterable[int], known: dict[int, procs.Process]) -> tuple[int, ...]:
    """Those that are neither a known owner nor its launcher nor its helper."""
    accounted = set(owners)
    family = accounted.union(*(procs.ancestors(pid, known) for pid in accounted)) if accounted else set()
    return tuple(pid for pid in found if pid not in family and accounted.isdisjoint(procs.ancestors(pid, known)))

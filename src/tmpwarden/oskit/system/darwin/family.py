"""Whether a process whose variables macOS hides can belong to a session: by who started it.

The kernel leaves the variables of most of Apple's own programs out of its answer (a shell, `sleep`), in silence. Such a
process may be an agent's command. It is not if everybody who started it is known and no agent: the kernel remembers
the unique id of the process that each was forked from, also when that one has ended and launchd took its children.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .... import agent_facts
from .processes import Basics

LAUNCHD = 1
PROGRAMS = frozenset(name for facts in agent_facts.FACTS.values() for name in facts.get("programs", ()))
_LAUNCHERS = 3  # words of a command line in which an agent's name may stand: `node --flag /opt/bin/claude`


def doubt_about(
    pid: int,
    by_unique: Mapping[int, Basics],
    basics: Mapping[int, Basics],
    arguments: Mapping[int, tuple[bytes, ...]],
    carriers: Iterable[int],
) -> str:
    """Why it may belong to a session, in words; "" if it cannot. `carriers`: whose variables name a session."""
    name, known = _called(basics[pid]), set(carriers)
    line: set[int] = set()
    here = basics[pid]
    while here.pid != LAUNCHD:
        above = by_unique.get(here.unique_parent)
        if above is None:
            return f"macOS hides the environment of {name}, and the process that started it has ended"
        if above.pid in line:
            return f"macOS hides the environment of {name}, and who started it cannot be told"
        if above.pid in known or is_agent(above, arguments.get(above.pid, ())):
            return f"macOS hides the environment of {name}, which {_called(above)} started"
        line.add(above.pid)
        here = above
    return ""


def is_agent(one: Basics, words: tuple[bytes, ...]) -> bool:
    names = {word.rpartition(b"/")[2].decode("utf-8", "replace") for word in words[:_LAUNCHERS]}
    return not PROGRAMS.isdisjoint(names | {one.name})


def _called(one: Basics) -> str:
    return f"process {one.pid} ({one.name})"

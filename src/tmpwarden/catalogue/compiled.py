"""The built-in agents, decoded once and kept as Python keeps its compiled modules: in __pycache__, checked by stamps.

Thirty TOML files take longer to read than a small scan takes in all. What cannot be written there is simply read again.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
from _frozen_importlib_external import cache_from_source
from enum import Enum

from ..model.sweep import Agent, Litter
from ..model.terms import Kind, OwnerRule, Tier, Worth
from ..oskit.files import atomic
from ..stamped import stamp
from .patterns import Hint

KNOWN_HINTS: dict[str, Hint] = {}  # those of built-in rows are compiled too, so that `re` is not imported for them


def hint_of(pattern: str) -> Hint:
    known_hint = KNOWN_HINTS.get(pattern)
    if known_hint is None:
        from .names import hint  # a row of the user's own, or nothing is compiled yet

        known_hint = KNOWN_HINTS[pattern] = hint(pattern)
    return known_hint


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_DECODERS = (_HERE, os.path.join(os.path.dirname(_HERE), "model"))  # a change of theirs may change the rows


def recall(directory: str) -> dict[str, Agent] | None:
    """Agents by file name as `remember` was given them, or None if anything has changed since."""
    try:
        with open(_path(), "rb", buffering=0) as file:
            stamps, agents, hints = marshal.loads(file.read())
        if stamps == stamp(_sources(directory)):
            KNOWN_HINTS.update((pattern, Hint(*plain)) for pattern, plain in hints.items())
            return {name: _agent(plain) for name, plain in agents.items()}
    except (OSError, EOFError, ValueError, TypeError):
        pass
    return None


def remember(directory: str, agents: dict[str, Agent]) -> None:
    if sys.dont_write_bytecode:
        return
    plain = {name: (*_plain(agent), tuple(map(_plain, agent.rows))) for name, agent in agents.items()}
    hints = {row.name: hint_of(row.name).plain for agent in agents.values() for row in agent.rows}
    with contextlib.suppress(OSError):  # read-only, or full
        atomic.write(_path(), marshal.dumps((stamp(_sources(directory)), plain, hints)), 0o644)


def _path() -> str:
    return cache_from_source(__file__).removesuffix(".pyc") + ".rows"


def _sources(directory: str) -> list[str]:
    """What the rows come from: the TOML files, and the modules that read them."""
    return [
        f"{place}/{name}"
        for place in (directory, *_DECODERS)
        for name in sorted(os.listdir(place))
        if name.endswith((".toml", ".py"))
    ]


def _plain(noun: Agent | Litter) -> tuple[object, ...]:
    values = (getattr(noun, name) for name in noun.__match_args__ if name != "rows")
    return tuple(value.value if isinstance(value, Enum) else value for value in values)


def _agent(plain: tuple[Any, ...]) -> Agent:
    id_, name, session_env, registry, source, has_facts, rows = plain
    return Agent(
        id=id_,
        name=name,
        session_env=session_env,
        registry=registry,
        rows=tuple(map(_row, rows)),
        source=source,
        has_facts=has_facts,
    )


def _row(plain: tuple[Any, ...]) -> Litter:
    agent, id_, place, name, kind, tier, worth, owner, *rest = plain
    return Litter(agent, id_, place, name, Kind(kind), Tier(tier), Worth(worth), OwnerRule(owner), *rest)

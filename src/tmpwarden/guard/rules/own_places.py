"""`@settings` and `@agents` in a glob: what agents are steered by, what they remember, and what is ours."""

from __future__ import annotations

from ...agent_facts import FACTS
from ...oskit.files import places

_OURS = ("~/.config/tmpwarden", "~/.local/state/tmpwarden", "/etc/tmpwarden")


def spelled(operands: tuple[str, ...]) -> tuple[str, ...]:
    """The operands with both words replaced by the globs of every agent that we know."""
    found: list[str] = []
    for operand in operands:
        found += _WORDS[operand]() if operand in _WORDS else [operand]
    return tuple(dict.fromkeys(found))


def _settings() -> list[str]:
    ours = [*_OURS, places.config_dir(), places.state_dir()]
    return [*(glob for facts in FACTS.values() for glob in facts["guarded"]), *_with_below(ours)]


def _agents() -> list[str]:
    homes = [path for facts in FACTS.values() for path in facts["own"] if path[0] == "~"]
    return [*_settings(), *_with_below(homes)]


def _with_below(paths: list[str]) -> list[str]:
    return [glob for path in paths for glob in (path, f"{path}/*")]


_WORDS = {"@settings": _settings, "@agents": _agents}

"""The agents that `install` knows: those whose TOML file has hooks. A module is for settings of another shape."""

from __future__ import annotations

from ...agent_facts import FACTS
from ...errors import UnknownAgent
from .others import Claude, Codex, Copilot, Gemini, OpenCode
from .target import Target, Wish

_OTHERS: dict[str, type[Target]] = {
    "claude": Claude, "codex": Codex, "copilot": Copilot, "gemini": Gemini, "opencode": OpenCode,
}  # fmt: skip
TARGETS: tuple[Target, ...] = tuple(_OTHERS.get(name, Target)(facts) for name, facts in FACTS.items())

__all__ = ["TARGETS", "Target", "Wish", "find"]


def find(name: str) -> Target:
    for target in TARGETS:
        if target.id == name:
            return target
    raise UnknownAgent(name, hint=f"one of {', '.join(target.id for target in TARGETS)} or timer")

"""The agents that `install` knows. One module each; the base is in target.py."""

from __future__ import annotations

from ...errors import UnknownAgent
from .claude import Claude
from .codex import Codex
from .copilot import Copilot
from .gemini import Gemini
from .opencode import OpenCode
from .qwen import Qwen
from .target import Target, Wish

TARGETS: tuple[Target, ...] = (Claude(), Codex(), Gemini(), Copilot(), OpenCode(), Qwen())

__all__ = ["TARGETS", "Target", "Wish", "find"]


def find(name: str) -> Target:
    for target in TARGETS:
        if target.id == name:
            return target
    raise UnknownAgent(name, hint=f"one of {', '.join(target.id for target in TARGETS)} or timer")

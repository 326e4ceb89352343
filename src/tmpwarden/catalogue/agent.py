"""The noun of the catalogue: who leaves things behind, and its rows."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.sweep import Litter


@dataclass(frozen=True, slots=True)
class Agent:
    """A producer of litter: an agent, an orchestrator or a tool."""

    id: str
    name: str
    session_env: tuple[str, ...] = ()  # variables whose value names a live session
    registry: str | None = None  # a reader in leases/, by format
    keeps_rewrite: str | None = None  # versions measured to keep a hook's rewritten input: ">=2.1.300"
    rows: tuple[Litter, ...] = ()
    source: str = ""

"""The noun of the catalogue: who leaves things behind, and its rows."""

from __future__ import annotations

from ..lazy_dataclass import dataclass
from .sweep import Litter


@dataclass(frozen=True, slots=True)
class Agent:
    """A producer of litter: an agent, an orchestrator or a tool."""

    id: str
    name: str
    session_env: tuple[str, ...] = ()  # variables whose value names a live session
    registry: str | None = None  # a reader in leases/, by format
    rows: tuple[Litter, ...] = ()
    source: str = ""
    has_facts: bool = False  # its file says more than rows; only built-in files are heard (tools/facts.py)

"""One look at this machine with all that the catalogue, the leases and the user say. What every caller starts from."""

from __future__ import annotations

from collections.abc import Iterable

from ..catalogue.load import load
from ..catalogue.settings import load_settings
from ..leases import kept_processes, scratch
from ..model.processes import Orphan
from ..oskit.files import places
from .find import Inquiry, find


def look(
    roots: tuple[str, ...] = (),
    *,
    named: Iterable[int] = (),
    sessions: Iterable[str] = (),
    config_file: str | None = None,
) -> tuple[Orphan, ...]:
    """Every process that carries a session which is not alive, and those that are named."""
    return find(question(roots, named=named, sessions=sessions, config_file=config_file))


def question(
    roots: tuple[str, ...] = (),
    *,
    named: Iterable[int] = (),
    sessions: Iterable[str] = (),
    config_file: str | None = None,
) -> Inquiry:
    """What the catalogue, the leases and the keep list say."""
    found = tuple(places.temp_roots(roots))
    catalogue = load(overrides=load_settings(config_file).rows)
    return Inquiry(
        agents=catalogue.agents,
        leases=scratch.read_all(found),
        roots=found,
        home=places.home(),
        kept=kept_processes.read(),
        named=frozenset(named),
        sessions=frozenset(sessions),
    )

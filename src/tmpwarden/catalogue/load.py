"""The catalogue as a whole: built-in agents, drop-ins, overrides. What is broken is skipped and said so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from ..errors import UnknownAgent
from ..lazy_dataclass import dataclass, replace
from ..model.sweep import Agent, Litter
from ..model.terms import Kind, OwnerRule, Tier, Worth
from ..oskit import system
from ..oskit.files.opening import entry_names
from ..oskit.files.own_files import stranger
from ..text import nearest, shown
from . import compiled, matcher, policy
from .files import BUILT_IN, SYSTEM, default_dirs, mac_folders, read_text, xdg
from .overrides import Override, apply, misspelt

_OURS = "tmpwarden"


@dataclass(frozen=True, slots=True)
class Catalogue:
    agents: tuple[Agent, ...]
    warnings: tuple[str, ...] = ()  # sentences that name file, line, row and key
    misspelt: tuple[str, ...] = ()  # "file:line" of a user's word on a row that there is not

    @property
    def rows(self) -> tuple[Litter, ...]:
        return tuple(row for agent in self.agents for row in agent.rows)

    def agent(self, agent_id: str) -> Agent:
        for agent in self.agents:
            if agent.id == agent_id:
                return agent
        near = nearest(agent_id, (agent.id for agent in self.agents))
        raise UnknownAgent(shown(agent_id), hint=f"did you mean {near}? {UnknownAgent.hint}" if near else None)

    def row(self, key: str) -> Litter | None:
        return next((row for row in self.rows if row.key == key), None)

    def places(
        self,
        roots: Iterable[str],
        home: str | None = None,
        *,
        uid: int | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> tuple[matcher.Place, ...]:
        """Where to start looking. Without `home` its rows are off (and those of the XDG directories)."""
        bases = {"tmp": tuple(dict.fromkeys(roots))}
        if home is not None:
            bases |= {"home": (home,), **xdg(home, os.environ if environ is None else environ)}
            folders = bases["mac_folders"] = mac_folders(bases["tmp"])
            bases |= {"darwin_temp": _below(folders, "T"), "darwin_cache": _below(folders, "C")}
            bases["library"] = _below((home,), "Library")
        return matcher.places(list(filter(_is_looked_for, self.rows)), bases, os.geteuid() if uid is None else uid)

    def sharing(self, directories: Iterable[str]) -> Catalogue:
        """With a row for each directory right below a temp root that sessions share as their TMPDIR."""
        rows = tuple(_shared(path) for path in directories)
        grown = (replace(each, rows=(*each.rows, *rows)) if each.id == _OURS else each for each in self.agents)
        return replace(self, agents=tuple(grown)) if rows else self

    def of_projects(self, directories: Iterable[str]) -> tuple[matcher.Place, ...]:
        """Where agents litter a project. Nobody looks there unless a person names it."""
        return matcher.places(self.rows, {"project": tuple(directories)}, os.geteuid())

    def of_leases(self, roots: Iterable[str]) -> tuple[matcher.Place, ...]:
        """Where our own and leased things lie below roots that nobody called temp roots: no other row's business."""
        ours = [row for row in self.rows if row.agent == _OURS]
        return matcher.places(ours, {"tmp": tuple(roots)}, os.geteuid())


_of_every_system = False


@contextmanager
def rows_of_every_system() -> Iterator[None]:
    """A rehearsal proves all rows, wherever it runs."""
    global _of_every_system
    _of_every_system = True
    try:
        yield
    finally:
        _of_every_system = False


def _is_looked_for(row: Litter) -> bool:
    return not row.os or _of_every_system or system.customs.CATALOGUE in row.os


def _below(directories: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple(os.path.join(directory, name) for directory in directories)


def _shared(path: str) -> Litter:
    name = os.path.basename(path)
    return Litter(
        agent=_OURS,
        id=f"shared-{name}",
        place=f"{{tmp}}/{name}",
        name=".+",
        kind=Kind.ANY,
        tier=Tier.AUTO,
        worth=Worth.SOME,
        owner=OwnerRule.NONE,
        why="temp file of sessions that share a directory ([redirect] target)",
    )


def load(dirs: Iterable[str] | None = None, overrides: Mapping[str, Override] | None = None) -> Catalogue:
    """Built-in agents, then those in `dirs` (None: `default_dirs()`), then the user's word on single rows."""
    built_in, complaints = _built_in()
    agents, warnings, ours = dict(built_in), [*complaints], frozenset(built_in)
    for directory in default_dirs() if dirs is None else dirs:
        for name in _toml_names(directory):
            if directory != SYSTEM and name in agents and _rows_are_fixed():
                warnings.append(f"{os.path.join(directory, name)}:1: rows are locked by {policy.SYSTEM} (file skipped)")
                continue
            warnings += _drop_in(agents, name, os.path.join(directory, name))
    # Where two rows want the same name and neither beats the other, the first one wins: let that be the built-in one.
    names = sorted(agents, key=lambda name: (name not in ours, name))
    chosen = tuple(agents[name] for name in names)
    listed, unfit = apply(chosen, overrides or {})
    unknown = tuple(misspelt((row.key for agent in chosen for row in agent.rows), overrides or {}))
    catalogue = Catalogue(listed, (*warnings, *unfit), unknown)
    has_drop_ins = any(agent is not built_in.get(name) for name, agent in agents.items())
    return _without_circles(catalogue) if has_drop_ins else catalogue  # of the built-in rows a test says it


def _rows_are_fixed() -> bool:
    from .settings import load_settings

    return policy.fixes_rows(load_settings().locks)


@cache
def _built_in() -> tuple[Mapping[str, Agent], tuple[str, ...]]:
    """A built-in file that does not decode is a bug of ours; still, the others work.

    Once for a process: a child that has become another user cannot read an install below /root.
    """
    known = compiled.recall(BUILT_IN)
    if known is not None:
        return known, ()
    agents: dict[str, Agent] = {}
    warnings: list[str] = []
    for name in _toml_names(BUILT_IN):
        agent, complaints = read(os.path.join(BUILT_IN, name), builtin=True, trusted=True)
        warnings += complaints
        if agent is not None:
            agents[name] = agent
    if not warnings:
        compiled.remember(BUILT_IN, agents)
    return agents, tuple(warnings)


def read(path: str, *, builtin: bool = False, trusted: bool = False) -> tuple[Agent | None, tuple[str, ...]]:
    if not builtin and (whose := stranger(path)):
        return None, (f"{path}:1: {whose}",)
    try:
        text = read_text(path)
    except OSError as wrong:
        return None, (f"{path}:1: cannot be read: {wrong.strerror}",)
    except UnicodeDecodeError as wrong:
        return None, (f"{path}:{wrong.object[: wrong.start].count(10) + 1}: is not UTF-8",)
    except ValueError as wrong:
        return None, (f"{path}:1: {wrong}",)
    from .decode import decode  # with tomllib: most runs find everything compiled

    return decode(text, os.path.basename(path) if builtin else path, builtin=builtin, trusted=trusted)


def _drop_in(agents: dict[str, Agent], name: str, path: str) -> tuple[str, ...]:
    """Put one drop-in in place. `never` rows of what it masks stay in force."""
    agent, complaints = read(path)
    if complaints:
        return tuple(f"{sentence} (this file is skipped)" for sentence in complaints)
    masked = agents.get(name)
    protected = tuple(row for row in masked.rows if row.tier is Tier.NEVER) if masked else ()
    if agent is None:
        if masked:
            agents[name] = replace(masked, rows=protected)
        return ()
    for other_name, other in agents.items():
        if other.id == agent.id and other_name != name:
            return (f"{path}:1: key id: agent {agent.id!r} is in {other.source}; use that file's name to replace it",)
    guarded = {row.id for row in protected}
    weakened = sorted(row.id for row in agent.rows if row.id in guarded and row.tier is not Tier.NEVER)
    if weakened and masked and masked.id == agent.id:
        return (f"{path}:1: row {weakened[0]}, key tier: a never row cannot be weakened (this file is skipped)",)
    kept = tuple(row for row in protected if row.key not in {new.key for new in agent.rows})
    agents[name] = _heir(replace(agent, rows=(*agent.rows, *kept)), masked)
    if agent.has_facts:
        return (f"{path}:1: [hooks], [setup] and [temp] are heard from built-in files only; its rows are used",)
    return ()


def _heir(agent: Agent, masked: Agent | None) -> Agent:
    """A drop-in adds and masks litter. How a living session of an agent that we know is seen, it cannot take away."""
    if masked is None or masked.id != agent.id:
        return agent
    seen_by = tuple(dict.fromkeys((*masked.session_env, *agent.session_env)))
    return replace(agent, session_env=seen_by, registry=masked.registry or agent.registry)


def _without_circles(catalogue: Catalogue) -> Catalogue:
    """Rows that beat each other in a circle beat nobody."""
    from graphlib import CycleError

    try:
        matcher.in_order(catalogue.rows)
    except CycleError as circle:
        names = " beats ".join(reversed(circle.args[1]))
        agents = tuple(
            replace(agent, rows=tuple(replace(row, beats=()) for row in agent.rows)) for agent in catalogue.agents
        )
        warnings = (*catalogue.warnings, f"key beats: {names}; `beats` is ignored everywhere")
        return replace(catalogue, agents=agents, warnings=warnings)
    return catalogue


def _toml_names(directory: str) -> list[str]:
    return [name for name in entry_names(directory) if name.endswith(".toml") and not name.startswith(".")]

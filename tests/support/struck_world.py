"""A small world for strikes: what is alive and must never change, what is dead and goes whole or stays whole."""

import contextlib
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from support import users
from support.litter import claude_session, cwd_markers, snapshot
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.oskit.proc import procs
from tmpwarden.sweep.store.journal import open_intents, restorable

Shape = dict[str, tuple[int, int, int, bytes]]
SESSION = str(uuid.uuid4())  # the one that ends; of this test process alone
LIVE = {
    "opened": users.opens_a_file,
    "worked in": users.works_in_it,
    "mapped": users.maps_a_file,
    "named by a TMPDIR": users.has_its_tmpdir_in_it,
    "locked": users.locks_a_file,
}
LEASED = "leased to a living process"
UNASKABLE = ("worked in", "named by a TMPDIR", LEASED)  # who has it open says nothing about these
KEPT, DOOMED, PINNED, UNDECIDED = ".k", ".x", ".p", ".u"


@dataclass
class StruckWorld:
    """Live units stay over all trials; dead ones are planted anew for each."""

    world: Path
    live: dict[str, tuple[Path, Shape]] = field(default_factory=dict)
    dead: dict[str, tuple[Path, Shape]] = field(default_factory=dict)
    markers: list[Path] = field(default_factory=list)
    agent: "subprocess.Popen[bytes] | None" = None

    @property
    def root(self) -> Path:
        return self.world / "tmp"

    @property
    def state(self) -> Path:
        return self.world / "state" / "tmpwarden"

    @property
    def quarantine(self) -> Path:
        return self.root / f"tmpwarden-{os.geteuid()}" / "q"

    def plant(self, *, is_agent_alive: bool = False) -> None:
        """Two dead sessions, one of them in directories that nobody may write; a scratch; three markers."""
        self._forget()
        units = {"session": claude_session(self.root, files=2, session=SESSION)}
        units["read-only session"] = claude_session(self.root, files=1)
        (units["read-only session"] / "tasks").chmod(0o500)
        units["read-only session"].chmod(0o500)
        units["scratch"] = self._scratch(is_agent_alive)
        self.markers = cwd_markers(self.root, 3)
        self.dead = {name: (unit, snapshot(unit)) for name, unit in units.items()}

    def _scratch(self, is_agent_alive: bool) -> Path:
        self.agent = subprocess.Popen(["sleep", "600"], env={})
        start = procs.start_ticks(self.agent.pid)
        assert start is not None
        made = open_scratch(str(self.root), "claude", SESSION, pid=self.agent.pid, start=start)
        if not is_agent_alive:
            self.end_agent()
        return users.fill(Path(made.path))

    def end_agent(self) -> None:
        if self.agent is not None:
            self.agent.kill()
            self.agent.wait()
            self.agent = None

    def _forget(self) -> None:
        """No trial sees anything of the one before."""
        self.end_agent()
        shutil.rmtree(self.state, ignore_errors=True)
        for unit, _ in self.dead.values():
            Path(f"{unit}.lease").unlink(missing_ok=True)
            _remove(unit)
        living = {str(unit) for unit, _ in self.live.values()}
        for path in (*self.quarantine.glob("*"), *self.quarantine.parent.glob("????????*")):
            if str(path).removesuffix(".lease") not in living:
                _remove(path)
        _remove(self.world / "home" / ".claude")

    @property
    def is_alive(self) -> bool:
        return all(_is_as_it_was(how, unit, shape) for how, (unit, shape) in self.live.items())

    def assert_nothing_live_was_touched(self) -> None:
        for how, (unit, shape) in self.live.items():
            assert _is_as_it_was(how, unit, shape), f"a unit that is {how} was touched"

    def assert_nothing_live_was_lost(self) -> None:
        """Where no process can be read, what nobody has open may be put aside, whole, to come back (law 3)."""
        waiting = [snapshot(path) for path in self.stored(KEPT, UNDECIDED, PINNED)]
        for how, (unit, shape) in self.live.items():
            is_among = any(_is_same_unit(how, each, shape) for each in waiting)
            is_aside = how in UNASKABLE and not unit.exists() and is_among
            assert is_aside or _is_as_it_was(how, unit, shape), f"a unit that is {how} was touched"

    def assert_no_half_unit(self, *, keeps: bool, modes: bool) -> None:
        """Each dead unit is whole where it was or whole in quarantine; what was to be purged may be gone.

        `modes`: with the modes it had. A run that was killed may leave its root's mode to the next one.
        """
        waiting = [snapshot(path) for path in self.stored(KEPT, UNDECIDED, PINNED)]
        for name, (unit, shape) in self.dead.items():
            if os.path.lexists(unit):
                assert _same(snapshot(unit), shape, modes), f"half of the {name} is left in its place, or another mode"
            elif keeps:
                assert any(_same(each, shape, False) for each in waiting), f"the {name} is neither here nor there"

    def assert_settled(self) -> None:
        """After a run that nothing struck: nothing open, nothing half, nothing of the dead in its place."""
        assert open_intents(str(self.state)) == []
        assert [path.name for path in self.stored(DOOMED, UNDECIDED)] == []
        left = [path for path in (*(unit for unit, _ in self.dead.values()), *self.markers) if os.path.lexists(path)]
        assert left == []

    def assert_all_came_back(self) -> None:
        """After undo: what was taken and kept is as it was. Pinned things stay where a person was told."""
        pinned = {path.name for path in self.stored(PINNED)}
        for name, (unit, shape) in self.dead.items():
            if not pinned:
                assert os.path.lexists(unit), f"the {name} cannot come back"
            if os.path.lexists(unit):
                assert snapshot(unit) == shape, f"the {name} came back as another"

    def tokens(self) -> list[str]:
        return list(restorable(str(self.state)))

    def stored(self, *endings: str) -> list[Path]:
        return [path for path in self.quarantine.glob("*") if path.suffix in endings]


def _is_as_it_was(how: str, unit: Path, shape: Shape) -> bool:
    return unit.exists() and _is_same_unit(how, snapshot(unit), shape)


def _is_same_unit(how: str, found: Shape, wanted: Shape) -> bool:
    """Hooks date the root of a leased scratch anew once a day, so that the system's own cleaner passes it over."""
    if how == LEASED and "." in found and found["."][1] > wanted["."][1]:
        mode, _, size, content = found["."]
        found = {**found, ".": (mode, wanted["."][1], size, content)}
    return found == wanted


def _same(found: Shape, wanted: Shape, modes: bool) -> bool:
    if modes:
        return found == wanted
    return {name: fields[1:] for name, fields in found.items()} == {name: fields[1:] for name, fields in wanted.items()}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for folder in (path, *path.rglob("*/")):
            folder.chmod(0o700)
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


@contextlib.contextmanager
def struck_world(world: Path) -> Iterator[StruckWorld]:
    """With live units, each used by a process of its own in one way, and a scratch whose owner lives."""
    made = StruckWorld(world)
    (world / "config" / "tmpwarden").mkdir()
    (world / "config" / "tmpwarden" / "config.toml").write_text('[quarantine]\nkeep = "30d"\n')
    with contextlib.ExitStack() as stack:
        for how, use in LIVE.items():
            unit = users.fill(made.root / f"claude-{os.geteuid()}" / "-live" / str(uuid.uuid4()))
            stack.enter_context(use(unit))
            made.live[how] = (unit, snapshot(unit))
        start = procs.start_ticks(os.getpid())
        assert start is not None
        opened = open_scratch(str(made.root), "claude", str(uuid.uuid4()), pid=os.getpid(), start=start)
        scratch = users.fill(Path(opened.path))
        made.live[LEASED] = (scratch, snapshot(scratch))
        stack.callback(made.end_agent)
        yield made

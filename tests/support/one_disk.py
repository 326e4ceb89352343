"""One small file system for the home and /tmp alike, or one for each, full to the last byte or inode, for whoever runs
there."""

import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import traceback
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support import users
from support.litter import claude_session, cwd_markers, later, record_dead_session, snapshot
from support.mounts import fill_bytes, fill_inodes, mounted, tmpfs
from tmpwarden.cli.main import main

FILE_SYSTEMS = ("tmpfs", "ext4-1024", "ext4-4096", "xfs", "btrfs")
FILLS: dict[str, Callable[[Path], object]] = {"bytes": fill_bytes, "inodes": fill_inodes}
DISKS = {"one": ("disk",), "two": ("disk", "disk/tmp"), "only /tmp": ("disk/tmp",), "only home": ("disk",)}  # the full
RAN = ("never", "before")
# btrfs counts no inodes
FULL = [(kind, what) for kind in FILE_SYSTEMS for what in FILLS if (kind, what) != ("btrfs", "inodes")]
HOURS = 100
_SMALL = dict.fromkeys(("TEST_DIR", "TEST_DEV", "QA_CHECK_FS"), "1")  # so that mkfs.xfs makes one of less than 300 MB


def why_not(kind: str) -> str:
    """Why such a file system cannot be made here; "" where it can."""
    name = kind.partition("-")[0]
    if name != "tmpfs" and not shutil.which(f"mkfs.{name}"):
        return f"needs the program mkfs.{name}"
    return "" if name in _known() else f"this kernel has no {name}"


@functools.cache
def _known() -> frozenset[str]:
    """The file systems of this kernel, those in modules too."""
    for name in FILE_SYSTEMS:
        with contextlib.suppress(OSError):
            subprocess.run(["modprobe", "-q", name.partition("-")[0]], check=False, capture_output=True)
    return frozenset(Path("/proc/filesystems").read_text().split())


Shape = dict[str, tuple[int, int, int, bytes]]


@contextlib.contextmanager
def file_system(kind: str, point: Path, *, few_inodes: bool, image: Path | None = None) -> Iterator[Path]:
    if kind == "tmpfs":
        with tmpfs(point, size="8m", inodes=300 if few_inodes else 0, mode="755") as disk:
            yield disk
        return
    name, _, block = kind.partition("-")
    image = image or point.with_suffix(".image")
    size = {"ext4": 16, "btrfs": 128, "xfs": 24}[name]
    with image.open("wb") as file:
        file.truncate(size << 20)
    words = {
        "ext4": ["-q", "-F", "-m", "0", "-b", block, *(["-N", "256"] if few_inodes else [])],
        "btrfs": ["-q"],
        "xfs": ["-q", *(["-i", "maxpct=1"] if few_inodes else [])],
    }[name]
    subprocess.run([f"mkfs.{name}", *words, str(image)], check=True, capture_output=True, env={**os.environ, **_SMALL})
    try:
        with mounted(point, "-o", "loop", str(image)):
            yield point
    finally:
        image.unlink()  # hundreds of worlds would fill the disk of the machine


@dataclass
class OneDisk:
    """What lies on it. `dead` may go, `live` must be as it was, whatever happens."""

    disk: Path
    uid: int
    disks: str = "one"
    dead: list[Path] = field(default_factory=list)
    markers: list[Path] = field(default_factory=list)
    live: dict[Path, Shape] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.disk / "home"

    @property
    def root(self) -> Path:
        return self.disk / "tmp"

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "tmpwarden"

    @property
    def quarantine(self) -> Path:
        return self.root / f"tmpwarden-{self.uid}" / "q"

    def as_owner(self, do: Callable[[], Any]) -> Any:
        """What `do` returns, which must be plain data, in a child that is that user and has this home."""
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            status = 99
            try:
                os.close(here)
                self.become()
                answer = do()
                with open(there, "w") as pipe:
                    json.dump(answer, pipe)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(there)
        with open(here) as pipe:
            text = pipe.read()
        assert os.waitpid(child, 0)[1] == 0, text
        return json.loads(text)

    def become(self) -> None:
        os.environ.update(HOME=str(self.home), TMPDIR=str(self.root), TMPWARDEN_ROOTS=str(self.root))
        for name in ("STATE", "CONFIG", "DATA", "CACHE"):
            os.environ.pop(f"XDG_{name}_HOME", None)
        os.chdir("/")
        if os.geteuid() != self.uid:
            os.setgroups([])
            os.setgid(self.uid)
            os.setuid(self.uid)

    @property
    def home_stays_full(self) -> bool:
        """What fills it is the user's own, and what agents left lies on another disk."""
        return self.disks in ("two", "only home")

    def find_room_in_the_home(self) -> None:
        """The user removes what filled it."""
        for path in self.disk.glob("*filler*"):
            path.unlink()

    def prepare(self, quarantine: str, journal: str) -> None:
        """What an earlier run has left, or what became of it since."""
        if quarantine == "there":
            self.quarantine.mkdir(parents=True, mode=0o700, exist_ok=True)
            self.quarantine.parent.chmod(0o700)
        elif self.quarantine.parent.exists():
            shutil.rmtree(self.quarantine.parent)
        if quarantine == "squatted":
            self.quarantine.parent.write_text("not a directory")
        file = self.state / "journal.jsonl"
        if journal == "missing":
            file.unlink(missing_ok=True)
            return
        self.state.mkdir(parents=True, mode=0o700, exist_ok=True)
        line = '{"time":"2026-11-01T00:00:00Z","run":"00000000","t":"end"}\n'
        with file.open("a") as lines:
            lines.write(line if journal == "whole" else line + line[:30])

    def tmpwarden(self, *argv: str) -> tuple[int, Any]:
        """(exit status, the answer) of a command, much later than everything that lies here."""
        status, said = self.as_owner(lambda: command(*argv))
        return status, json.loads(said) if said else None

    def can_write(self) -> bool:
        def write() -> bool:
            try:
                for place in (self.root, *(() if self.home_stays_full else (self.home,))):
                    (place / "a-file").write_text("and what stands in it\n" * 10)
                    (place / "a-directory").mkdir()
            except OSError:
                return False
            return True

        return bool(self.as_owner(write))

    def told(self) -> list[dict[str, Any]]:
        status, answer = self.tmpwarden("log", "-n", "1000", "--json")
        assert status == 0, answer
        return list(answer["data"]["entries"])

    def carried(self) -> list[str]:
        """What a run without room has left in the middle."""
        places = [self.home, self.home / ".local", self.home / ".local" / "state", self.state]
        places += self.root.glob(f"*-{self.uid}")
        return [name for place in places if place.is_dir() for name in os.listdir(place) if name.startswith(".tmpw")]

    def went(self) -> list[Path]:
        return [path for path in (*self.dead, *self.markers) if not os.path.lexists(path)]

    def assert_nothing_live_was_touched(self) -> None:
        """An ordinary user sees nothing of what root has open: that may wait in quarantine, whole, to come back."""
        waiting = [snapshot(path) for path in self.quarantine.glob("*.k")] if self.uid else []
        for path, shape in self.live.items():
            assert (path.exists() and snapshot(path) == shape) or (not path.exists() and shape in waiting), path

    def assert_all_that_went_is_told(self) -> None:
        told = {entry["path"] for entry in self.told()}
        for path in self.went():
            assert str(path) in told or str(path.parent) in told, path


def command(*argv: str) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(list(argv), now_ns=later(HOURS))
    return status, out.getvalue()


@contextlib.contextmanager
def one_disk(
    base: Path,
    kind: str,
    what: str,
    uid: int,
    *beside: str,
    sessions: int = 4,
    quarantine: str = "absent",
    journal: str = "missing",
    disks: str = "one",
    ran: str = "never",
) -> Iterator[OneDisk]:
    """`beside` the dead sessions: markers, live, git, big. `quarantine`: there, or squatted by a file. `journal`: whole
    or torn. `disks`: one of DISKS. `ran`: whether a clean ended here while there was room; only then there is a
    reserve."""
    if why := why_not(kind):
        pytest.skip(why)
    with contextlib.ExitStack() as stack:
        point = base / f"disk{len(os.listdir(base))}"  # the last one may not be quite gone
        disk = stack.enter_context(file_system(kind, point, few_inodes=what == "inodes"))
        made = OneDisk(disk, uid, disks)
        if disks != "one":
            image = base / f"{point.name}-tmp"
            stack.enter_context(file_system(kind, made.root, few_inodes=what == "inodes", image=image))
        for path, mode in ((made.home, 0o700), (made.root, 0o1777)):
            path.mkdir(exist_ok=True)
            path.chmod(mode)
        if uid:
            os.chown(made.home, uid, uid)

        if ran == "before":
            assert made.tmpwarden("clean", "--yes", "--json")[0] == 0

        def plant() -> list[str]:
            made.dead += [dead_session(made.root) for _ in range(sessions)]
            made.markers += cwd_markers(made.root, 20) if "markers" in beside else []
            return [str(path) for path in (*made.dead, *made.markers)]

        planted = [Path(path) for path in made.as_owner(plant)]
        made.dead, made.markers = planted[:sessions], planted[sessions:]
        if "git" in beside:
            unit = Path(made.as_owner(lambda: str(with_git_work(made.root))))
            made.live[unit] = snapshot(unit)
        if "live" in beside:
            place = made.root / f"claude-{uid}" / "-live" / str(uuid.uuid4())
            unit = Path(made.as_owner(lambda: str(users.fill(place))))
            stack.enter_context(users.opens_a_file(unit))
            made.live[unit] = snapshot(unit)
        if "big" in beside:
            (made.home / "results.csv").write_bytes(b"7" * (1 << 20))
            made.live[made.home / "results.csv"] = snapshot(made.home / "results.csv")
        made.as_owner(lambda: made.prepare(quarantine, journal))
        for full in DISKS[disks]:
            FILLS[what](disk.parent / full.replace("disk", disk.name))
        yield made


def dead_session(root: Path) -> Path:
    """As Claude Code leaves it: outputs of its tasks, and a scratchpad that is empty."""
    unit = claude_session(root, slug="-home-me-shop", files=12)
    for number in range(6):
        (unit / "tasks" / f"c{number:08x}.output").write_bytes(b"a line of what it said\n" * 3000)
    return unit


def with_git_work(root: Path) -> Path:
    """A dead session in whose directory lies a commit that exists nowhere else."""
    session = str(uuid.uuid4())
    unit = root / f"claude-{os.geteuid()}" / "-home-me-shop" / session
    record_dead_session(session)
    (unit / "tasks" / "try").mkdir(parents=True)
    git = ["git", "-c", "user.name=me", "-c", "user.email=me@example.com", "-C", str(unit / "tasks" / "try")]
    subprocess.run([*git, "init", "-q"], check=True)
    (unit / "tasks" / "try" / "idea.py").write_text("answer = 42\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "idea"], check=True)
    return unit

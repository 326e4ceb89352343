"""Simulated days of coding agents: sessions that begin, write, delete, end or are killed. The processes are real."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from tmpwarden.leases import lease_files
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.oskit.proc.procs import start_ticks

HOUR_NS = 3600 * 10**9
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_MOST_AT_ONCE = 3
_LONG_LIVED_HOURS = 150  # one session that nobody closes for six days
_WORKING_HOURS = range(8, 21)
_DOMINANT_HOURS = 6
_WANTED_HOURS = 48  # what a command left in a directory that all sessions share, and nobody opened since


class Clock:
    """Real time plus a jump per step. ctime cannot be set, so what the kernel stamped is translated."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, int]] = [(0, 0)]

    def forward(self, nanoseconds: int) -> None:
        self._steps.append((time.time_ns(), self._steps[-1][1] + nanoseconds))

    def now_ns(self) -> int:
        return time.time_ns() + self._steps[-1][1]

    def simulated_ns(self, real_ns: int) -> int:
        return real_ns + next(jump for since, jump in reversed(self._steps) if since <= real_ns)


@dataclass(slots=True)
class Session:
    """One agent: a process, its record, and the files it may still want."""

    name: str
    process: subprocess.Popen[bytes]
    record: Path
    outputs: Path
    temp: Path
    hours_left: int
    weight: int
    is_forgotten: bool = False  # killed, and its agent's next start drops its record: nobody can say that it is dead
    files: dict[Path, int] = field(default_factory=dict)  # and the hour in which it was written


@dataclass(slots=True)
class Life:
    """What happens on the machine, the same for every seed, whoever clears up."""

    root: Path
    home: Path
    clock: Clock
    bytes_per_day: int
    file_bytes: int
    has_hooks: bool = False
    dominant_bytes: int = 0  # what one session writes in its first hour, before it is killed and forgotten
    dominant: Session | None = None
    dice: random.Random = field(default_factory=lambda: random.Random(957))
    live: list[Session] = field(default_factory=list)
    number: int = 0
    failed_writes: int = 0
    lost: list[str] = field(default_factory=list)

    def hour(self, number: int, step_hours: int = 1) -> list[Session]:
        """One simulated hour; the sessions that ended in it as they should."""
        self.number = number
        if number == 0:
            self._begin(_LONG_LIVED_HOURS, weight=1)
        if self.dominant_bytes and self.dominant is None and number >= _WORKING_HOURS[0]:
            self.dominant = self._begin(_DOMINANT_HOURS, weight=0)
            self.dominant.is_forgotten = True
            self._work(self.dominant, self.dominant_bytes)
        is_daytime = number % 24 in _WORKING_HOURS
        while is_daytime and len(self.live) < _MOST_AT_ONCE:
            self._begin(self.dice.randint(1, 9), weight=8)
        if is_daytime:
            steps_by_day = sum(hour in _WORKING_HOURS for hour in range(0, 24, step_hours))
            whole = self.bytes_per_day // steps_by_day // sum(session.weight for session in self.live)
            for session in self.live:
                self._work(session, whole * session.weight)
        return self._end_some(step_hours)

    @property
    def is_working(self) -> bool:
        """Whether anybody works: an open session in which nothing happens fires no hook."""
        return bool(self.live) and self.number % 24 in _WORKING_HOURS

    def check(self) -> None:
        """Nothing that a live session has written and not deleted itself may be gone, at any step."""
        for session in self.live:
            shared = session.temp if not self.has_hooks else None
            for path, hour in list(session.files.items()):
                if path.parent == shared and self.number - hour > _WANTED_HOURS:
                    del session.files[path]
                elif not path.exists():
                    self.lost.append(str(path))

    def close(self) -> None:
        for session in self.live:
            session.process.kill()
            session.process.wait()

    def _begin(self, hours: int, *, weight: int) -> Session:
        name = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        process = subprocess.Popen(["sleep", "86400"], cwd="/", env={"CLAUDE_CODE_SESSION_ID": name, "PATH": "/bin"})
        start = start_ticks(process.pid)
        record = self.home / ".claude" / "sessions" / f"{process.pid}.json"
        record.parent.mkdir(parents=True, exist_ok=True)
        started_ms = self.clock.now_ns() // 10**6
        fields = {"pid": process.pid, "sessionId": name, "procStart": str(start), "startedAt": started_ms}
        record.write_text(json.dumps(fields))
        agents = self.root / f"claude-{os.geteuid()}"
        temp = agents
        try:
            outputs = agents / "-home-dev-shop" / name / "tasks"
            outputs.mkdir(parents=True, mode=0o700)
            if self.has_hooks:
                scratch = open_scratch(str(self.root), "claude", name, pid=process.pid)
                scratch.lease.created = self.clock.now_ns() / 1e9
                lease_files.write(scratch.lease)
                temp = Path(scratch.path)
        except OSError as error:
            self._count(error)
        session = Session(name, process, record, outputs, temp, hours, weight)
        self.live.append(session)
        return session

    def _work(self, session: Session, amount: int) -> None:
        """Outputs of commands, and what the commands themselves put into their temp directory."""
        for number in range(max(1, amount // self.file_bytes)):
            into_temp = number % 3 == 0
            name = f"tmp{self.dice.getrandbits(40):010x}" if into_temp else f"b{self.dice.getrandbits(32):08x}.output"
            path = (session.temp if into_temp else session.outputs) / name
            if self._write(path, int(self.dice.uniform(0.5, 1.5) * self.file_bytes)):
                session.files[path] = self.number
        for path in self.dice.sample(list(session.files), len(session.files) // 50):  # some they delete themselves
            path.unlink(missing_ok=True)
            del session.files[path]

    def _write(self, path: Path, size: int) -> bool:
        try:
            path.write_bytes(bytes(size))
            now_ns = self.clock.now_ns()
            os.utime(path, ns=(now_ns, now_ns))
            os.utime(path.parent, ns=(now_ns, now_ns))
        except OSError as error:
            self._count(error)
            return False
        return True

    def _end_some(self, hours: int) -> list[Session]:
        """Two of three say goodbye and take their record with them, the third is killed."""
        ended = []
        for session in list(self.live):
            session.hours_left -= hours
            if session.hours_left > 0:
                continue
            self.live.remove(session)
            session.process.kill()
            session.process.wait()
            if session.is_forgotten:
                session.record.unlink()
            elif self.dice.random() < 0.67:
                session.record.unlink(missing_ok=True)
                ended.append(session)
        return ended

    def _count(self, error: OSError) -> None:
        if error.errno not in (*NO_ROOM, errno.ENOENT):  # the second: its directory could not be made
            raise error
        self.failed_writes += 1

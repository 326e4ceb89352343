"""Watch files that grow; stop or end who writes them where the user set a limit, and remember whom we stopped."""

from __future__ import annotations

import signal
import time

from ..catalogue.settings import Settings
from ..lazy_dataclass import dataclass, field
from ..model.processes import Breach, Ended, Fate, GrowingFile, Limits, Orphan, Writer
from ..oskit.files import places, space, state_file
from ..oskit.proc import namespaces, procs
from ..oskit.proc.grip import take_hold
from ..processes import end as ending
from ..processes import runaway
from ..processes.end import Stopped, remember_stopped, stopped
from ..processes.find import observe, question
from ..sweep.store.journal import Journal

KIND = "brake"  # of a journal line
_MOST_REMEMBERED = 256
_BETWEEN_S = 1.0  # two samples of one look
_STEP, _LEAST_STEP = 1 << 30, 1 << 20


@dataclass(frozen=True, slots=True)
class BrakeLook:
    growing: tuple[GrowingFile, ...]
    breaches: tuple[Breach, ...]


@dataclass(slots=True)
class Watch:
    """Looks again and again; each look is compared with the one before."""

    limits: Limits
    roots: tuple[str, ...] = ()
    config_file: str | None = None
    least_bytes: int = runaway.WORTH_A_LOOK
    before: dict[tuple[int, int], int] = field(default_factory=dict)
    looked_s: float = 0.0

    def look(self) -> BrakeLook:
        inquiry = question(self.roots, config_file=self.config_file)
        now_s = time.time()
        files = runaway.sample(observe(inquiry), inquiry.roots, least_bytes=self.least_bytes)
        spaces = [space.space_of(root) for root in inquiry.roots]
        elapsed_s = now_s - self.looked_s if self.looked_s else 0.0
        growing = runaway.growth(self.before, files.values(), elapsed_s, spaces)
        self.before = {key: file.allocated_bytes for key, file in files.items()}
        self.looked_s = now_s
        return BrakeLook(growing, runaway.breaches(growing, self.limits, spaces))


def step_bytes(settings: Settings) -> int:
    """How much room a root may lose before a hook looks at what grows."""
    limits = (settings.brake_max_file_bytes, settings.brake_max_session_bytes)
    return max(_LEAST_STEP, min((_STEP, *(each for each in limits if each is not None))))


def look_since_last_time(settings: Settings, *, may_act: bool, closely: bool = False) -> list[str]:
    """One look for a timer or a hook, compared with the one that the last of them wrote down: what runs away, and what
    was done about it, in sentences. Most machines have nothing to tell, and then nothing is written.

    A file that the last look did not know is looked at again a second later, so that a limit which it is over already
    does not have to wait an hour; `closely`: every file is, because something fills the root right now."""
    file = state_file.path("growth.json")
    watch = Watch(limits_of(settings))
    watch.least_bytes = min(watch.least_bytes, watch.limits.max_file_bytes or watch.least_bytes)
    watch.looked_s, watch.before = _last_look(file)
    known = frozenset(watch.before)
    seen = watch.look()
    if closely or (watch.limits.action != "warn" and watch.before.keys() - known):
        time.sleep(_BETWEEN_S)
        seen = watch.look()
    if watch.before:
        sizes = [[*key, bytes_] for key, bytes_ in list(watch.before.items())[:_MOST_REMEMBERED]]
        state_file.write(file, {"at": watch.looked_s, "files": sizes})
    sentences = [runaway.sentence(one) for one in seen.growing if runaway.is_runaway(one)]
    if may_act and watch.limits.action != "warn":
        for breach in seen.breaches:
            sentences += [
                f"{outcome} {writer.pid}: over {breach.limit}" for writer, outcome in apply(breach, watch.limits.action)
            ]
    return sentences


def _last_look(file: str) -> tuple[float, dict[tuple[int, int], int]]:
    record = state_file.read(file)
    try:
        return float(record["at"]), {(int(device), int(inode)): int(size) for device, inode, size in record["files"]}
    except (ValueError, TypeError, KeyError):
        return 0.0, {}


def limits_of(settings: Settings) -> Limits:
    return Limits(
        settings.brake_max_file_bytes,
        settings.brake_max_session_bytes,
        settings.brake_min_free_percent,
        settings.brake_action,
    )


def apply(breach: Breach, action: str) -> list[tuple[Writer, str]]:
    """What became of each writer: "stopped", "ended", "killed", "gone". Only those bound to a session come here; one
    that waits already is not told again."""
    results = []
    paused = {(one.pid, one.start) for one in stopped()}
    for writer in breach.writers:
        if action == "stop":
            if (writer.pid, writer.start) in paused:
                continue
            outcome = "stopped" if stop(writer.pid, writer.start, writer.command, breach.growing.file.path) else "gone"
        else:
            outcome = end(writer.pid, writer.start, writer.command)
        results.append((writer, outcome))
    return results


def stop(pid: int, start: int, command: str, path: str = "") -> bool:
    """SIGSTOP, and remember it. False if it has ended."""
    paused = stopped()
    if any((one.pid, one.start) == (pid, start) for one in paused):
        return True
    grip = take_hold(pid, start)
    if grip is None:
        return False
    with grip:
        if not grip.send(signal.SIGSTOP):
            return False
    _note(pid=pid, outcome="stopped", command=command[:200], path=path)
    remember_stopped([*paused, Stopped(pid, start, namespaces.boot_id(), command[:200], path)])
    return True


def resume(pid: int) -> bool:
    """Let a stopped process go on; False if there is no process of that number."""
    start = procs.start_ticks(pid)
    grip = take_hold(pid, start) if start is not None else None
    if grip is None:
        return False
    with grip:
        went_on = grip.send(signal.SIGCONT)
    _note(pid=pid, outcome="resumed")
    remember_stopped([one for one in stopped() if one.pid != pid])
    return went_on


def end(pid: int, start: int, command: str) -> str:
    endings: list[Ended] = []
    one = Orphan(
        pid=pid,
        start=start,
        command=command,
        age_s=0.0,
        cpu_s=0.0,
        memory_bytes=0,
        ports=(),
        held_bytes=0,
        row=None,
        binding=None,
        fate=Fate.KEEP,
        reason="it filled the disk",
    )
    with_grip = take_hold(pid, start)
    if with_grip is not None:
        with with_grip:
            with_grip.send(signal.SIGCONT)  # a stopped process hears TERM only when it goes on
    ending.end([one], tell=endings.append)
    _note(pid=pid, outcome=endings[0].outcome, command=command[:200])
    return endings[0].outcome


def _note(**fields: object) -> None:
    journal = Journal(places.state_dir())
    if journal.open():
        journal.note(KIND, **fields)

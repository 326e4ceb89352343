"""A process that fills its disk is warned of before half, stopped before full, punched, and goes on.

The small form waits at a gate, so that a slow machine changes nothing; the long one runs at 200 MB/s and waits for
nobody.
"""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from processes.leftovers import SESSION, carrying, program
from processes.test_punch import asked
from support.command import data, tmpwarden
from support.mounts import tmpfs
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.oskit.system.linux.reading import read_whole

MB = 1 << 20
# Writes megabytes: `rate` a second, and says at once who it is. With a rate of 0: as fast as it can up to 25 %, says
# then who it is, is slow until the gate is there, and past 62 % for good.
FILLS = """
import os, sys, time
path, whole, rate, gate, told = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
path = path.replace("@", os.environ.get("TMPDIR", ""))
out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
print(os.getpid(), flush=True)
block, start, written, is_told = os.urandom(1 << 20), time.monotonic(), 0, False
while True:
    if not is_told and (rate or written > 0.25 * whole):
        is_told = True
        with open(told + ".new", "w") as file:
            file.write(f"{os.getpid()} {path}")
        os.rename(told + ".new", told)
    written += os.write(out, block) >> 20
    if rate:
        time.sleep(max(0.0, start + written / rate - time.monotonic()))
    elif written > 0.62 * whole or (is_told and not os.path.exists(gate)):
        time.sleep(0.2)
"""
UNDER_RUN = """
import os, sys
print(os.getpid(), flush=True)
run = [{python!r}, "-m", "tmpwarden", "run", "--", {python!r}, {script!r}, "@/out.log", *{words!r}]
os.execv({python!r}, run)
"""


@dataclass(frozen=True)
class Form:
    megabytes: int
    rate: int
    min_free: str


SMALL, LONG = Form(256, 0, "40%"), Form(2048, 200, "10%")


@contextlib.contextmanager
def filling(form: Form, under: str, work: Path, root: Path) -> Iterator[tuple[int, Path]]:
    """(pid, file) of a process that fills `root`."""
    script, told = work / "fill.py", work / "told"
    words = [str(form.megabytes), str(form.rate), str(work / "gate"), str(told)]
    if under == "run":
        script.write_text(FILLS)
        env = {**os.environ, "TMPDIR": str(work)}
        started = program(
            work, ["python3", "run.py"], env, UNDER_RUN.format(python=sys.executable, script=str(script), words=words)
        )
    else:
        started = program(work, ["node", "fill.py", str(root / "out.log"), *words], carrying(), FILLS)
    with started as first:
        while not told.exists():
            assert first.is_alive(for_s=0.05)
        pid, _, path = told.read_text().partition(" ")
        yield int(pid), Path(path)


@contextlib.contextmanager
def braking(config: Path) -> Iterator["subprocess.Popen[str]"]:
    argv = [sys.executable, "-m", "tmpwarden", "brake", "--for", "60s", "--config", str(config)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as brake:
        try:
            yield brake
        finally:
            brake.kill()


def used_share(root: Path) -> float:
    space = os.statvfs(root)
    return 1 - space.f_bfree / space.f_blocks


def is_stopped(pid: int) -> bool:
    line = read_whole(f"/proc/{pid}/stat") or b""
    return line[line.rfind(b")") + 2 : line.rfind(b")") + 3] == b"T"


def line_with(word: str, brake: "subprocess.Popen[str]") -> str:
    assert brake.stderr is not None
    said = []
    for line in brake.stderr:
        said.append(line)
        if word in line:
            return line
    raise AssertionError(f"the brake ended and never said {word!r}: {said}")


@pytest.mark.parametrize("under", ["agent", "run"])
@pytest.mark.parametrize("form", [SMALL, pytest.param(LONG, marks=pytest.mark.long)], ids=["small", "long"])
def test_it_is_warned_of_before_half_stopped_before_full_punched_and_goes_on(
    own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form, under: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    config = tmp_path / "c.toml"
    config.write_text(f'[brake]\nmin_free = "{form.min_free}"\naction = "stop"\n')
    with tmpfs(own_world / "disk", f"{form.megabytes}m") as root:
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(root))
        open_scratch(str(root), "claude", SESSION, pid=os.getpid())
        theirs = Path(open_scratch(str(root), "codex", "another-session", pid=os.getpid()).path) / "work.bin"
        theirs.write_bytes(os.urandom(MB))
        before = hashlib.sha256(theirs.read_bytes()).digest()
        with contextlib.ExitStack() as stack:
            early = stack.enter_context(braking(config)) if form.rate else None
            pid, path = stack.enter_context(filling(form, under, tmp_path, root))
            brake = early or stack.enter_context(braking(config))  # which saw nothing of the first burst
            assert f"fills {root} in about" in line_with("warning", brake)
            assert used_share(root) < 0.5
            (tmp_path / "gate").touch()
            assert "over min_free" in line_with(f"stopped {pid}", brake)
            brake.send_signal(signal.SIGINT)
            while not is_stopped(pid):  # a signal arrives when its process is next on a processor
                os.sched_yield()
            assert used_share(root) < 1
            [told] = [one for one in data("doctor", "--no-probe")["diagnoses"] if one["check"] == "runaway"]
            assert told["remedy"] == f"tmpwarden brake --resume {pid}"
            end = path.read_bytes()[-MB:]
            status, envelope = asked(path)
            assert status == 0, envelope
            assert envelope["data"]["freed_bytes"] > form.megabytes * MB // 4
            size = path.stat().st_size
            assert path.read_bytes()[-MB:] == end
            assert tmpwarden(*told["remedy"].split()[1:]).returncode == 0
            while path.stat().st_size == size:
                assert not is_stopped(pid)
        assert hashlib.sha256(theirs.read_bytes()).digest() == before

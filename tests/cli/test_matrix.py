"""Every command at every width, without colour, in other locales, interrupted, and where nothing can be written."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import planted
from support.examples import share
from support.mounts import mounted, needs_root, tmpfs
from tmpwarden.cli.main import main
from tmpwarden.cli.paint import _words as words_of

INVOCATIONS = [
    "",
    "status",
    "scan",
    "scan --each",
    "scan --all",
    "scan --full",
    "scan --min-age 2d",
    "clean --dry-run",
    "clean",
    "clean --help",
    "clean /nowhere",
    "why ROOT",
    "why ROOT/bench-data",
    "doctor",
    "doctor -v",
    "log",
    "log --observed",
    "undo",
    "keep",
    "agents",
    "agents show claude",
    "adopt",
    "config",
    "config set pressure.high 200%",
    "guard",
    "guard packs",
    "guard packs show git",
    "guard log",
    "guard stats",
    "guard verify",
    "guard check ls",
    "install",
    "uninstall",
    "worktrees",
    "rescue list",
    "orphans",
    "lease",
    "help",
    "help orphans end",
    "version",
    "sttus",
    "clean --yes",
    "setup",
    "report",
    "brake --for 1s",
    "run -- true",
]
FULL_SCREEN = "ui"  # draws where it wants: nothing to be folded
LAID_OUT_ELSEWHERE = (
    "config init --print",
    "metrics",
    "shellenv bash",
    "completion bash",
    "setup --dry-run",
    "bugreport",
    "adopt orch-* --dry-run",
)
PLACES = ("a read-only home", "a full disk")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PROGRESS = re.compile(r"\r(?:Checking|Measuring|Removing|Looking)[^\r\n]*|\r *\r")
_EXITS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130}
_COPIED = re.compile(r" *(?:(?:run: )?(?:tmpwarden|sudo|kill|chmod|export|unset) |hint: |[0-9a-f]{8} )")


def _plant(root: Path) -> None:
    """What all of them look at; a clean may have taken it."""
    if not (root / f"claude-{os.geteuid()}" / "-work-shop").exists():
        planted.session(root, 5 << 10, name="3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11")
    planted.markers(root, 12)


@pytest.fixture
def root(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = own_world / "tmp"
    _plant(root)
    (root / "bench-data").mkdir()
    (own_world / "home" / ".claude").mkdir()
    (own_world / "home" / ".codex").mkdir()
    for name in ("NO_COLOR", "COLUMNS", "LANG", "LC_ALL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.chdir(own_world)
    return root


def argv_of(line: str, root: Path) -> list[str]:
    return [word.replace("ROOT", str(root)) for word in line.split()]


def seen(
    argv: list[str], root: Path, *, columns: int, prepare: Callable[[], None] = lambda: None, kill_after_s: float = 0
) -> tuple[int, str]:
    """(exit status, what a terminal of that width shows). A fork, so that 47 of them take seconds and not minutes."""
    _plant(root)
    child, master = pty.fork()
    if child == 0:
        status = 70
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            for name, fd, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
                setattr(sys, name, open(fd, mode, 1, errors="backslashreplace", closefd=False))  # noqa: SIM115
            signal.signal(signal.SIGINT, signal.default_int_handler)
            prepare()
            status = main(argv, now_ns=lambda: time.time_ns() + planted.DAYS * 10**9)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt:
            status = 130  # before or after the command itself
        except BaseException:
            with contextlib.suppress(Exception):
                traceback.print_exc(file=sys.stderr)
        finally:
            os._exit(status)
    shown, answered, end = b"", False, time.monotonic() + 60
    kill_at = time.monotonic() + kill_after_s if kill_after_s else None
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 0.01 if kill_at else 1)
        if kill_at and time.monotonic() >= kill_at:
            kill_at = None
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGINT)
        if not ready:
            continue
        try:
            more = os.read(master, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
        if not answered and b"[y/N" in shown:
            os.write(master, b"n\n")
            answered = True
        elif not answered and b"shows all keys" in shown:
            os.write(master, b"q")
            answered = True
    os.close(master)
    _, ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended), shown.decode(errors="replace").replace("\r\n", "\n")


def lines_of(shown: str, world: Path) -> list[str]:
    plain = _PROGRESS.sub("", _ESCAPES.sub("", shown))
    return plain.replace(str(world), "/t").split("\n")


def too_wide(shown: str, world: Path, columns: int) -> list[str]:
    """Lines that should have been folded: what is copied (a path, a command) stays whole."""
    found = []
    for line in lines_of(shown, world):
        if len(line) <= columns or _COPIED.match(line) or line.startswith(("Usage: ", "  tmpwarden ")):
            continue
        is_long_option = line.startswith("  -") and line.strip().split(" ")[0].startswith("--") and "|" in line
        if len(list(words_of(line.strip()))) > 1 and not is_long_option:
            found.append(line)
    return found


def broken(shown: str, wide: str, world: Path) -> set[str]:
    """Words of the narrow form that the wide one does not have."""

    def words(text: str) -> set[str]:
        text = re.sub(
            r"(?m)^sessions .*(?:\n +.*)*", "", "\n".join(lines_of(text, world))
        )  # of the whole machine: they vary
        return {re.sub(r"\d+", "0", word) for word in text.split()}

    return {word for word in words(shown) - words(wide) if not set(word) <= set("[#.]0%")}


def test_nothing_is_wider_than_the_terminal_and_no_word_is_broken(root: Path, own_world: Path) -> None:
    wrong: dict[str, object] = {}
    for line in INVOCATIONS:
        argv = argv_of(line, root)
        whole = seen(argv, root, columns=240)[1]
        for columns in (80, 60, 40):
            status, shown = seen(argv, root, columns=columns)
            assert status in _EXITS and "Traceback" not in shown, (line, shown)
            if wide := too_wide(shown, own_world, columns):
                wrong[f"{line} at {columns}"] = wide
            pieces = broken(shown, whole, own_world)
            if pieces:  # what other processes do may change what is told between the two looks: a broken word stays
                pieces &= broken(seen(argv, root, columns=columns)[1], seen(argv, root, columns=240)[1], own_world)
            if pieces:
                wrong[f"{line} at {columns} (words)"] = pieces
    assert wrong == {}, "\n".join(f"{line}: {what}" for line, what in wrong.items())


def _variants() -> Iterator[tuple[str, Callable[[], None]]]:
    def env(**values: str) -> Callable[[], None]:
        return lambda: os.environ.update(values)

    def closed() -> None:
        os.close(1)
        sys.stdout = None  # type: ignore[assignment]

    def full() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    def piped() -> None:
        read, write = os.pipe()
        os.close(read)
        os.dup2(write, 1)

    yield "NO_COLOR", env(NO_COLOR="1")
    yield "LANG=C", env(LANG="C", LC_ALL="C")
    yield "dumb", env(TERM="dumb")
    yield "closed stdout", closed
    yield "/dev/full", full
    yield "a pipe that nobody reads", piped


VARIANTS = dict(_variants())


@pytest.mark.parametrize("name", VARIANTS)
def test_no_command_breaks_where_stdout_is_odd(root: Path, name: str) -> None:
    for line in share([*INVOCATIONS, *LAID_OUT_ELSEWHERE, FULL_SCREEN], list(VARIANTS).index(name)):
        status, shown = seen(argv_of(line, root), root, columns=80, prepare=VARIANTS[name])
        assert status in _EXITS, (line, status, shown)
        assert "Traceback" not in shown, (line, shown)
        if name in ("NO_COLOR", "dumb") and line != FULL_SCREEN:
            assert not re.search(r"\x1b\[[0-9;]*m", shown), (line, shown)


@pytest.mark.parametrize("after_ms", [10, 30, 100, 200])
def test_ctrl_c_leaves_one_sentence_and_no_traceback(root: Path, after_ms: int) -> None:
    for line in share([*INVOCATIONS, FULL_SCREEN], after_ms // 10):
        status, shown = seen(argv_of(line, root), root, columns=80, kill_after_s=after_ms / 1000)
        ends_as_its_command = line.startswith("run ") and status == -signal.SIGINT
        assert status in _EXITS or ends_as_its_command, (line, status, shown)
        assert "Traceback" not in shown, (line, shown)


@needs_root
@pytest.mark.parametrize(("place", "turn"), [(PLACES[turn % 2], turn) for turn in range(4)])
def test_where_nothing_can_be_written_each_command_says_so_in_a_sentence(
    root: Path, own_world: Path, tmp_path: Path, place: str, turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as stack:
        if place == "a full disk":
            home = stack.enter_context(tmpfs(tmp_path / "small", "1m"))
            (home / "state").mkdir(mode=0o700)
            with contextlib.suppress(OSError), (home / "filler").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        else:
            home = stack.enter_context(mounted(tmp_path / "small", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs"))
        monkeypatch.setenv("HOME", str(home))
        for name in ("STATE", "CONFIG", "DATA", "CACHE"):
            monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        for line in share([*INVOCATIONS, *LAID_OUT_ELSEWHERE, FULL_SCREEN], turn):
            status, shown = seen(argv_of(line, root), root, columns=80)
            assert status in _EXITS, (line, status, shown)
            assert "Traceback" not in shown, (line, shown)
            assert "internal error" not in shown, (line, shown)

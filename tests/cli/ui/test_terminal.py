"""The view in a real terminal, tmux: keys, a resize, and its sudden death in the middle of a clean."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import planted
from support.command import LATER, data

pytest.importorskip("textual", reason="needs the program textual: make dev installs it")
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs the program tmux")

_LIMIT_S = 120


class Terminal:
    """A tmux server of its own, 80 columns by 24 lines."""

    def __init__(self, socket: Path) -> None:
        self.socket = str(socket)

    def __call__(self, *words: str) -> str:
        argv = ["tmux", "-S", self.socket, "-f", "/dev/null", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout

    def start(self, *words: str) -> None:
        command = shlex.join([sys.executable, str(LATER), *words])
        env = f"COLUMNS=80 LINES=24 LATER_S={planted.DAYS}"  # some programs export what was true when they started
        self("new-session", "-d", "-x", "80", "-y", "24", f"{env} {command}; echo EXIT $?; exec cat")

    def screen(self) -> str:
        return self("capture-pane", "-p")

    def keys(self, *names: str) -> None:
        self("send-keys", *names)

    def until(self, holds: Callable[[str], bool]) -> str:
        """Wait for the event itself."""
        end = time.monotonic() + _LIMIT_S
        while not holds(shown := self.screen()):
            assert time.monotonic() < end, shown
            time.sleep(0.05)
        return shown


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path / "s")
    try:
        yield made
    finally:
        subprocess.run(["tmux", "-S", made.socket, "kill-server"], capture_output=True, check=False)


def test_it_is_driven_by_keys_resized_and_leaves_the_terminal_as_it_was(own_world: Path, terminal: Terminal) -> None:
    unit = planted.session(own_world / "tmp", 100_000)
    terminal.start("clean", "--pick")
    terminal.until(lambda shown: "claude" in shown and "REMOVABLE" in shown)
    terminal.keys("a", "c")
    asked = terminal.until(lambda shown: "Remove" in shown and "y yes" in shown)
    assert unit.exists(), asked
    terminal.keys("y")
    terminal.until(lambda shown: "Removed" in shown)
    assert not unit.exists()
    terminal("resize-window", "-x", "40", "-y", "12")
    # tmux itself crops what was there, from above: the first line comes from the view, once it knows
    small = terminal.until(lambda shown: shown.startswith(" /") and len(shown.splitlines()) <= 12)
    assert all(len(line) <= 40 for line in small.splitlines())
    terminal.keys("u")
    terminal.until(lambda shown: "Bring back" in shown)
    terminal.keys("y")
    terminal.until(lambda shown: "Brought back" in shown)
    assert unit.exists()
    terminal.keys("q")
    terminal.until(lambda shown: "EXIT 0" in shown)


@pytest.mark.parametrize("screen", ["first look", "tree", "help", "filter", "question"])
def test_ctrl_c_quits_from_everywhere(own_world: Path, terminal: Terminal, screen: str) -> None:
    planted.session(own_world / "tmp")
    terminal.start("ui")
    if screen == "first look":
        terminal.until(lambda shown: "Checking" in shown or "claude" in shown)
    else:
        terminal.until(lambda shown: "claude" in shown)
        terminal.keys(*{"tree": (), "help": ("?",), "filter": ("/",), "question": ("a", "c")}[screen])
        awaited = {"tree": "claude", "help": "Keys", "filter": "words of a path", "question": "y yes"}[screen]
        terminal.until(lambda shown: awaited in shown)
    terminal.keys("C-c")
    terminal.until(lambda shown: "EXIT 0" in shown)


def _running(world: Path, word: str) -> list[int]:
    """Processes of this test's world with this word on their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
            if word.encode() in words and str(world).encode() in Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def test_killed_in_the_middle_of_a_clean_everything_is_whole_or_can_be_undone(
    own_world: Path, terminal: Terminal
) -> None:
    units = [planted.session(own_world / "tmp", 2000 + number) for number in range(80)]
    terminal.start("ui")
    terminal.until(lambda shown: "claude" in shown)
    terminal.keys("a", "c")
    terminal.until(lambda shown: "y yes" in shown)
    terminal.keys("y")
    terminal.until(lambda shown: "Remov" in shown and "y yes" not in shown)
    (view,) = _running(own_world, str(LATER))
    os.kill(view, signal.SIGKILL)
    terminal.until(lambda shown: "EXIT 137" in shown)
    terminal.until(lambda _: not _running(own_world, "tmpwarden.cli.ui.deed"))  # it stops by itself
    inside = [unit / "tasks" / "b1234abcd.output" for unit in units]
    assert [path.exists() for path in inside] == [unit.exists() for unit in units]
    if not all(path.exists() for path in inside):
        data("undo")
    assert all(path.exists() for path in inside)

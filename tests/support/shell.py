"""An interactive bash on a terminal: type, and wait for what it shows."""

import os
import pty
import select
import termios
import time
from types import TracebackType


class InteractiveShell:
    def __init__(self) -> None:
        self.shown = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], {**os.environ, "PS1": "$ ", "TERM": "dumb"})

    def write(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """As when the user drags the window's corner: the foreground group gets SIGWINCH."""
        termios.tcsetwinsize(self.terminal, (rows, columns))

    def wait_for(self, text: str, within_s: float = 60) -> None:
        """Until `text` is shown; what was shown up to there counts no more."""
        end = time.monotonic() + within_s
        while text.encode() not in self.shown:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            assert ready, f"{text!r} was not shown, but {self.shown!r}"
            self.shown += os.read(self.terminal, 65536)
        self.shown = self.shown.partition(text.encode())[2]

    def __enter__(self) -> "InteractiveShell":
        self.wait_for("$ ")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.terminal)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)

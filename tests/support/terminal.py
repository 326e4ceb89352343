"""A pseudo-terminal, to see what a person sees and to answer what is asked."""

import os
import pty
import select
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from fcntl import ioctl


def on_a_terminal(
    argv: Sequence[str],
    *,
    answer: str = "",
    env: Mapping[str, str] | None = None,
    columns: int = 100,
    prompt: str = "[y/N]",
    timeout_s: float = 60,
) -> tuple[int, str]:
    """(exit status, what the terminal showed). `answer` is typed once `prompt` is shown; "^D" ends the input."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], list(argv), dict(os.environ if env is None else env))
    ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    shown, answered, end = b"", not answer, time.monotonic() + timeout_s
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 1)
        try:
            more = os.read(master, 65536) if ready else b""
        except OSError:
            break
        if ready and not more:
            break
        shown += more
        is_unheard = answered and not ready and answer == "^C"  # it came right before Python read: one presses it again
        if is_unheard or (not answered and prompt.encode() in shown):
            os.write(master, {"^D": b"\x04", "^C": b"\x03"}.get(answer, answer.encode() + b"\n"))
            answered = True
    else:
        os.kill(pid, 9)
    os.close(master)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="surrogateescape").replace("\r\n", "\n")

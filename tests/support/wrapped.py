"""`tmpwarden run` in front of real programs: started, signalled, and what it left behind."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from support import forked
from tmpwarden.sweep.store.quarantine import is_label

RUN = [sys.executable, "-m", "tmpwarden", "run"]
FORMS = ([*RUN, "--"], [*RUN, "--private-tmp", "--"])
NAMES = ["run", "run --private-tmp"]


def outcome(argv: Sequence[str], stdin: bytes, cwd: Path) -> tuple[int, bytes]:
    done = forked.run(argv, input=stdin, stdout=subprocess.PIPE, cwd=cwd, timeout=120, check=False)
    return done.returncode, done.stdout


@contextlib.contextmanager
def started(form: Sequence[str], script: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A shell script behind `form`, as far as its first line, which is its pid; (wrapper, that pid)."""
    wrapper = forked.Popen(
        [*form, "sh", "-c", f"echo $$; {script}"], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert wrapper.stdout
    try:
        yield wrapper, int(wrapper.stdout.readline())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(wrapper.pid, 9)
        wrapper.wait(timeout=60)
        wrapper.stdout.close()


def left_behind(root: Path, *, uid: int | None = None) -> list[str]:
    """What lies below a temp root, also in quarantine, our own empty directories and labels aside."""
    ours = f"tmpwarden-{os.geteuid() if uid is None else uid}"
    names = [name for name in os.listdir(root) if name != ours]
    for directory in (ours, f"{ours}/q"):
        if (root / directory).exists():
            inside = [name for name in os.listdir(root / directory) if name != "q" and not is_label(name)]
            names += [f"{directory}/{name}" for name in inside]
    return sorted(names)


def in_quarantine(root: Path) -> list[Path]:
    return sorted(path for path in root.glob("tmpwarden-*/q/*") if not is_label(path.name))


def eventually(is_true: Callable[[], bool], within_s: float = 60) -> bool:
    """What happens in a process that nobody waits for."""
    end = time.monotonic() + within_s
    while not is_true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True

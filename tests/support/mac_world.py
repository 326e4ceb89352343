"""A world without /proc in which every interpreter believes that it is on macOS: a mount namespace. Needs root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tmpwarden
from support import mac

_ENTER = """
set -e
for copy in "$COPIES"/*/*; do
  [ -e "$copy/of" ] || continue
  mount --bind "$copy/encodings" "$(cat "$copy/of")/encodings"
done
mount --bind "$COPIES/nothing" /proc
echo ready
exec sleep infinity
"""


class MacWorld:
    """`run` starts a program in it."""

    def __init__(self, pid: int, env: dict[str, str]) -> None:
        self.pid, self.env = pid, env

    def run(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        words = ["nsenter", f"--mount=/proc/{self.pid}/ns/mnt", "--", *argv]
        return subprocess.run(
            words, input=stdin, env=self.env | (env or {}), capture_output=True, text=True, check=False, timeout=100
        )


@contextmanager
def mac_world(place: Path) -> Iterator[MacWorld]:
    """`place`: an empty directory of the test's own. The temp root is below it, by a name that leads there."""
    copies = place / "copies"
    (copies / "nothing").mkdir(parents=True)
    for at, library in enumerate(mac.libraries()):
        copy = copies / "of" / str(at)
        copy.mkdir(parents=True)
        mac.encodings_beside(library, copy).rename(copy / "encodings")
        (copy / "of").write_text(str(library))
    for name in ("private", "home", "state", "config", "data", "cache", "run"):
        (place / name).mkdir(mode=0o700)
    (place / "private" / "tmp").mkdir(mode=0o1777)
    (place / "tmp").symlink_to("private/tmp")
    env = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "SHELL": "/bin/zsh",
        "HOME": f"{place}/home",
        "TMPWARDEN_ROOTS": f"{place}/tmp",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(Path(tmpwarden.__file__).parents[1]),  # these sources, wherever the interpreter's own lie
        **{f"XDG_{name.upper()}_HOME": f"{place}/{name}" for name in ("state", "config", "data", "cache")},
        "XDG_RUNTIME_DIR": f"{place}/run",
    }
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER]
    holder = subprocess.Popen(
        words, env=env | {"COPIES": str(copies)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "ready\n"
        yield MacWorld(holder.pid, env)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()

"""A world without /proc in which every interpreter believes that it is on macOS: a mount namespace. Needs root."""

import os
import subprocess
import sys
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


_PROC = "/mnt"  # where libproc finds it there: a short name, for it has little room for names


class MacWorld:
    """`run` starts a program in it."""

    def __init__(self, pid: int, env: dict[str, str]) -> None:
        self.pid, self.env = pid, env

    def words(self, *argv: str) -> list[str]:
        spaces = (f"--{kind}=/proc/{self.pid}/ns/{name}" for kind, name in (("mount", "mnt"), ("pid", "pid")))
        return ["nsenter", *spaces, "--", *argv]

    def run(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.words(*argv), input=stdin, env=self.env | (env or {}), capture_output=True, text=True, check=False,
            timeout=100,
        )  # fmt: skip

    @contextmanager
    def living(self, *argv: str) -> Iterator[int]:
        """A program that goes on until the block ends; its number there."""
        source = "import os, sys; print(os.getpid(), flush=True); held = [*map(open, sys.argv[1:])]; sys.stdin.read()"
        words = self.words(sys.executable, "-c", source, *argv)
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env) as process:
            assert process.stdout is not None
            yield int(process.stdout.readline())
            process.communicate()


@contextmanager
def mac_world(place: Path, *, tells: bool = False) -> Iterator[MacWorld]:
    """`place`: an empty directory of the test's own. The temp root is below it, by a name that leads there. `tells`:
    there is a libproc, which answers from what was /proc."""
    copies = place / "copies"
    (copies / "nothing").mkdir(parents=True)
    libproc = _libproc(copies) if tells else ""
    for at, library in enumerate(mac.libraries()):
        copy = copies / "of" / str(at)
        copy.mkdir(parents=True)
        mac.encodings_beside(library, copy, libproc, _PROC if tells else "").rename(copy / "encodings")
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
    space = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "--pid",
        "--fork",
        "--kill-child",
        f"--mount-proc={_PROC}",
    ]
    words = [*space, "sh", "-c", _ENTER]
    holder = subprocess.Popen(
        words,
        env=env | {"COPIES": str(copies), "PROC": _PROC},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "ready\n"
        (inside,) = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()
        yield MacWorld(int(inside), env)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def _libproc(copies: Path) -> str:
    source, library = copies / "fakeproc.c", copies / "libfakeproc.so"
    text = (Path(__file__).parent / "fakeproc.c").read_text()
    source.write_text(text.replace('"/proc', f'"{_PROC}'))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", str(library), str(source)], check=True)
    return str(library)

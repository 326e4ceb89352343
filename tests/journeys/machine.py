"""A machine of a story: a disk with /tmp and the homes on it, people who log in, a clock, the command that they run.

It is a mount namespace with a root of its own, and its processes are the real machine's: to the kernel and to the
command it is no container. The command comes from a wheel that pip installed; nothing here imports it. Needs root.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from support.mac import encodings_beside

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
CACHE = Path(os.environ.get("TMPWARDEN_JOURNEYS_CACHE", "/var/cache/tmpwarden-journeys"))
PATH = "/opt/tmpwarden/bin:/opt/agents:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_COARSE = 5  # CLOCK_REALTIME_COARSE
DAY_S = 86400
_BOOT = """
set -e
cd "$DISK"
for place in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -L "$place" ]; then cp -P "$place" ".$place"
  elif [ -d "$place" ]; then mkdir ".$place"; mount --bind "$place" ".$place"; fi
done
mkdir usr etc opt proc dev run sys tmp var var/tmp var/lib var/log home root old
chmod 1777 tmp var/tmp; chmod 700 root
mount --bind /usr usr; mount -o remount,bind,ro usr
mount --bind "$BASE/etc" etc
mount --bind "$BASE/opt" opt
if [ -n "$IS_MAC" ]; then
  rmdir tmp; mkdir private private/tmp; chmod 1777 private/tmp; ln -s private/tmp tmp
  for copy in "$BASE"/mac/*; do
    mount --bind "$copy" "usr/lib/${copy##*/}/encodings"
  done
fi
mount --rbind /proc proc; mount --rbind /sys sys; mount --rbind /dev dev
mount -t tmpfs -o size=16m,mode=1777 shm dev/shm
mount -t tmpfs -o size=8m,mode=755 run run
pivot_root . old
cd /
umount -l old
rmdir old
if [ -n "$IS_MAC" ]; then umount -l /proc; rmdir /proc; fi
echo ready
exec sleep infinity </dev/null >/dev/null 2>&1
"""


@dataclass(frozen=True)
class Said:
    """How a line at a person's prompt ended, and what stood there."""

    line: str
    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return f"$ {self.line}\n{self.out}{self.err}[exit {self.status}]"

    def must(self, *words: str, status: int | None = 0) -> "Said":
        """Itself, if it ended like this and these words stand in it."""
        assert status is None or self.status == status, self.text
        missing = [word for word in words if word not in self.out + self.err]
        assert not missing, f"{missing} is missing in:\n{self.text}"
        return self

    @property
    def data(self) -> dict:
        """`data` of an answer in JSON."""
        found = json.loads(self.out)["data"]
        assert isinstance(found, dict), self.text
        return found


class Agent:
    """The stand-in of an agent (programs/claude), started at a person's prompt."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.started = self._answer()
        self.session: str = self.started["session"]
        self.pid: int = self.started["pid"]

    def _answer(self) -> dict:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the agent said nothing; it ended with {self.process.poll()}"
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    def _ask(self, **asked: str) -> dict:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def bash(self, command: str) -> dict:
        return self._ask(bash=command)

    def background(self, command: str) -> dict:
        return self._ask(background=command)

    def ends(self, reason: str = "prompt_input_exit") -> dict:
        said = self._ask(end=reason)
        self.process.wait(timeout=30)
        return said

    def is_killed(self) -> None:
        """Not before the background jobs of its hooks are over: on a busy machine one may take seconds, and it carries
        the session."""
        deadline = time.monotonic() + 60
        while any(_is_job_of(self.session, process) for process in Path("/proc").glob("[0-9]*")):
            assert time.monotonic() < deadline, "a background job did not end"
            time.sleep(0.05)
        self.process.kill()
        self.process.wait(timeout=30)


def _is_job_of(session: str, process: Path) -> bool:
    try:
        is_hook = b"tmpwarden/hooks/run.py" in (process / "cmdline").read_bytes()
        return is_hook and session.encode() in (process / "environ").read_bytes()
    except OSError:
        return False


@dataclass(frozen=True)
class Person:
    """Somebody with a home and a shell on the machine."""

    machine: "Machine"
    name: str
    uid: int

    @property
    def home(self) -> str:
        return "/root" if self.uid == 0 else f"/home/{self.name}"

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        env = {
            "HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": "/bin/bash", "PATH": PATH,
            "LANG": "C.UTF-8", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        return env | dict(more or {})

    def _words(self, *argv: str, cwd: str | None, env: Mapping[str, str] | None) -> list[str]:
        who = [] if self.uid == 0 else ["--setuid", str(self.uid), "--setgid", str(self.uid)]
        environ = ["env", "-i", *(f"{name}={value}" for name, value in self.environment(env).items())]
        where = ["sh", "-c", 'cd "$0" && exec "$@"', cwd or self.home]
        return ["nsenter", f"--mount=/proc/{self.machine.pid}/ns/mnt", *who, "--", *environ, *where, *argv]

    def types(
        self, line: str, *, stdin: str = "", env: Mapping[str, str] | None = None, cwd: str | None = None,
        timeout_s: float = 110,
    ) -> Said:  # fmt: skip
        """A line at the prompt, run by bash."""
        done = subprocess.run(
            self._words("bash", "-c", line, cwd=cwd, env=env), input=stdin, capture_output=True,
            text=True, errors="replace", timeout=timeout_s, check=False, start_new_session=True,
        )  # fmt: skip
        return Said(line, done.returncode, done.stdout, done.stderr)

    def answers(self, line: str, answer: str, *, timeout_s: float = 110) -> Said:
        """A line at a terminal, and what is typed when it asks."""
        ours, theirs = os.openpty()
        words = self._words("bash", "-c", line, cwd=None, env={"COLUMNS": "200"})
        process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        said, deadline = b"", time.monotonic() + timeout_s
        with contextlib.suppress(OSError):  # EIO: nobody has the terminal open any more
            while time.monotonic() < deadline:
                if select.select([ours], [], [], 0.2)[0]:
                    said += os.read(ours, 65536)
        os.close(ours)
        return Said(line, process.wait(timeout=10), said.decode(errors="replace").replace("\r\n", "\n"), "")

    def starts(
        self, *argv: str, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """A program that goes on running, with pipes; it ends with the machine at the latest."""
        process = subprocess.Popen(
            self._words(*argv, cwd=cwd, env=env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        self.machine.started.append(process)
        return process

    def agent(self, *words: str, project: str = "shop", env: Mapping[str, str] | None = None) -> Agent:
        self.types(f"mkdir -p ~/{project}").must()
        return Agent(self.starts("claude", *words, cwd=f"{self.home}/{project}", env=env))

    def path(self, path: str) -> Path:
        """A path of the machine as the test sees it; `~` is this person's home."""
        return self.machine.path(path.replace("~", self.home, 1))


class Machine:
    """`disk`: a number of megabytes, and its file system: tmpfs, ext4 or ext4-1k. All that people write lies there."""

    def __init__(
        self, base: Path, opt: Path, disk: str, megabytes: int, people: tuple[str, ...], is_mac: bool = False
    ) -> None:
        self.base, self.ahead_s = base, 0
        self.passed: list[str] = []
        self.started: list[subprocess.Popen[str]] = []
        first = 20_000 + os.getpid() % 10_000 * 4  # stories of several checkouts run beside each other
        self.people = {name: Person(self, name, first + at) for at, name in enumerate(people)}
        self.root = Person(self, "root", 0)
        self._lay_out(opt)
        if is_mac:
            for library in Path("/usr/lib").glob("python3.*"):
                if (library / "encodings" / "__init__.py").exists():
                    (base / "mac").mkdir(exist_ok=True)
                    encodings_beside(library, base / "mac")
        point = base / "disk"
        point.mkdir()
        if disk == "tmpfs":
            made = f'mount -t tmpfs -o size={megabytes}m,mode=755 disk "$DISK"'
        else:
            image = base / "image"
            with image.open("wb") as file:
                file.truncate(megabytes << 20)
            block = ["-b", "1024"] if disk == "ext4-1k" else []
            subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", *block, str(image)], check=True, capture_output=True)
            made = f'mount -o loop "{image}" "$DISK"; rmdir "$DISK/lost+found"'
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"{made}\n{_BOOT}"],
            env={"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "DISK": str(point), "BASE": str(base),
                 "IS_MAC": "yes" * is_mac},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.holder.stdout is not None and self.holder.stderr is not None
        if self.holder.stdout.readline() != "ready\n":
            raise RuntimeError(f"the machine did not start: {self.holder.stderr.read()}")
        self.pid = self.holder.pid
        for person in self.people.values():
            home = self.path(person.home)
            home.mkdir(mode=0o755)
            os.chown(home, person.uid, person.uid)

    def _lay_out(self, opt: Path) -> None:
        shutil.copytree("/etc", self.base / "etc", symlinks=True, ignore=_unreadable)
        accounts = ["root:x:0:0:root:/root:/bin/bash", "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin"]
        accounts += [f"{each.name}:x:{each.uid}:{each.uid}::{each.home}:/bin/bash" for each in self.people.values()]
        groups = ["root:x:0:", "nogroup:x:65534:", *(f"{each.name}:x:{each.uid}:" for each in self.people.values())]
        (self.base / "etc" / "passwd").write_text("\n".join(accounts) + "\n")
        (self.base / "etc" / "group").write_text("\n".join(groups) + "\n")
        (self.base / "etc" / "ld.so.preload").write_text("/opt/warp.so\n")
        shutil.rmtree(self.base / "etc" / "tmpwarden", ignore_errors=True)
        (self.base / "opt").symlink_to(opt)

    def person(self, name: str) -> Person:
        return self.people[name]

    def path(self, path: str) -> Path:
        return Path(f"/proc/{self.pid}/root{path}")

    def days_pass(self, days: float) -> None:
        """For every program that is started from now on; what was written until now has the dates it had (warp.c)."""
        self.ahead_s += int(days * DAY_S)
        now_ms = time.time_ns() // 10**6 + 1
        self.passed.append(f"{now_ms}:{self.ahead_s}")
        link = self.path("/run/warp")
        link.unlink(missing_ok=True)
        link.symlink_to(",".join(self.passed))
        while time.clock_gettime_ns(_COARSE) <= now_ms * 10**6:  # by which the kernel dates files, a tick behind
            time.sleep(0.001)

    def settles(self, timeout_s: float = 30) -> None:
        """Wait for what was started in the background; a day is long, and these days are not."""
        deadline = time.monotonic() + timeout_s
        known = {self.pid, *(process.pid for process in self.started)}
        while set(self._left_running()) - known and time.monotonic() < deadline:
            time.sleep(0.05)

    def fill(self, where: str, owner: Person, *, leave: int = 0) -> None:
        """Write a file until no byte is left, or `leave`; owned by a person."""
        path = self.path(where)
        with path.open("ab", buffering=0) as file:
            for _ in range(3):  # ext4 gives back what it had reserved for its own books once all is written
                for block in (1 << 20, 4096, 512, 1):
                    with contextlib.suppress(OSError):
                        while True:
                            file.write(b"x" * block)
                with contextlib.suppress(OSError):
                    os.fsync(file.fileno())
        os.chown(path, owner.uid, owner.uid)
        if leave:
            os.truncate(path, max(0, path.stat().st_size - leave))

    def used(self) -> int:
        found = os.statvfs(self.path("/"))
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def free(self) -> int:
        found = os.statvfs(self.path("/"))
        return found.f_bavail * found.f_frsize

    def close(self) -> None:
        """End what was started here, and what that left running on this machine; then the mounts go by themselves."""
        for process in self.started:
            with contextlib.suppress(OSError):
                process.kill()
        for pid in self._left_running():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.holder.kill()
        for process in (*self.started, self.holder):
            process.wait(timeout=30)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _left_running(self) -> Iterator[int]:
        here = os.readlink(f"/proc/{self.pid}/ns/mnt")
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if int(entry.name) != self.pid and os.readlink(entry / "ns" / "mnt") == here:
                    yield int(entry.name)


def _unreadable(directory: str, names: list[str]) -> set[str]:
    """What a copy cannot have: sockets and the like."""
    return {name for name in names if not (Path(directory, name).is_file() or Path(directory, name).is_dir())}


def python_for_everybody() -> str:
    """An interpreter that every user of the machine can start."""
    for path in ("/usr/bin/python3", *(f"/usr/{place}bin/python3.{minor}" for minor in (14, 13, 12, 11)
                                       for place in ("local/", ""))):  # fmt: skip
        suits = [path, "-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"]
        if os.access(path, os.X_OK) and subprocess.run(suits, capture_output=True, check=False).returncode == 0:
            return path
    return ""


def installed(source: Path, opt: Path) -> Path:
    """What lies in /opt of a machine: the command, the stand-in, the clock."""
    opt.mkdir(parents=True)
    opt.chmod(0o755)
    install(source, opt, "tmpwarden")
    _do("cc", "-shared", "-fPIC", "-O1", "-o", str(opt / "warp.so"), str(PROGRAMS / "warp.c"), "-ldl")
    (opt / "agents").mkdir()
    for program in PROGRAMS.iterdir():
        if not program.suffix:
            (opt / "agents" / program.name).write_text(program.read_text())
            (opt / "agents" / program.name).chmod(0o755)
    return opt


def install(source: Path, opt: Path, name: str) -> None:
    """pip builds the sources and installs them with all they need into a new environment, /opt/`name` of a machine."""
    built = opt.parent / f"wheel-{name}"
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    _do(*wheel, "--wheel-dir", str(built), str(source))
    (file,) = built.glob("*.whl")
    plain = python_for_everybody()
    if not plain:  # this one lies where only root can read it: as /opt/python everybody can
        shutil.copytree(sys.base_prefix, opt / "python", symlinks=True, dirs_exist_ok=True)
        plain = f"/opt/python/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copy(file, opt)
    script = 'mount --bind "$0" /opt && "$1" -m venv "$2" && "$2/bin/pip" install --quiet "$3"'
    words = [str(opt), plain, f"/opt/{name}", f"/opt/{file.name}[import]"]
    _do("unshare", "--mount", "--propagation", "private", "sh", "-c", script, *words)


def _do(*argv: str) -> None:
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": tempfile.gettempdir()}
    done = subprocess.run(argv, env=quiet, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"

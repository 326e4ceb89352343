"""An interpreter that believes it runs on a Mac: `sys.platform` says darwin and what only Linux has is gone.

Hooks start with -I and -S, so nothing in the environment reaches them. What every interpreter reads at its start, and
what is not frozen into it, is the package `encodings`: over its directory lies a copy with a few lines more. It proves
control flow and what a doubt does, and nothing about a Mac's kernel.
"""

import shutil
from pathlib import Path

AGENTS = ("claude", "codex", "gemini", "copilot", "opencode", "qwen")
# What a person of such a machine types after `tmpwarden`: every command, and the ways of some.
COMMANDS = (
    "",
    "--version",
    "status",
    "scan",
    "scan --each",
    "scan --json",
    "clean -n",
    "clean -n --all --json",
    "why {tmp}",
    "why ~",
    "doctor",
    "doctor --json",
    "orphans",
    "orphans --json",
    "brake",
    "brake --json",
    "worktrees",
    "worktrees proof ~/shop",
    "log",
    "agents",
    "agents show claude",
    "report -o ~/report.html",
    "metrics",
    "bugreport",
    "config show",
    "lease list",
    "keep {tmp}/kept",
    "keep",
    "guard check 'rm -rf {tmp}/x'",
    "guard verify",
    "rescue list",
    "shellenv zsh",
    "completion zsh",
    "run -- true",
    "run --max-bytes 1m -- true",
    "run --max-file 1m -- true",
    "undo",
    "teardown --session nobody",
    "off --for 1h",
    "on",
    "setup -n",
    "setup --yes",
    "adopt '{tmp}/mine-*'",
    "help scan",
    "ui",
    "clean --if-due 1h --yes",
    "clean --yes",
    "clean --yes --all",
    "clean --yes --all --purge",
    "uninstall claude",
)
BROKEN = ("Traceback", "Error:", "Errno", "internal error")  # in no answer
_MISSING = {
    "posix": (
        "O_PATH O_TMPFILE O_NOATIME O_DIRECT O_RSYNC pidfd_open P_PIDFD waitid listxattr getxattr setxattr removexattr "
        "setresuid setresgid getresuid getresgid memfd_create copy_file_range splice eventfd eventfd_read "
        "timerfd_create timerfd_settime timerfd_gettime sched_getaffinity sched_setaffinity sched_setscheduler "
        "sched_getscheduler sched_setparam sched_getparam sched_rr_get_interval posix_fadvise posix_fallocate "
        "eventfd_write fdatasync pipe2 getrandom unshare setns pidfd_getfd ST_NODEV ST_NOEXEC ST_NOATIME"
    ),
    "fcntl": "F_SETLEASE F_GETLEASE F_NOTIFY F_OFD_SETLK F_OFD_GETLK F_OFD_SETLKW F_ADD_SEALS F_GET_SEALS F_SETPIPE_SZ "
    "F_GETPIPE_SZ F_SETSIG F_GETSIG",
    "resource": "prlimit",
    "_signal": "pidfd_send_signal sigtimedwait sigwaitinfo",
    "select": "epoll",
    "_socket": "SOCK_CLOEXEC SOCK_NONBLOCK SO_PEERCRED AF_NETLINK AF_PACKET",
    "time": "CLOCK_BOOTTIME CLOCK_TAI pthread_getcpuclockid",
}
TURN = """

def _turn_into_a_mac():
    import sys
    sys.platform = "darwin"
    missing, given, proc = @MISSING@, @GIVEN@, @PROC@

    def without(module):
        for name in missing.get(module.__name__, "").split():
            vars(module).pop(name, None)
        if proc and module.__name__ == "posix":
            module.O_SYMLINK = 0o10400000  # here: O_PATH | O_NOFOLLOW
        if proc and module.__name__ == "fcntl":
            module.F_GETPATH, module.fcntl = 50, telling_paths(module.fcntl)

    def telling_paths(real):
        def fcntl(file, command, argument=0):
            if command != 50:
                return real(file, command, argument)
            import posix

            number = file if isinstance(file, int) else file.fileno()
            return posix.readlink(b"%s/self/fd/%d" % (proc, number)) + bytes(1)

        return fcntl

    class Loads:  # the others are extensions, and it is too early to load those
        def find_spec(self, name, path=None, target=None):
            if name not in missing and name not in given:
                return None
            for finder in sys.meta_path:
                found = None if finder is self else finder.find_spec(name, path, target)
                if found is not None:
                    found.loader = Loader(found.loader)
                    return found

    class Loader:
        def __init__(self, real):
            self.real = real

        def __getattr__(self, name):
            return getattr(self.real, name)

        def exec_module(self, module):
            self.real.exec_module(module)
            without(module)
            vars(module).update(given.get(module.__name__, {}))

        def create_module(self, spec):
            return self.real.create_module(spec)

    for name in missing:
        if name in sys.modules:
            without(sys.modules[name])
    sys.meta_path.insert(0, Loads())


_turn_into_a_mac()
"""


def encodings_beside(library: Path, place: Path, libproc: str = "", proc: str = "") -> Path:
    """A copy of `library`'s encodings in `place`, to be mounted over them. `libproc`: what this Mac has as its library
    (fakeproc.c); without it there is none. `proc`: where Linux' /proc is, to tell the path of an open file."""
    given = {"tmpwarden.oskit.system.darwin.libproc": {"LIBRARY": libproc}} if libproc else {}
    copy = place / library.name
    shutil.copytree(library / "encodings", copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "__init__.py").open("a") as file:
        file.write(
            TURN.replace("@MISSING@", repr(_MISSING))
            .replace("@GIVEN@", repr(given))
            .replace("@PROC@", repr(proc.encode()))
        )
    return copy


def libraries() -> list[Path]:
    """Of every interpreter that a launcher of ours may find here."""
    import sys

    found = {Path(sys.base_prefix) / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"}
    for prefix in ("/usr", "/usr/local"):
        found |= set(Path(prefix, "lib").glob("python3.*"))
    return sorted(path for path in found if (path / "encodings" / "__init__.py").exists())

"""A Python that has imported the package and forks for each program it is asked to run; see forked.py.

`fork_server.py DESCRIPTOR` reads requests from a socket. A child is made with CLONE_PARENT, so its parent is the test.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import socket
import struct
import sys
import threading
import traceback
from typing import Any

HEAD = struct.Struct("!I")
REPLY = struct.Struct("!ii")  # pid, errno of what it could not become
_CLONE_PARENT = 0x8000
SYS_CLONE = {"x86_64": 56, "aarch64": 220}
_PR_SET_DUMPABLE, _PR_SET_MM, _PR_SET_MM_MAP = 4, 35, 14
_KEPT_OUT = (
    "tmpwarden.cli.ui",
    "tmpwarden.__main__",
    "tmpwarden.hooks.run",
    "tmpwarden.hooks.entry",
    "tmpwarden.early",
)
_libc = ctypes.PyDLL(None, use_errno=True)  # with the interpreter's lock held, as a fork wants it
_libc.sbrk.restype = ctypes.c_void_p


class _MemoryMap(ctypes.Structure):
    """struct prctl_mm_map"""

    _NUMBERS = (
        "start_code end_code start_data end_data start_brk brk start_stack arg_start arg_end env_start env_end auxv"
    )
    _fields_ = (
        *((name, ctypes.c_uint64) for name in _NUMBERS.split()),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_uint32),
    )


def serve(connection: socket.socket) -> dict[str, Any]:
    """Returns in a child, with what it is to run; ends with the test that asked."""
    while True:
        first, fds, _, _ = socket.recv_fds(connection, HEAD.size, 4)
        if len(first) < HEAD.size:
            os._exit(0)
        request: dict[str, Any] = json.loads(connection.recv(*HEAD.unpack(first), socket.MSG_WAITALL))
        if _forked() == 0:
            try:
                _become(request, fds)
            except OSError as refused:
                connection.send(REPLY.pack(os.getpid(), refused.errno or 1))
                os._exit(255)
            connection.send(REPLY.pack(os.getpid(), 0))
            connection.close()
            return request
        for fd in fds:
            os.close(fd)


def _forked() -> int:
    """fork(2), but the child's parent is ours."""
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid: int = _libc.syscall(SYS_CLONE[os.uname().machine], _CLONE_PARENT | 17, 0, 0, 0, 0)
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    return pid


def _become(request: dict[str, Any], fds: list[int]) -> None:
    here = fds.pop()
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    os.fchdir(here)
    for fd in (here, *fds):
        os.close(fd)
    if request["cwd"] is not None:
        os.chdir(request["cwd"])
    os.umask(request["umask"])
    if request["session"]:
        os.setsid()
    if request["group"] >= 0:
        os.setpgid(0, request["group"])
    if request["gids"] is not None:
        os.setgroups(request["gids"])
    if request["gid"] is not None:
        os.setregid(request["gid"], request["gid"])
    if request["uid"] is not None:
        os.setreuid(request["uid"], request["uid"])
    coerced = {name: value for name, value in os.environ.items() if name == "LC_CTYPE"}  # by the interpreter, from C
    os.environ.clear()
    os.environ.update({**coerced, **request["env"]})
    _show(request["argv"], request["env"])
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # as after an exec: whoever is another user now can be looked at
    is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED")) and not sys.flags.ignore_environment
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, _stream(getattr(sys, f"__{name}__"), is_unbuffered))
        setattr(sys, f"__{name}__", getattr(sys, name))


def _stream(like: Any, is_unbuffered: bool) -> Any:
    """A new one on the same descriptor, as an interpreter makes it when it starts."""
    fd = like.fileno()
    raw = open(fd, f"{like.mode}b", buffering=0 if is_unbuffered and fd else -1, closefd=False)  # noqa: SIM115
    made = io.TextIOWrapper(raw, like.encoding, like.errors, None if fd == 0 else "\n", write_through=is_unbuffered)
    made.mode = like.mode
    if fd and not is_unbuffered:
        made.reconfigure(line_buffering=fd == 2 or os.isatty(fd))
    return made


def _show(argv: list[str], env: dict[str, str]) -> None:
    """/proc/self/cmdline and environ are those of a program that was started with these."""
    global _shown  # the kernel reads there as long as we live
    words = b"".join(os.fsencode(word) + b"\0" for word in argv)
    names = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in env.items())
    _shown = ctypes.create_string_buffer(words + names, len(words) + len(names) + 1)
    at = ctypes.addressof(_shown)
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b") ")[2].split()
    place = {
        "start_code": int(fields[23]), "end_code": int(fields[24]), "start_stack": int(fields[25]),
        "start_data": int(fields[42]), "end_data": int(fields[43]), "start_brk": int(fields[44]),
        "brk": _libc.sbrk(0), "arg_start": at, "arg_end": at + len(words), "env_start": at + len(words),
        "env_end": at + len(words) + len(names), "auxv": 0, "auxv_size": 0, "exe_fd": 0xFFFFFFFF,
    }  # fmt: skip
    told = _MemoryMap(**place)
    size = ctypes.c_ulong(ctypes.sizeof(told))
    if _libc.prctl(_PR_SET_MM, ctypes.c_ulong(_PR_SET_MM_MAP), ctypes.byref(told), size, ctypes.c_ulong(0)) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def run(argv: list[str], options: int) -> None:
    """As the interpreter does with its own words: `options` of them are its flags, as this one has them."""
    sys.orig_argv = list(argv)
    kind, words = argv[1 + options], argv[1 + options :]
    first = [] if sys.flags.safe_path else [""]
    if kind == "-c":
        sys.path[:0] = first
        sys.argv = ["-c", *words[2:]]
        main = type(sys)("__main__")
        sys.modules["__main__"] = main
        exec(compile(words[1], "<string>", "exec"), main.__dict__)
    elif kind == "-m":
        sys.path[:0] = [os.getcwd()] if first else []
        sys.argv = ["-m", *words[2:]]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[:0] = [os.path.dirname(os.path.abspath(kind))] if first else []
        sys.argv = words
        runpy.run_path(kind, run_name="__main__")


def _end(status: object) -> None:
    """What an interpreter does at its end but for freeing what is not its own."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else 0)


def load() -> None:
    tmpwarden = importlib.import_module("tmpwarden")
    for module in pkgutil.walk_packages(tmpwarden.__path__, "tmpwarden."):
        if not module.name.startswith(_KEPT_OUT):
            importlib.import_module(module.name)
    for name in ("click", "subprocess", "tempfile", "shutil", "socket", "ctypes", "uuid"):
        importlib.import_module(name)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    with contextlib.suppress(ImportError):  # an interpreter that knows no tmpwarden runs what needs none
        load()
    gc.collect()
    gc.freeze()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        run(asked["argv"], asked["options"])
    except SystemExit as done:
        if not isinstance(done.code, int | None):
            print(done.code, file=sys.stderr)
        _end(done.code if isinstance(done.code, int | None) else 1)
    except KeyboardInterrupt:
        raise  # the interpreter then ends by the signal
    except BaseException as error:
        above = error.__traceback__ and error.__traceback__.tb_next
        traceback.print_exception(error.with_traceback(above and above.tb_next))
        _end(1)
    _end(0)

"""Python programs without the start of an interpreter: a server that has imported the package forks for each.

A child is the test's own in every respect that can be asked: the kernel makes it one (CLONE_PARENT), so `subprocess`
waits for it as for any other; its pid, user, session, signals, environment and command line, in /proc too, are those of
a program that was started. What an interpreter reads when it starts (locale, PYTHON*, flags) is the key of a server.
Where that cannot be had a real interpreter starts; tests/test_forked.py compares the two.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.fork_server import HEAD, REPLY, SYS_CLONE

_SERVER = str(Path(__file__).with_name("fork_server.py"))
_READ_AT_START = ("PYTHON", "LANG", "LC_", "TZ")
_CANNOT = ("LD_", "GLIBC", "MALLOC_", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS")
_Key = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]
_servers: dict[_Key, socket.socket] = {}
_processes: list[subprocess.Popen[bytes]] = []


class Popen(subprocess.Popen[Any]):
    """As subprocess.Popen; [python, -I?, -m MODULE | -c SOURCE | SCRIPT.py, words...] is forked."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        if not self._is_forked(args, rest):
            super()._execute_child(args, *rest)

    def _is_forked(self, args: Any, rest: tuple[Any, ...]) -> bool:
        (executable, preexec, close, passed, cwd, env, _, _, shell, stdin, to_stdin, from_stdout, stdout, from_stderr,
         stderr, _, gid, gids, uid, umask, session, group) = rest  # fmt: skip
        if executable is not None or preexec or not close or passed or shell or isinstance(args, str | bytes):
            return False
        words = [os.fsdecode(word) for word in args]
        environ = {
            os.fsdecode(name): os.fsdecode(value) for name, value in (os.environ if env is None else env).items()
        }
        server = _server_for(words, environ)
        if server is None:
            return False
        mask = os.umask(0)
        os.umask(mask)
        request = {
            "argv": words, "options": int(words[1] == "-I"), "env": environ,
            "cwd": None if cwd is None else os.fsdecode(cwd),
            "umask": mask if umask < 0 else umask, "session": bool(session), "group": group, "gids": gids, "gid": gid,
            "uid": uid,
        }  # fmt: skip
        here = os.open(".", os.O_PATH | os.O_DIRECTORY)
        fds = [stdin if stdin >= 0 else 0, stdout if stdout >= 0 else 1, stderr if stderr >= 0 else 2, here]
        try:
            body = json.dumps(request).encode()
            socket.send_fds(server, [HEAD.pack(len(body))], fds)
            server.sendall(body)
            pid, refused = REPLY.unpack(server.recv(REPLY.size, socket.MSG_WAITALL))
        finally:
            os.close(here)
        if refused:
            os.waitpid(pid, 0)
            raise OSError(refused, os.strerror(refused), request["cwd"] or words[0])
        self.pid, self._child_created = pid, True
        self._close_pipe_fds(stdin, to_stdin, from_stdout, stdout, from_stderr, stderr)
        return True


def run(
    argv: Sequence[Any], *, input: Any = None, capture_output: bool = False, timeout: float | None = None,  # noqa: A002
    check: bool = False, **options: Any,
) -> "subprocess.CompletedProcess[Any]":  # fmt: skip
    """As subprocess.run."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with Popen(argv, **options) as process:
        try:
            said = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done: subprocess.CompletedProcess[Any] = subprocess.CompletedProcess(argv, process.returncode, *said)
    if check:
        done.check_returncode()
    return done


def end_servers() -> None:
    """Before a library goes that one of them has loaded: it names it in its environment."""
    for server in _servers.values():
        if server:
            server.close()
    for process in _processes:
        process.wait(timeout=30)
    _servers.clear()
    _processes.clear()


def _server_for(words: list[str], environ: dict[str, str]) -> socket.socket | None:
    flags = tuple(words[1:2]) if words[1:2] == ["-I"] else ()
    first = words[1 + len(flags)] if len(words) > 1 + len(flags) else ""
    is_known = (first in ("-m", "-c") and len(words) > 2 + len(flags)) or _is_a_script(first)
    if not is_known or os.uname().machine not in SYS_CLONE or sys.platform != "linux":
        return None
    if not os.path.basename(words[0]).startswith("python") or any(name.startswith(_CANNOT) for name in environ):
        return None
    key = (words[0], flags, tuple(sorted(item for item in environ.items() if item[0].startswith(_READ_AT_START))))
    if key not in _servers:
        _servers[key] = _started(key)
    return _servers[key]


def _is_a_script(word: str) -> bool:
    """ahead.py moves the clock, and does it before anything is imported that has read it."""
    return word.endswith(".py") and not word.endswith("/ahead.py")


def _started(key: _Key) -> socket.socket:
    """Without anything that a test could take for a sign of use: no directory, no file, no variable of a test."""
    ours, its = socket.socketpair()
    with its:
        argv = [key[0], *key[1], _SERVER, str(its.fileno())]
        env = {"PATH": "/usr/bin:/bin", **dict(key[2])}
        none = subprocess.DEVNULL
        _processes.append(
            subprocess.Popen(argv, env=env, cwd="/", stdin=none, stdout=none, stderr=none, pass_fds=[its.fileno()])
        )
    return ours

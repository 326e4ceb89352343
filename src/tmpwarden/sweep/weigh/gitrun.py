"""Run git in a repository that may be hostile: without the user's settings or environment, writing nothing, in time."""

from __future__ import annotations

import os
import shutil
import subprocess
import time

TIME_LIMIT_S = 20.0  # for all questions about one repository
_PROGRAMS = ("/usr/bin/git", "/usr/local/bin/git", "/bin/git", "/opt/homebrew/bin/git")
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false", "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null", "core.checkStat=default", "core.trustctime=true", "core.pager=cat",
    "core.sshCommand=false", "core.askPass=false", "credential.helper=", "diff.external=", "protocol.allow=never",
    "core.bare=false", "status.showUntrackedFiles=no", "status.aheadBehind=false", "gc.auto=0",
)  # fmt: skip


class Unclear(Exception):
    """Could not be inspected."""


class Git:
    """Questions to the repository in one open directory. Its configuration must have been found harmless before."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.deadline = time.monotonic() + TIME_LIMIT_S

    def succeeds(self, *words: str) -> bool:
        """Yes or no, as git says them: 0 or 1. Anything else is no answer."""
        status, _ = self._run(words)
        if status not in (0, 1):
            raise Unclear
        return status == 0

    def output(self, *words: str) -> bytes:
        """What it prints. Raises Unclear if it fails or takes too long."""
        status, output = self._run(words)
        if status != 0:
            raise Unclear
        return output

    def _run(self, words: tuple[str, ...]) -> tuple[int, bytes]:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        try:
            with _Child(
                [_program(), "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs", *settings, *words],
                cwd=f"/proc/self/fd/{self.fd}",
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as child:
                try:
                    output, _ = child.communicate(timeout=max(0.1, self.deadline - time.monotonic()))
                finally:
                    child.kill()
        except (OSError, subprocess.SubprocessError):
            raise Unclear from None
        if child.was_taken_away:
            raise Unclear
        return child.returncode, output


class _Child(subprocess.Popen[bytes]):
    """Knows when its status is a guess: in a host that ignores SIGCHLD, or reaps every child itself, the standard
    library answers 0, and a git that failed would have said that nothing is lost."""

    was_taken_away = False

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        try:
            return os.waitpid(self.pid, wait_flags)
        except ChildProcessError:
            self.was_taken_away = True
            return self.pid, 0


def _program() -> str:
    found = next((path for path in _PROGRAMS if os.access(path, os.X_OK)), None) or shutil.which("git")
    if found is None:
        raise Unclear
    return found


def _environment() -> dict[str, str]:
    """Nothing of ours: no settings, helpers, pagers, traces or repositories that the user's environment names."""
    return {
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_DIR": ".git",
        "GIT_WORK_TREE": ".",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
    }

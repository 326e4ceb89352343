"""Run git in a repository that may be hostile: without the user's settings or environment, writing nothing, in time.

Silence is no answer. Each call ends with a mark that git itself prints into the same pipe after the answer: where it
stood, what HEAD is, and a word that only this call knows, with the status of the question. An answer without the mark,
or one whose HEAD or places are not what lies on the disk, is Unclear.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress

from ..lazy_dataclass import dataclass, field
from ..oskit import system
from ..oskit.files.opening import closing
from .gitdir import Unclear, head_in

TIME_LIMIT_S = 20.0  # for all questions about one repository
_PROGRAMS = ("/usr/bin/git", "/usr/local/bin/git", "/bin/git", "/opt/homebrew/bin/git")
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false", "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null", "core.checkStat=default", "core.trustctime=true", "core.pager=cat",
    "core.sshCommand=false", "core.askPass=false", "credential.helper=", "diff.external=", "protocol.allow=never",
    "status.showUntrackedFiles=no", "status.aheadBehind=false", "gc.auto=0", "filter.lfs.clean=", "filter.lfs.smudge=",
    "filter.lfs.process=", "filter.lfs.required=false", "log.showSignature=false", "submodule.recurse=false",
)  # fmt: skip
# The default branch of a remote was renamed; a bundle is as it should be: git says so, and nothing is wrong.
_NO_COMPLAINT = re.compile(rb"warning: ignoring dangling symref refs/remotes/[^\n]+/HEAD\n?|[^\n]+\.bundle is okay\n?")
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_LONGEST_SHOWN = 160
# Who makes commits of ours.
NOBODY = {f"GIT_{who}_{key}": f"tmpwarden{more}" for who in ("AUTHOR", "COMMITTER")
          for key, more in (("NAME", ""), ("EMAIL", "@localhost"))}  # fmt: skip
# What git runs: the question, then the mark. One alias, so that the git that was asked prints all of it.
_ALIAS = "tmpwarden-asks"
_SCRIPT = """!f() {
mark=$1; shift; git "$@"; status=$?
[ $status -lt 2 ] || exit $status
printf '\\n%s\\n%s\\n' "$(pwd -P)" "$(cd -- "$GIT_DIR" && pwd -P)" || exit 99
printf 'HEAD\\n%s.%s\\n' "$mark" $status | git cat-file "--batch-check=%(objectname)" || exit 99
exit $status
}; f"""


@dataclass(slots=True)
class Git:
    """Questions to one repository. Its configuration must have been found harmless before."""

    fd: int  # the directory that git starts in
    directory: str = ".git"  # GIT_DIR, seen from there
    work_tree: str | None = "."
    environment: dict[str, str] = field(default_factory=dict)
    deadline: float = field(default_factory=lambda: time.monotonic() + TIME_LIMIT_S)

    def succeeds(self, *words: str) -> bool:
        """Yes or no, as git says them: 0 or 1. Anything else is no answer."""
        status, _ = self._run(words)
        if status not in (0, 1):
            raise Unclear(f"git {words[0]} ended with status {status}")
        return status == 0

    def output(self, *words: str, stdin: bytes | None = None) -> bytes:
        """What it prints. Raises Unclear if it fails, complains or takes too long."""
        status, output = self._run(words, stdin)
        if status != 0:
            raise Unclear(f"git {words[0]} ended with status {status}")
        return output

    def _run(self, words: tuple[str, ...], stdin: bytes | None = None) -> tuple[int, bytes]:
        settings = [*_SETTINGS, f"core.bare={'false' if self.work_tree else 'true'}", f"alias.{_ALIAS}={_SCRIPT}"]
        options = [word for setting in settings for word in ("-c", setting)]
        mark = f"end{os.urandom(8).hex()}"
        words = ("--no-optional-locks", "--no-replace-objects", "--literal-pathspecs", *options, _ALIAS, mark, *words)
        status, output, complaint = self._spawn(words, stdin)
        if complaint := _NO_COMPLAINT.sub(b"", complaint).strip():
            raise Unclear(f"git says: {_first_line(complaint)}")
        if status not in (0, 1):
            return status, b""  # no answer, whatever it says
        return status, self._answer(output, f"{mark}.{status} missing\n".encode())

    def _answer(self, output: bytes, end: bytes) -> bytes:
        """What stands before the mark. Raises Unclear if the mark is missing or speaks of something else."""
        if not output.endswith(end):
            raise Unclear("git's answer was empty or incomplete")
        try:
            with closing(os.open(self.directory, _DIRECTORY, dir_fd=self.fd)) as own:
                head = head_in(own)
                ours = (system.descriptors.path_of(self.fd), system.descriptors.path_of(own))
        except OSError as error:
            raise Unclear(f"its HEAD cannot be read: {error}") from None
        place = "".join(f"\n{path}" for path in ours)
        expected = os.fsencode(f"{place}\n{head or 'HEAD missing'}\n") + end
        if not output.endswith(expected):
            raise Unclear("git answered for another repository, or for another state of it than is on disk")
        return output.removesuffix(expected)

    def _spawn(self, words: tuple[str, ...], stdin: bytes | None) -> tuple[int, bytes, bytes]:
        """Its status, what it printed, and what it complained about."""
        try:
            with _Child(
                [program(), *words],
                cwd=system.descriptors.way_to(self.fd),
                env=self._environment(),
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
            ) as child:
                try:
                    output, complaint = child.communicate(stdin, timeout=max(0.1, self.deadline - time.monotonic()))
                finally:
                    child.end_all()
        except subprocess.TimeoutExpired:
            raise Unclear("git took too long") from None
        except (OSError, subprocess.SubprocessError) as error:
            raise Unclear(f"git could not be run: {error}") from None
        if child.was_taken_away:
            raise Unclear("the exit status of git is not known")
        return child.returncode, output, complaint

    def _environment(self) -> dict[str, str]:
        where = {"GIT_DIR": self.directory} | ({"GIT_WORK_TREE": self.work_tree} if self.work_tree else {})
        return environment() | where | self.environment


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

    def end_all(self) -> None:
        """It, and what it started. Nothing if it has ended: its number may be somebody else's by then."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def _first_line(complaint: bytes) -> str:
    """The first line of what git said: the reason, not the advice after it."""
    line = complaint.split(b"\n")[0].decode("utf-8", "replace")
    return line if len(line) <= _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}..."


def program() -> str:
    git_path = next((path for path in _PROGRAMS if os.access(path, os.X_OK)), None) or shutil.which("git")
    if git_path is None:
        raise Unclear("git is not installed")
    return git_path


def environment() -> dict[str, str]:
    """Nothing of ours: no settings, helpers, pagers, traces or repositories that the user's environment names."""
    return {
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
    }

"""Claude Code: the common shapes, and two things that only it has. Measured on 2.1.325."""

import posix

from ...oskit import system
from ...oskit.proc.own_mount import frozen_way
from ...small_files import read
from ...small_json import decode_object
from .common import Answer, Dialect

_LONGEST = 4 << 20


class Spoken(Dialect):
    __slots__ = ()

    def is_sandboxed(self, environ: dict[bytes, bytes], payload: Answer) -> bool:
        """`sandbox.enabled`, from the last of its settings that says so. Its shell line holds if we misread them."""
        home = environ.get(b"CLAUDE_CONFIG_DIR") or environ.get(b"HOME", b"") + b"/.claude"
        project = environ.get(b"CLAUDE_PROJECT_DIR", b"") + b"/.claude"
        is_on = False
        for path in (home + b"/settings.json", project + b"/settings.json", project + b"/settings.local.json"):
            is_on = _sandbox(_settings(path), is_on)
        return _sandbox(_settings_argument(environ.get(b"CLAUDE_PID", b"")), is_on)

    def output_directories(self, temp: str, session: str) -> list[str]:
        """Where the output of this session's background commands grows: T/claude-<uid>/<project>/<session>/tasks."""
        base = f"{temp}/claude-{posix.geteuid()}"
        try:
            return [f"{base}/{project}/{session}/tasks" for project in posix.listdir(base)]
        except OSError:
            return []


def _sandbox(settings: Answer, otherwise: bool) -> bool:
    sandbox = settings.get("sandbox")
    enabled = sandbox.get("enabled") if isinstance(sandbox, dict) else None
    return enabled if isinstance(enabled, bool) else otherwise


def _settings(path: bytes) -> Answer:
    """Nothing where its mount does not respond: a session starts without our knowing."""
    if frozen_way(path.decode("utf-8", "surrogateescape")):
        return {}
    return decode_object(read(path, _LONGEST, flags=0) or b"") or {}


def _settings_argument(pid: bytes) -> Answer:
    """`--settings FILE-OR-JSON` on the agent's own command line."""
    words = system.hot.arguments(int(pid), _LONGEST) if pid.isdigit() else []
    argument = words[words.index("--settings") + 1] if "--settings" in words[:-1] else ""
    content = argument.encode("utf-8", "surrogateescape")
    if content.lstrip().startswith(b"{"):
        return decode_object(content) or {}
    return _settings(content) if content else {}

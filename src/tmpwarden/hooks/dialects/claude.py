"""Claude Code. Measured on 2.1.325; every answer here is its own JSON."""

import posix

from .spoken import Answer, Dialect


class Claude(Dialect):
    agent = "claude"
    tools = {  # noqa: RUF012
        "Bash": "shell",
        "Read": "read",
        "Write": "write",
        "Edit": "edit",
        "MultiEdit": "edit",
        "NotebookEdit": "notebook",
    }
    config_variable = "CLAUDE_CONFIG_DIR"

    def owner_pid(self, environ: dict[bytes, bytes], payload: Answer) -> int:
        """CLAUDE_PID is the same over all events of one process, subagents and /clear included."""
        told = environ.get(b"CLAUDE_PID", b"")
        return int(told) if told.isdigit() and len(told) < 10 else super().owner_pid(environ, payload)

    def output_directories(self, temp: str, session: str) -> list[str]:
        """Where the output of this session's background commands grows: T/claude-<uid>/<project>/<session>/tasks."""
        base = f"{temp}/claude-{posix.geteuid()}"
        try:
            return [f"{base}/{project}/{session}/tasks" for project in posix.listdir(base)]
        except OSError:
            return []


DIALECT = Claude()

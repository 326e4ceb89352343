"""What a hook costs an agent, against the interpreter that has to start anyway."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.frame import Line, Run, interleaved, ratio, timed

_ROOT = Path(__file__).parents[1]
_RUN = str(_ROOT / "src" / "tmpwarden" / "hooks" / "run.py")
_PLUGIN = "PostToolUse hook as the plugin runs it: sh -c, launcher, hook"
_PYTHON = "/usr/bin/python3"
_BARE = "python3 -I -S -c pass"
_SESSION = "4ccb12f1-61e7-48ad-9bec-1437a2f881f7"
_COMMAND = "cd /work && grep -rn TODO src | head; rm -rf /tmp/b && mkdir -p /tmp/b && make -j2 > /tmp/b/log 2>&1"
_EVENTS = (  # event, what it is, gate, goal
    ("PostToolUse", "PostToolUse hook, nothing to do", 1.2, 1.0),
    ("Stop", "Stop hook, nothing to do", 1.35, 1.2),
    ("PreToolUse", "PreToolUse hook, full evaluation", 2.0, 1.8),
    ("SessionStart", "SessionStart hook (once a session)", None, None),
    ("SessionEnd", "SessionEnd hook (once a session)", None, None),
)


def lines(quick: bool) -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="tw-bench-") as base:
        world, guarded = _World(Path(base, "plain")), _World(Path(base, "guarded"))
        contenders = {_BARE: lambda: timed([_PYTHON, "-I", "-S", "-c", "pass"], world.env)}
        for event, *_ in _EVENTS:
            where = guarded if event == "PreToolUse" else world
            contenders[event] = lambda event=event, where=where: where.call(event)  # type: ignore[misc]
        plugin = ["/bin/sh", "-c", _plugin_command("PostToolUse")]
        contenders[_PLUGIN] = lambda: world.call("PostToolUse", plugin)
        for run in contenders.values():
            run()  # compiled modules and rules are there from the second call on
        runs = interleaved(contenders, 9 if quick else 41)
        for event, what, gate, goal in _EVENTS:
            wall = ratio(runs, event, _BARE)
            peers = "; Dippy 9.5, cc-safety-net 10.9, nah 11.7 (facts)" if event == "PreToolUse" else ""
            note = f"wall {wall:.2f}{peers}"
            yield Line(what, ratio(runs, event, _BARE, "cpu_s"), f"x {_BARE}, CPU", gate, goal, note)
        whole = ratio(runs, _PLUGIN, _BARE, "cpu_s")
        yield Line(_PLUGIN, whole, f"x {_BARE}, CPU", 1.6, 1.2, f"wall {ratio(runs, _PLUGIN, _BARE):.2f}")


def _plugin_command(event: str) -> str:
    hooks = json.loads((_ROOT / "src" / "hooks" / "hooks.json").read_text())["hooks"]
    return str(hooks[event][0]["hooks"][0]["command"])


class _World:
    """A home of its own, with nothing due."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.notes = base / "state" / "tmpwarden" / "hooks"
        for path in (self.notes, base / "tmp", base / "config"):
            path.mkdir(parents=True, mode=0o700)
        self.env = {
            "HOME": str(base),
            "PATH": "/usr/bin:/bin",
            "XDG_STATE_HOME": str(base / "state"),
            "XDG_CONFIG_HOME": str(base / "config"),
            "TMPWARDEN_ROOTS": str(base / "tmp"),
            "CLAUDE_PLUGIN_ROOT": str(_ROOT / "src"),
            "CLAUDE_PID": str(os.getpid()),
            "CLAUDE_ENV_FILE": str(base / "env"),
            "AI_AGENT": "claude-code_2-1-325_harness",
        }

    def call(self, event: str, argv: list[str] | None = None) -> Run:
        for name, seconds in (("markers.due", 50), ("clean.due", 3000)):
            (self.notes / name).touch()
            os.utime(self.notes / name, (time.time() + seconds,) * 2)
        payload = {"session_id": _SESSION, "hook_event_name": event, "cwd": "/work", "tool_name": "Bash"}
        payload_file = self.base / f"{event}.json"
        whole = payload | {"tool_input": {"command": _COMMAND}}
        payload_file.write_text(json.dumps(whole, separators=(",", ":")))  # as agents write it
        return timed(argv or [_PYTHON, "-I", "-S", _RUN, "claude", event], self.env, stdin=str(payload_file))

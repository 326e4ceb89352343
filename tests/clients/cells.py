"""One session of a real agent, set up by `tmpwarden setup`, and how it ended: what its commands made, what was left.

A cell is an agent and an end. Right after the end and after one clean two hours later the temp root is listed.
"""

import json
import re
import shlex
from dataclasses import asdict, dataclass

from clients.harness import CLIENTS, NPM, run_agent, run_claude
from clients.set_up import by_function, setup, two_hours_later

ENDS = ("exit", "large output", "INT", "HUP", "TERM", "KILL", "TERM, idle", "KILL, idle")
_BIG = "head -c 4800000 /dev/zero | tr '\\0' x | fold -w 100"
_MADE = "mktemp >>~/made; mktemp -d >>~/made"
_PROBE = f"/usr/bin/python3 {CLIENTS}/agents/probe.py orig"
# Whatever lives above the command but the harness, from the top: also `tmpwarden run` of a shell function.
_KILL_ALL = """p=$PPID; all=
while [ "$p" -gt 1 ]; do
    case $(tr '\\0' ' ' </proc/$p/cmdline) in *run_agent.py*) break ;; esac
    all="$p $all"; p=$(cut -d' ' -f4 /proc/$p/stat)
done
"""
_ASIDE = "-path '*/node-compile-cache/*' -o -path '*/tmpwarden-1000/q/*'"
_LIST = f"find /tmp -mindepth 1 \\( {_ASIDE} \\) -prune -o -printf '%y %p\\n'"


@dataclass(frozen=True)
class Cell:
    agent: str
    end: str
    made: tuple[str, ...]  # by mktemp, in its commands
    at_end: tuple[str, ...]  # "f /tmp/x": kind and path
    later: tuple[str, ...]  # the same after one clean at +2 h
    status: object  # of the agent
    signalled: bool
    lives_on: bool  # the signal did not end it; its user's next one does

    def line(self, version: str) -> str:
        return json.dumps({**asdict(self), "version": version, "status": None}, sort_keys=True)


def measure(agent: str, end: str) -> Cell:
    return _claude(end) if agent == "claude" else _other(agent, end)


def _after() -> str:
    """A command outlives some agents; a user's next login would not find it."""
    ended = "sleep 4; pkill -KILL -f 'prob[e].py orig'; pkill -KILL -f 'slee[p] 41'; sleep 1"
    alive = f"echo == alive; pgrep -u 1000 -f '{NPM}/[a-z]' && pkill -KILL -u 1000 -f '{NPM}/[a-z]'; sleep 1"
    steps = [
        alive,
        "echo == made",
        "cat ~/made",
        "echo == end",
        _LIST,
        two_hours_later("clean", "--force", "--quiet", ">&2"),
    ]
    return "; ".join([ended, *steps, "echo == later", _LIST])


def _sections(said: str) -> dict[str, tuple[str, ...]]:
    parts = re.split(r"^== (\w+)\n", said, flags=re.MULTILINE)
    assert parts[1::2] == ["alive", "made", "end", "later"], said
    return {name: tuple(sorted(text.splitlines())) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _other(agent: str, end: str) -> Cell:
    signal, _, idle = end.partition(", ")
    options = ["--argv", by_function(agent)] if agent == "copilot" else []
    command = f"{_MADE}; {_BIG if end == 'large output' else _PROBE}"
    if signal.isupper():
        options += [
            "--end",
            signal.lower(),
            "--target",
            "group" if idle else "agent",
            "--hang",
            "model" if idle else "shell",
        ]
    if agent == "copilot" and signal == "KILL":  # the harness kills no shell and nothing below one
        strike = "kill -KILL $all" if not idle else "setsid sh -c 'sleep 2; kill -KILL '\"$all\" >/dev/null 2>&1 &"
        command = f"{_MADE}; sh ~/strike"
        made = f"printf %s {shlex.quote(_KILL_ALL + strike)} >~/strike && "
    else:
        made = ""
    result = run_agent(agent, *options, "--cmd", command, setup=made + setup(), post=_after())
    post = result["post"]
    assert isinstance(post, dict)
    listed = _sections(str(post["out"]))
    was_signalled = bool(result["signalled"]) or (agent == "copilot" and result["rc"] in (-9, 137))
    return Cell(agent, end, *_kept(listed), result["rc"], was_signalled, bool(listed["alive"]))


def _kept(listed: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    return listed["made"], listed["end"], listed["later"]


def _claude(end: str) -> Cell:
    signal, _, idle = end.partition(", ")
    command = {"large output": f"{_MADE}; {_BIG}"}.get(end, _MADE)
    hangs = signal.isupper() and not idle
    call = {"tool": "Bash", "input": {"command": command + ("; sleep 41" if hangs else ""), "description": "look"}}
    script = {"scripts": {"main": [call, {"text": "done", **({"delay": 40} if idle else {})}]}}
    options = ["--signal", signal, "--signal-at", "main:1:1.5" if idle else "main:0:10"] if signal.isupper() else []
    result = run_claude(json.dumps(script), *options, "--pre", setup(), "--post", _after())
    pre, post = result["pre"], result["post"]
    assert isinstance(pre, dict) and isinstance(post, dict)
    assert pre["rc"] == 0, pre
    listed = _sections(str(post["out"]))
    return Cell("claude", end, *_kept(listed), result["rc"], bool(result["timeline"]), bool(listed["alive"]))

"""The guard before every tool call: the whole hook beside a bare interpreter and its peers; the evaluation alone."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.frame import Line, Run, against, interleaved, ratio, timed

_REPO = Path(__file__).parents[1]
_PEERS = Path.home() / ".cache" / "tmpwarden-bench"
_CASES = _REPO / "tests" / "guard" / "cases" / "redirect.jsonl"
_BARE = "python3 -I -S -c pass"
_HOOK = "PreToolUse hook, full evaluation, CPU"
_NOTHING = "PreToolUse hook, nothing to judge, CPU"
_COMMAND = "cd src && grep -rn TODO . | head -20 > /tmp/todo.txt; rm -rf /tmp/build && mkdir -p /tmp/build/out"
_IN_PROCESS = 10_000
# What the plugin does that started this project: a launcher in sh, node, a payload as JSON, one expression.
# Dippy, another peer, is in no registry (the `dippy` of PyPI is another program): measured once, x 9.5.
_SEED_SHAPE = (
    'const p=JSON.parse(require("fs").readFileSync(0,"utf8"));'
    'const c=p.tool_input.command.replace(/(?<![\\w.])\\/tmp(?=\\/|$)/g,"/tmp/s");'
    'console.log(JSON.stringify({hookSpecificOutput:{hookEventName:"PreToolUse",updatedInput:{command:c}}}))'
)


@contextmanager
def world() -> Iterator[tuple[Path, dict[str, str]]]:
    base = Path(tempfile.mkdtemp(prefix="twbench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        for name in ("home", "tmp", "state", "config", "project"):
            (base / name).mkdir(mode=0o700)
        env = {"PATH": os.environ["PATH"], "HOME": str(base / "home"), "TMPWARDEN_ROOTS": str(base / "tmp")}
        yield base, env | {"XDG_STATE_HOME": str(base / "state"), "XDG_CONFIG_HOME": str(base / "config")}
    finally:
        shutil.rmtree(base, ignore_errors=True)


def lines(quick: bool) -> Iterable[Line]:
    with world() as (base, env):
        payload = base / "payload.json"
        payload.write_text(json.dumps(_payload(base)))
        yield _hook(payload, base, env, 15 if quick else 60)
        yield _first_look(base, env, 15 if quick else 60)
    yield Line(
        "  Dippy", None, "not here: it is in no registry (the `dippy` of PyPI is another program); once 9.5 x bare"
    )
    yield from _evaluation(_IN_PROCESS // 10 if quick else _IN_PROCESS)


def _payload(base: Path) -> dict[str, object]:
    return {
        "session_id": "4ccb12f1-61e7-48ad-9bec-1437a2f881f7",
        "transcript_path": str(base / "t.jsonl"),
        "cwd": str(base / "project"),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": _COMMAND, "description": "build"},
        "tool_use_id": "toolu_1",
    }


def _hook(payload: Path, base: Path, env: dict[str, str], reps: int) -> Line:
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    ours = [python, "-I", "-S", str(_REPO / "src/tmpwarden/hooks/run.py"), "claude", "PreToolUse"]
    contenders = {_BARE: [python, "-I", "-S", "-c", "pass"], "tmpwarden": ours, **_peers(base)}
    begin = base / "start.json"
    begin.write_text(json.dumps(_payload(base) | {"hook_event_name": "SessionStart", "source": "startup"}))
    timed([*ours[:-1], "SessionStart"], env, stdin=str(begin))
    for argv in contenders.values():  # caches, compiled files
        timed(argv, env, stdin=str(payload))

    def runner(argv: list[str]) -> Run:
        return timed(argv, env, stdin=str(payload))

    runs = interleaved({name: (lambda argv=argv: runner(argv)) for name, argv in contenders.items()}, reps)
    note = against(runs, _BARE, but="tmpwarden", of="cpu_s")
    answered = subprocess.run(ours, env=env, stdin=payload.open(), capture_output=True, text=True, check=False).stdout
    if "permissionDecision" not in answered or "could not check" in answered:
        return Line(_HOOK, None, "the hook did not evaluate: " + answered[:80])
    return Line(_HOOK, ratio(runs, "tmpwarden", _BARE, "cpu_s"), "x bare interpreter", 2.0, 1.8, note)


def _first_look(base: Path, env: dict[str, str], reps: int) -> Line:
    """A call with nothing to judge, in the world that the hook above has warmed."""
    payload = base / "nothing.json"
    payload.write_text(json.dumps(_payload(base) | {"tool_input": {"command": "git status && npm test"}}))
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    ours = [python, "-I", "-S", str(_REPO / "src/tmpwarden/hooks/run.py"), "claude", "PreToolUse"]
    contenders = {_BARE: [python, "-I", "-S", "-c", "pass"], "tmpwarden": ours, **_peers(base)}
    for argv in contenders.values():
        timed(argv, env, stdin=str(payload))
    runs = interleaved(
        {name: (lambda argv=argv: timed(argv, env, stdin=str(payload))) for name, argv in contenders.items()}, reps
    )
    note = against(runs, _BARE, but="tmpwarden", of="cpu_s")
    return Line(_NOTHING, ratio(runs, "tmpwarden", _BARE, "cpu_s"), "x bare interpreter", 1.25, 1.1, note)


def _peers(base: Path) -> dict[str, list[str]]:
    """cc-safety-net and nah, installed on demand beside the user's caches; without a network they are left out."""
    found: dict[str, list[str]] = {}
    net = _PEERS / "safety-net"
    node = shutil.which("node")
    script = net / "node_modules/.bin/cc-safety-net"
    if node and (script.exists() or _install(["npm", "install", "--prefix", str(net), "cc-safety-net@2.4.5"])):
        found["cc-safety-net 2.4.5"] = [os.path.realpath(node), str(script), "hook", "--claude-code"]
    nah = _PEERS / "nah"
    python = nah / "bin/python"
    if not (nah / "bin/nah").exists():
        _install([sys.executable, "-m", "venv", str(nah)])
        _install([str(python), "-m", "pip", "install", "--quiet", "nah==0.11.0"])
    if (nah / "bin/nah").exists():
        found["nah 0.11.0"] = [str(python), "-m", "nah.hook"]
    if node:
        found["the seed plugin's shape (sh, node, one regexp)"] = ["/bin/sh", "-c", f"exec {node} -e '{_SEED_SHAPE}'"]
    return found


def _install(argv: list[str]) -> bool:
    _PEERS.mkdir(parents=True, exist_ok=True)
    try:
        return subprocess.run(argv, capture_output=True, timeout=300, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def corpus(count: int) -> list[str]:
    """Commands of the cases, alone and joined in twos, until there are `count`."""
    commands = [json.loads(line)["command"] for line in _CASES.read_text().splitlines()]
    pairs = [f"{left} && {right}" for left in commands for right in commands if "<<" not in left]
    return (commands + pairs)[:count] if count <= len(commands) + len(pairs) else (commands + pairs) * 2


def _evaluation(count: int) -> Iterator[Line]:
    from tmpwarden.guard.context import AgentFacts, CallPlace, Context, Probes
    from tmpwarden.guard.decide.evaluate import evaluate
    from tmpwarden.guard.rules.config import load
    from tmpwarden.model.hot import ToolCall
    from tmpwarden.oskit.files.disk import Disk

    rules = load(()).rules
    commands = (corpus(count) * 2)[:count]
    took: list[float] = []
    for command in commands:
        start = time.thread_time()
        place = CallPlace(scratch="/tmp/agent-s1", project="/home/u/proj", cwd="/home/u/proj", home="/home/u", uid=1000)
        context = Context(place, Probes(Disk().look), AgentFacts())
        evaluate(ToolCall("claude", "shell", command=command, cwd="/home/u/proj"), rules, context)
        took.append(time.thread_time() - start)
    took.sort()
    what = f"evaluation in process, {len(commands):,} commands"
    yield Line(f"{what}, median", statistics.median(took) * 1000, "ms CPU")
    yield Line(f"{what}, p99", took[int(len(took) * 0.99)] * 1000, "ms CPU", note=f"worst {took[-1] * 1000:.1f} ms")

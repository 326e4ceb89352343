"""Real agents that end, are killed, and run side by side, under hooks and under `tmpwarden run`: what is left of whom.

A killed session's files go with the next session once their owner has been dead for a minute: these tests wait for it.
No clock is moved, nobody calls `clean`.
"""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.harness import NPM, PLUGIN, TMPWARDEN, bash, plain_run, run_agent, run_claude, tool_results
from support.bases import base_for_all

pytestmark = pytest.mark.clients
OTHERS = ("codex", "gemini", "copilot", "opencode", "qwen")
HOW = ("hooks", "run")
SCRATCH = r"/tmp/tmpwarden-1000/[0-9a-f]{8}"
CLAUDE = NPM / "claude/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
A_MINUTE_LATER = "sleep 62"

# Whoever comes first stays until the other session has ended and our hooks have had time to clear up after it.
STAY = """f=$(mktemp); echo "made $f"
if mkdir $PWD/first 2>/dev/null; then
    n=0; while [ ! -e $PWD/ended ] && [ $n -lt 120 ]; do sleep 0.5; n=$((n+1)); done; sleep 5
fi
[ -f "$f" ] && echo "kept $f"
"""
# The first to come makes a file and kills everybody above it but the harness, from the top: it dies with its parent.
# And one in its scratch, where its model was told to: in a pid namespace the kernel can be asked about files alone.
DIE = """mktemp; mkdir $PWD/first 2>/dev/null || exit 0
for s in /tmp/tmpwarden-1000/[0-9a-f]???????; do [ -d $s ] && echo mine >$s/note; done
p=$PPID; all=
while [ "$p" -gt 1 ]; do
    case $(tr '\\0' ' ' </proc/$p/cmdline) in *run_agent.py*|*run.py*) break ;; esac
    all="$p $all"; p=$(cut -d' ' -f4 /proc/$p/stat)
done
kill -KILL $all
"""


def argv_of(agent: str, how: str) -> str:
    """The command line of one session, as a shell takes it."""
    argv = plain_run(agent)["argv"]
    assert isinstance(argv, list)
    return shlex.join([str(TMPWARDEN), "run", "--agent", agent, "--", *argv] if how == "run" else argv)


def session(agent: str, how: str, step: str, script: str, post: str) -> dict[str, object]:
    """`script` is what the harness starts as the agent; `step` what the model asks for, once for each session."""
    setup = f"printf %s {shlex.quote(step)} > step"
    setup += f" && {TMPWARDEN} install {agent} >&2" if how == "hooks" else ""
    return run_agent(
        agent,
        "--steps",
        "2",
        "--cmd",
        "sh /home/w/step",
        "--argv",
        f"/bin/sh\x1f-c\x1f{script}",
        setup=setup,
        post=post,
    )


def ours_outside_quarantine(result: dict[str, object]) -> list[str]:
    """Scratches, their leases and what is in them; not the directories that hold the quarantines."""
    remain = result["remain"]
    assert isinstance(remain, dict)
    paths = [entry["path"] for found in remain.values() for entry in found if "/tmpwarden-1000/" in entry["path"]]
    return [path for path in paths if not re.search(r"/tmpwarden-1000/(q|q/.*)$", path)]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("agent", OTHERS)
def test_two_sessions_side_by_side_keep_their_files(agent: str, how: str) -> None:
    # one after the other: OpenCode's first start makes its database, and a second one meanwhile fails, without us too
    one = f"({argv_of(agent, how)}; echo $? >>status; touch ended)"
    result = session(agent, how, STAY, f"{one} & sleep 4; {one}; wait; sort -u status >&2", "sleep 4")
    told = json.dumps(result["model"])
    made, kept = (set(re.findall(rf"{word} (/tmp/[\w./-]+)", told)) for word in ("made", "kept"))
    assert len(made) == 2
    assert kept == made
    assert str(result["stderr"]).splitlines()[-1:] == ["0"]
    if how == "run" or agent == "opencode":  # elsewhere no hook can set TMPDIR
        assert len({re.match(SCRATCH, path).group() for path in made}) == 2  # type: ignore[union-attr]
        assert ours_outside_quarantine(result) == []


@pytest.mark.parametrize("agent", [name for name in OTHERS if name != "qwen"])
def test_nothing_of_ours_is_left_outside_quarantine_after_a_normal_exit(agent: str) -> None:
    """Nobody helps: the agent's own last event is enough. Qwen sends none with -p; its next session does it below."""
    result = session(agent, "hooks", "mktemp", argv_of(agent, "hooks"), "sleep 4")
    assert ours_outside_quarantine(result) == []


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("agent", OTHERS)
def test_nothing_of_ours_is_left_outside_quarantine_after_a_kill_and_one_further_session(agent: str, how: str) -> None:
    again = argv_of(agent, how)
    look = "echo before: $(ls /tmp/tmpwarden-1000)"
    result = session(agent, how, DIE, again, f"{look}; {A_MINUTE_LATER}; {again} >/dev/null 2>&1; echo $?; sleep 5")
    assert re.search(r"before:.* [0-9a-f]{8}\b", result["post"]["out"]) or agent == "copilot"  # type: ignore[index]
    assert result["post"]["out"].splitlines()[-1] == "0"  # type: ignore[index]
    left = ours_outside_quarantine(result)
    if agent == "qwen" and how == "hooks":  # the further session's own, which its own next one will clear
        left = [path for path in left if path.removesuffix(".lease") != last_scratch(result)]
    assert left == []


def last_scratch(result: dict[str, object]) -> str:
    remain = result["remain"]
    assert isinstance(remain, dict)
    leases = [entry["path"] for entry in remain["/tmp"] if entry["path"].endswith(".lease")]
    assert len(leases) <= 1
    return leases[0].removesuffix(".lease") if leases else ""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that the agent's user can reach."""
    with base_for_all() as base:
        base.chmod(0o777)
        yield base


def in_place_of_claude(shared: Path, how: str, text: str) -> dict[str, str]:
    """A program that the harness starts as Claude; `claude` in its text is the real one, under `run` if so told."""
    under = f"{TMPWARDEN} run --agent claude -- " if how == "run" else ""
    script = shared / "claude"
    script.write_text(f'#!/bin/sh\nclaude() {{ {under}{CLAUDE} "$@"; }}\n{text}\n')
    script.chmod(0o755)
    return {"CLAUDE_BIN": str(script)}


def claude_left(result: dict[str, object]) -> list[str]:
    remained = result["remained"]
    assert isinstance(remained, dict)
    return [path for path in remained if re.search(r"/tmpwarden-1000/(?!q$|q/)", path)]


@pytest.mark.parametrize("how", HOW)
def test_two_claudes_side_by_side_keep_their_files(shared: Path, how: str) -> None:
    one = '(claude "$@" >/dev/null 2>&1; echo $? >>status; touch ended)'
    environ = in_place_of_claude(shared, how, f'rm -rf first ended\n{one} &\n{one}\nwait\n[ "$(sort -u status)" = 0 ]')
    plugin = ("--plugin-dir", str(PLUGIN)) if how == "hooks" else ()
    result = run_claude(bash(STAY, STAY), *plugin, "--settle", "8", env=environ)
    told = tool_results(result)
    made, kept = (set(re.findall(rf"{word} ({SCRATCH})/tmp", told)) for word in ("made", "kept"))
    assert len(made) == 2
    assert kept == made
    assert result["rc"] == 0
    assert claude_left(result) == []


@pytest.mark.parametrize("how", HOW)
def test_nothing_of_claude_is_left_outside_quarantine_after_a_kill_and_one_further_session(
    shared: Path, how: str
) -> None:
    environ = in_place_of_claude(shared, how, 'claude "$@"')
    plugin = ("--plugin-dir", str(PLUGIN)) if how == "hooks" else ()
    further = f"{environ['CLAUDE_BIN']} -p --permission-mode bypassPermissions {shlex.join(plugin)} 'SCRIPT:main go'"
    post = f"echo before: $(ls /tmp/tmpwarden-1000); {A_MINUTE_LATER}; {further} >/dev/null; echo $?; sleep 6"
    result = run_claude(bash(DIE, DIE), *plugin, "--post", post, env=environ)
    assert re.search(r"before:.* [0-9a-f]{8}\b", result["post"]["out"])  # type: ignore[index]
    assert result["post"]["out"].splitlines()[-1] == "0", result["post"]  # type: ignore[index]
    assert claude_left(result) == []

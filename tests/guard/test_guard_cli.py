"""`tmpwarden guard check | verify | log`, as programs and people call them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support import forked
from tmpwarden.guard.log import audit
from tmpwarden.model.hot import Decision, ToolCall


def run(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return forked.run(
        [sys.executable, "-m", "tmpwarden", "guard", *args],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def answer(*args: str) -> dict[str, object]:
    done = run(*args, "--json")
    document = json.loads(done.stdout)
    assert document["ok"] == (done.returncode == 0)
    return document  # type: ignore[no-any-return]


WORLD = ("--cwd", "/home/u/proj", "--scratch", "/tmp/agent-s1", "--project", "/home/u/proj", "--preset", "sandbox")


def test_check_says_how_it_runs_what_decides_and_why() -> None:
    document = answer("check", "rm -rf /tmp/agent-s1/x", *WORLD)
    assert document["data"] == {
        "command": "rm -rf /tmp/agent-s1/x",
        "rewritten": None,
        "decision": "allow",
        "reason": "proven: Everything it touches lies in the scratch.",
        "basis": "proven",
        "rule": "sandbox:arguments[0]",
        "commands": [
            {"argv": ["rm", "-rf", "/tmp/agent-s1/x"], "decision": "allow", "rule": "sandbox:arguments[0]"},
        ],
    }


def test_check_exits_with_0_whatever_the_decision() -> None:
    done = run("check", "rm -rf /etc", *WORLD)
    assert (done.returncode, done.stdout.splitlines()[0][:4], done.stderr) == (0, "ask:", "")


@pytest.mark.parametrize(("line", "status"), [("ls", 0), ("rm -rf /etc", 20), ("ls > /etc/x", 21)])
def test_check_can_exit_by_the_decision(line: str, status: int) -> None:
    assert run("check", line, "--exit-code", *WORLD).returncode == status


def test_check_reads_lines_and_answers_line_by_line() -> None:
    lines = 'ls\n{"command": "rm -rf x", "cwd": "/tmp/agent-s1"}\n\nrm -rf /etc\n'
    done = run("check", "-", "--exit-code", *WORLD, stdin=lines)
    assert [json.loads(line)["decision"] for line in done.stdout.splitlines()] == ["pass", "allow", "ask"]
    assert done.returncode == 20
    for broken in ('{"broken', '{"command": 5}', '{"command": "ls", "cwd": 5}', '{"cwd": "/"}'):
        assert run("check", "-", *WORLD, stdin=broken + "\n").returncode == 3


def test_a_line_in_braces_is_a_command() -> None:
    done = run("check", "-", *WORLD, stdin="{ ls; }\n{ rm -rf /etc; }\n{ls,-a}\n")
    assert [json.loads(line)["decision"] for line in done.stdout.splitlines()] == ["pass", "ask", "pass"]


@pytest.mark.parametrize(
    ("agent", "said"), [(None, "allow"), ("claude", "allow"), ("opencode", "allow"), ("codex", "deny")]
)
def test_check_knows_which_agents_commands_have_the_scratch_as_tmpdir(agent: str | None, said: str) -> None:
    document = answer("check", 'rm -rf "$TMPDIR"/x', *WORLD, *(("--agent", agent) if agent else ()))
    data = document["data"]
    assert isinstance(data, dict)
    assert data["decision"] == said


@pytest.mark.parametrize(
    ("args", "status", "code"),
    [
        (("check", "ls", "--preset", "sandbx"), 3, "bad-argument"),
        (("check", "ls", "--agent", "nobody"), 3, "unknown-agent"),
        (("check",), 3, "bad-argument"),
        (("verify", "--config", "/nonexistent/x.toml"), 3, "bad-config"),
    ],
)
def test_bad_arguments_are_told_in_the_envelope(args: tuple[str, ...], status: int, code: str | None) -> None:
    done = run(*args, "--json")
    assert done.returncode == status
    error = json.loads(done.stdout)["error"]
    assert (error and error["code"]) == code


def test_an_agent_that_cannot_ask_is_denied_with_the_reason() -> None:
    data = answer("check", "rm -rf /etc", *WORLD, "--agent", "codex")["data"]
    assert isinstance(data, dict)
    assert data["decision"] == "deny"
    assert "outside" in data["reason"]


def test_verify_lists_every_mistake_and_exits_with_3(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[guard]\nwrong = 1\ndeny = ['rm']\ndefault = 'allow'\n")
    done = run("verify", "--config", str(config), "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 3
    assert document["error"]["code"] == "bad-config"
    assert [(one["line"], one["key"], one["fatal"]) for one in document["data"]["mistakes"]] == [
        (2, "guard.wrong", True),
        (4, "guard.default", True),
        (3, "guard.deny[0]", False),
    ]
    people = run("verify", "--config", str(config))
    assert f"{config}:2: guard.wrong: unknown key" in people.stdout


def test_verify_finds_nothing_wrong_in_our_own_preset() -> None:
    assert answer("verify", "--preset", "sandbox")["data"]["mistakes"] == []  # type: ignore[index]


def test_log_shows_what_was_said_and_can_be_filtered(own_world: Path) -> None:
    state = str(own_world / "state" / "tmpwarden")
    for number, verdict in enumerate(("allow", "deny", "ask", "pass")):
        call = ToolCall("claude" if number % 2 else "codex", "shell", command=f"c{number}", session=f"s{number}")
        audit.record(state, call, Decision(verdict, rule=f"sandbox:arguments[{number}]"))

    def shown(*filters: str) -> list[object]:
        data = answer("log", *filters)["data"]
        assert isinstance(data, dict)
        return [entry["before"] for entry in data["entries"]]

    assert shown() == ["c0", "c1", "c2", "c3"]
    assert shown("--decision", "deny") == ["c1"]
    assert shown("--agent", "codex") == ["c0", "c2"]
    assert shown("--session", "s[!1]*", "-n", "2") == []
    assert shown("--session", "s*", "-n", "2") == ["c2", "c3"]
    assert shown("--grep", "c2") == ["c2"]
    assert shown("--since", "1h") == ["c0", "c1", "c2", "c3"]
    assert shown("--rule", "*arguments?3?") == ["c3"]
    assert "c1" in run("log").stdout


def test_a_log_that_does_not_exist_yet_is_an_empty_one() -> None:
    assert answer("log")["data"] == {"entries": []}


def test_check_takes_the_directory_that_sessions_share_for_the_scratch_as_a_hook_does(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[redirect]\ntarget = "/tmp/claude"\n')
    for command in ("rm -rf /tmp/claude/x", 'rm -rf "$TMPDIR"/x'):
        document = answer("check", command, "--cwd", "/home/u/proj", "--project", "/home/u/proj")
        assert document["data"]["decision"] == "allow", document["data"]  # type: ignore[index]

"""`guard packs | import | stats`, and `guard log` with what ran: as programs and people call them."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support import forked
from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.cli.guarding.fencepost import converted, whole
from tmpwarden.doctor.checks import installation
from tmpwarden.doctor.patient import Patient
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.log import audit
from tmpwarden.guard.rules.config import load, preset_names
from tmpwarden.model.hot import Decision, ToolCall
from tmpwarden.model.request import Request
from tmpwarden.setup import apply, health, runtime


def run(*args: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tmpwarden", "guard", *args]
    return forked.run(command, capture_output=True, text=True, check=False, timeout=60)


def data(*args: str) -> dict[str, object]:
    done = run(*args, "--json")
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout)["data"]  # type: ignore[no-any-return]


def test_packs_are_listed_with_what_is_in_force(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[guard]\npresets = ["git"]\n')
    found = {pack["pack"]: pack for pack in data("packs")["packs"]}  # type: ignore[attr-defined]
    assert set(found) == set(preset_names())
    assert [name for name, pack in found.items() if pack["in_force"]] == ["git"]
    assert found["destructive"]["rules"] > 100
    assert "Rewritten history" in run("packs").stdout


def test_a_pack_explains_its_rules() -> None:
    said = run("packs", "show", "git").stdout
    assert "git:force-push (ask)" in said and "instead: git push --force-with-lease" in said
    assert "matches: git push --force" in said and "spares: git push" in said
    rules = data("packs", "show", "git")["rules"]
    assert {"git:hard-reset", "git:clean"} <= {rule["rule"] for rule in rules}  # type: ignore[attr-defined]
    assert json.loads(run("packs", "show", "gti", "--json").stdout)["error"]["code"] == "bad-argument"


def test_a_rule_about_a_tool_is_told_as_long_as_the_agent_does_not_call_the_guard_for_it(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    (own_world / "home" / ".claude").mkdir()
    apply.install("claude", guard=True)
    assert data("verify")["unreached"] == []
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[[guard.tools]]\ntool = "WebFetch|mcp__*"\ndecision = "ask"\n')
    assert data("verify")["unreached"] == ["claude"]
    (found,) = (state for state in health.of_hooks() if state.agent == "claude")
    assert (found.state, found.guard) == ("unreached", True)
    (told,) = installation.check_hooks(Patient(Request(), {}, hooks=(found,)))
    assert told.remedy == "tmpwarden install claude --guard"
    apply.install("claude", guard=True)
    assert "WebFetch|mcp__.*" in (own_world / "home" / ".claude" / "settings.json").read_text()
    assert data("verify")["unreached"] == []


def test_verify_says_where_a_rule_of_yours_does_not_do_what_it_says(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        '[[guard.commands]]\ncommand = "deploy prod"\ndescription = "x"\n'
        'matches = ["deploy prod", "deploy staging"]\nspares = ["deploy prod --dry-run"]\n'
    )
    mistakes = data("verify", "--config", str(config))["mistakes"]
    assert [(one["line"], one["message"]) for one in mistakes] == [  # type: ignore[attr-defined]
        (4, "the rule does not cover 'deploy staging'"),
        (5, "the rule covers 'deploy prod --dry-run'"),
    ]


def call(command: str, session: str = "s1") -> ToolCall:
    return ToolCall("claude", "shell", command=command, session=session, cwd="/")


def test_the_log_shows_what_was_asked_for_and_what_ran(own_world: Path) -> None:
    state = str(own_world / "state" / "tmpwarden")
    audit.record(state, call("ls"), Decision("pass"))
    audit.record(state, call("rm /tmp/a"), Decision("allow", rule="r", rewritten="rm /s/a"))
    audit.record(state, call("dd"), Decision("deny", rule="d"))
    audit.record(state, call("git push -f"), Decision("ask", rule="git:force-push"))
    audit.record(state, call("git clean -f"), Decision("ask", rule="git:clean"))
    assert audit.check_ran(state, call("git push -f"))
    assert not audit.check_ran(state, call("rm /tmp/a"))
    found = data("log")["entries"]
    assert [(one["before"], one["decision"], one["ran"]) for one in found] == [  # type: ignore[attr-defined]
        ("ls", "pass", "ls"),
        ("rm /tmp/a", "allow", "rm /tmp/a"),
        ("dd", "deny", None),
        ("git push -f", "ask", "git push -f"),
        ("git clean -f", "ask", None),
        ("rm /tmp/a", "mismatch", "rm /tmp/a"),
    ]
    assert "ASKED FOR" in run("log").stdout and "as asked" in run("log").stdout


def test_what_another_session_ran_is_not_what_was_asked_about(own_world: Path) -> None:
    state = str(own_world / "state" / "tmpwarden")
    audit.record(state, call("git push -f"), Decision("ask", rule="git:force-push"))
    audit.check_ran(state, call("git push -f", session="s2"))
    assert [one["ran"] for one in data("log")["entries"]] == [None]  # type: ignore[attr-defined]


def test_stats_count_rules_and_name_a_question_that_is_a_habit(own_world: Path) -> None:
    state = str(own_world / "state" / "tmpwarden")
    for number in range(5):
        audit.record(state, call(f"git reset --hard {number}"), Decision("ask", rule="git:hard-reset"))
        audit.check_ran(state, call(f"git reset --hard {number}"))
    audit.record(state, call("dd"), Decision("deny", rule="system:disks"))
    audit.record(state, call("ls"), Decision("pass"))
    found = [(one["rule"], one["said"], one["times"], one["done"]) for one in data("stats")["rules"]]  # type: ignore[attr-defined]
    assert found == [("system:disks", "deny", 1, 0), ("git:hard-reset", "ask", 5, 5), (None, "pass", 1, 0)]
    assert 'off = ["git:hard-reset"]' in run("stats").stdout
    assert data("stats", "--rule", "system:*")["decisions"] == {"deny": 1}
    assert "logged nothing that matches" in run("stats", "--agent", "nobody").stdout


THEIRS: dict[str, object] = {
    "import": ["claude", "git", "ansible"],
    "default": "allow",
    "onError": "deny",
    "guidance": {"enabled": True},
    "redirect": {"tmp": True, "tmpTarget": "/tmp/claude"},
    "secrets": {"enabled": True},
    "tools": {
        "deny": [{"tool": "mcp__old_*", "description": "Gone.", "alternative": "another"}],
        "ask": ["mcp__*"],
        "allow": ["Glob"],
        "bash": {
            "deny": ["git branch -D"],
            "ask": ["npm publish"],
            "normalise": [{"prefix": "kubectl", "strip": ["-n \\S+"]}],
            "checks": [
                {
                    "test": "\\brm\\s+(-[a-zA-Z]*r[a-zA-Z]*\\s+|--recursive)",
                    "description": "No.",
                    "alternative": "trash",
                },
                {"test": "git\\s+push\\b.*\\s(--force(?!-with-lease)|-f)\\b", "description": "No force."},
                {"test": "(a+)+(?=b)", "description": "costly"},
            ],
            "allowChecks": ["^rmdir /tmp/claude/[a-z]+$"],
            "redirects": [
                {"mode": "write", "outside": ["/tmp/claude", "."], "decision": "deny", "description": "Clobbers."},
                {"mode": "any", "glob": "/etc/**", "decision": "ask"},
            ],
            "arguments": [
                {"command": "rm", "allArgsInside": ["/tmp/claude"], "decision": "allow"},
                {"command": "rm", "anyArgMatches": "^--no-preserve-root$", "decision": "deny", "description": "Never."},
                {"command": "rm", "anyArgMatches": "[0-9]{3}", "decision": "deny"},
            ],
        },
    },
}


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git branch -D x", "deny"),
        ("npm publish", "ask"),
        ("sudo rm -rf x", "deny"),
        ("echo a > /srv/x", "deny"),
        ("cat < /etc/hosts", "ask"),
        ("git push --force", "deny"),
        ("rm --no-preserve-root x", "deny"),
        ("ls", "pass"),
        ("rmdir /tmp/claude/a", "allow"),
    ],
)
def test_imported_rules_decide_as_they_did(tmp_path: Path, command: str, wanted: str) -> None:
    path = tmp_path / "imported.toml"
    path.write_text(converted(THEIRS))
    loaded = load((str(path),))
    assert [str(mistake) for mistake in loaded.mistakes if mistake.fatal] == []
    context = context_with(scratch="/tmp/claude", project="/p", cwd="/p", home="/h", uid=1, look=look)
    assert evaluate(ToolCall("claude", "shell", command=command, cwd="/p"), loaded.rules, context).verdict == wanted


def test_an_import_says_where_the_meaning_differs() -> None:
    text = converted(THEIRS)
    comments = [line for line in text.splitlines() if line.startswith("# ")]
    for words in ("import ansible", "default was allow", "guidance", "normalise", "is left out", "only globs match"):
        assert any(words in line for line in comments), words
    document = tomllib.loads(text)
    assert document["redirect"] == {"tmp": True, "target": "/tmp/claude"}
    assert document["guard"]["presets"] == ["claude", "secrets"]
    assert "git rebase" in document["guard"]["ask"]
    tools = [rule["tool"] for rule in document["guard"]["tools"]]
    assert tools[0] == "Read" and tools[-3:] == ["Glob", "mcp__*", "mcp__old_*"]
    assert document["guard"]["redirects"][0]["outside"] == ["@scratch", "@project"]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("a", ".*(?:a).*"),
        ("^a", "(?:a).*"),
        ("a$", ".*(?:a)"),
        ("^a$", "a"),
        ("^a|b$", "(?:(?:a).*|.*(?:b))"),
        ("^a|b", "(?:(?:a).*|.*(?:b).*)"),
        ("^(a|b)$", "(a|b)"),
        ("[|]\\|x", ".*(?:[|]\\|x).*"),
        ("x\\$", ".*(?:x\\$).*"),
    ],
)
def test_a_regex_that_was_searched_for_matches_the_whole_text(theirs: str, ours: str) -> None:
    assert whole(theirs) == ours


@pytest.mark.parametrize("regex", ["^sudo |^doas ", "^rm|--force$", "(^|\\s)eval\\s", "^a$|b", "a[|]b|c$"])
@pytest.mark.parametrize(
    "text", ["sudo rm", "x sudo", "doas x", "rm x", "git --force", "--force x", "a|bc", "eval x", "a"]
)
def test_it_finds_in_the_whole_text_what_was_found_by_searching(regex: str, text: str) -> None:
    assert bool(re.fullmatch(whole(regex), text)) is bool(re.search(regex, text))


def test_the_command_reads_yaml_and_writes_a_new_file_only(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "fencepost.yaml", tmp_path / "mine.toml"
    theirs.write_text(json.dumps(THEIRS))  # JSON is YAML
    done = run("import", str(theirs), "-o", str(ours))
    if importlib.util.find_spec("yaml") is None:
        assert done.returncode == 3 and "pyyaml" in done.stderr
        return
    assert done.returncode == 2, done.stderr  # some of it means something else here: each has a line
    assert tomllib.loads(ours.read_text())["guard"]["ask"][-1] == "npm publish"
    before = os.stat(ours).st_mtime_ns
    assert run("import", str(theirs), "-o", str(ours)).returncode == 6
    assert os.stat(ours).st_mtime_ns == before
    assert "[[guard.tools]]" in run("import", str(theirs)).stdout
    assert run("import", str(tmp_path / "none.yaml")).returncode == 5


def of_bash(**rules: object) -> dict[str, object]:
    return {"tools": {"bash": rules}}


@pytest.mark.parametrize(
    ("document", "line", "wanted"),
    [
        (of_bash(redirects=[{"mode": "write", "glob": "*.lock", "decision": "ask"}]), "echo x > a.lock", "ask"),
        (
            of_bash(arguments=[{"command": "rm", "anyArgMatches": "^(/etc|/usr)$", "decision": "deny"}]),
            "rm /usr",
            "deny",
        ),
        (
            of_bash(arguments=[{"command": "rm", "anyArgMatches": "^/etc|^/usr", "decision": "deny"}]),
            "rm /usr/x",
            "deny",
        ),
        (of_bash(checks=[{"test": "(wipe|scrub) --all", "description": "No."}]), "scrub --all", "deny"),
        (of_bash(checks=[{"description": "A check without a test."}]), "ls", "pass"),
    ],
    ids=["glob", "alternation", "ways", "check", "no test"],
)
def test_what_is_imported_is_read_by_verify_and_means_the_same(
    tmp_path: Path, document: dict[str, object], line: str, wanted: str
) -> None:
    path = tmp_path / "imported.toml"
    path.write_text(converted({"default": "allow", **document}))
    loaded = load((str(path),))
    assert [str(mistake) for mistake in loaded.mistakes] == []
    context = context_with(scratch=None, project="/p", cwd="/p", home="/h", uid=1, look=look)
    assert evaluate(ToolCall("claude", "shell", command=line, cwd="/p"), loaded.rules, context).verdict == wanted


@pytest.mark.parametrize(
    "document",
    [
        {"default": "maybe"},
        {"onError": "maybe"},
        of_bash(redirects=[{"mode": "maybe", "outside": ["."], "decision": "ask"}]),
        of_bash(arguments=[{"command": "rm", "allArgsInside": ["."], "decision": "maybe"}]),
    ],
    ids=["default", "onError", "mode", "decision"],
)
def test_a_word_that_is_none_is_refused_by_name(document: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="'maybe' is not one of"):
        converted(document)


@pytest.mark.skipif(importlib.util.find_spec("yaml") is None, reason="needs PyYAML")
def test_an_import_makes_its_directory_and_says_by_its_status_that_something_differs(tmp_path: Path) -> None:
    (tmp_path / "same.yaml").write_text("default: ask\n")
    (tmp_path / "other.yaml").write_text("default: allow\nguidance: {enabled: true}\n")
    place = tmp_path / "guard.d" / "mine.toml"
    same = run("import", str(tmp_path / "same.yaml"), "-o", str(place))
    assert (same.returncode, same.stderr) == (0, "")
    assert place.is_file()
    mode = tmp_path.stat().st_mode
    other = run("import", str(tmp_path / "other.yaml"), "-o", str(tmp_path / "other.toml"))
    assert other.returncode == 2
    assert other.stderr.count("warning: ") == 2
    assert tmp_path.stat().st_mode == mode

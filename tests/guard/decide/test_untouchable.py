"""What no allow covers: removing or emptying the project, its history, the home or a parent of the scratch."""

from pathlib import Path

import pytest

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.rule import Rules
from tmpwarden.model.hot import Decision, ToolCall

SCRATCH, PROJECT, HOME = "/tmp/tmpwarden-1000/s1", "/home/u/proj", "/home/u"
GENEROUS = """
[guard]
preset = "none"
allow = ["rm", "mv", "find", "rsync", "git rm", "ln", "for", "cp", "cd", "mkdir", "xargs", "ls"]
allow_checks = ["rm .*", "find .*"]

[[guard.arguments]]
command = "*"
all_inside = ["@project", "@scratch", "~", "/tmp"]
decision = "allow"

[[guard.redirects]]
mode = "write"
glob = ["*"]
decision = "allow"

[[guard.files]]
mode = "any"
inside = ["@project"]
decision = "allow"
"""


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    """Of somebody who allows nearly everything."""
    path = tmp_path / "config.toml"
    path.write_text(GENEROUS)
    loaded = load((str(path),))
    assert not loaded.is_broken, loaded.mistakes
    return loaded.rules


def said(call: ToolCall, rules: Rules, **changed: object) -> Decision:
    values: dict[str, object] = {
        "scratch": SCRATCH, "project": PROJECT, "cwd": PROJECT, "home": HOME, "uid": 1000, "look": look,
        "variables": {"TMPDIR": SCRATCH},
    }  # fmt: skip
    return evaluate(call, rules, context_with(**(values | changed)))  # type: ignore[arg-type]


def shell(command: str, rules: Rules, **changed: object) -> Decision:
    return said(ToolCall("claude", "shell", command=command, cwd=str(changed.get("cwd", PROJECT))), rules, **changed)


NEVER_ALLOWED = [
    # the project's root
    "rm -rf .",
    "rm -rf ./",
    "rm -rf ./*",
    "rm -rf *",
    "rm -rf ./**",
    "rm -rf ?*",
    "rm -rf [a-z]*",
    "rm -rf *.*",
    'rm -rf "$PWD"',
    "rm -rf $PWD",
    "rm -rf /home/u/proj",
    "rm -rf ../proj",
    "rm -rf sub/..",
    "rm -rf ../*",
    "rm -rf ../pr*",
    "rm -rf /home/u/p?oj",
    "rm -rf /home/*/proj",
    "rm -rf /home/u/proj/*",
    "rm -rf */",
    "rm -r *",
    'rm -rf "$PWD"/*',
    'for f in *; do rm -rf "$f"; done',
    "for f in ./*; do rm -rf $f; done",
    "rm -rf sub/../*",
    "mv * /tmp/x",
    "mv ./* /tmp/x",
    "mv ../proj /tmp/old",
    'mv "$PWD" /tmp/old',
    "mv -t /tmp/x *",
    "find . -delete",
    "find . -mindepth 1 -delete",
    "find -delete",
    "find . -exec rm -rf {} +",
    "find . | xargs rm -rf",
    "cd .. && rm -rf proj",
    "(cd /home && rm -rf u/proj)",
    "git rm -rf .",
    "git rm -r *",
    "rsync -a --delete x/ .",
    "rsync -a --delete-after /tmp/e/ ./",
    "rm -rf -- .",
    "sudo rm -rf .",
    "sh -c 'rm -rf .'",
    "command rm -rf .",
    "rm -rf .[!.]* *",
    "rm -rf {*,.*}",
    "rm -rf * && ls",
    "ls; rm -rf ./*",
    "rm -rf src * tests",
    "rm -rf ././",
    # its history
    "rm -rf .git",
    "rm -rf .git/",
    "rm -rf .git/*",
    "rm -rf ./.git",
    "rm -rf .g*",
    "mv .git /tmp/x",
    "rm -rf .gi?",
    "ln -sfn /tmp/x .git",
    "cp /tmp/x .git",
    "find .git -delete",
    "rm -rf .*",
    "mv .git .git.old",
    "rm -rf *it .git",
    # the home, and what is above the scratch
    "rm -rf ~",
    "rm -rf ~/",
    "rm -rf ~/*",
    "rm -rf /home/u",
    "rm -rf /home",
    "rm -rf /",
    "rm -rf /*",
    "mv ~ /tmp/x",
    "rm -rf $HOME",
    "rm -rf ~/.",
    "find ~ -delete",
    "rm -rf /tmp",
    "rm -rf /tmp/*",
    "rm -rf /tmp/tmpwarden-1000",
    'rm -rf "$TMPDIR"/..',
    "rm -rf /tmp/tmpwarden-*",
    "rm -rf /tmp/tmpwarden-1000/*",
    "rm -rf /tmp/tmp*",
    "rm -rf ~/p*",
]
STILL_ALLOWED = [
    "rm -rf build",
    "rm -rf ./build/*",
    "rm -f *.o",
    "rm -rf src/*.pyc",
    "rm a b c",
    "mv a b",
    "mv *.o build",
    'rm -rf "$TMPDIR"/x',
    'rm -rf "$TMPDIR"',
    'rm -rf "$TMPDIR"/*',
    "rm -rf /tmp/other",
    "mv src/* lib",
    "rm -f .coverage",
    "for f in *.o; do rm -f ./a; done",
    "rm -rf ~/proj/build",
    "mkdir -p build",
    "rm -rf sub/*",
    "cd sub",
]


@pytest.mark.parametrize("command", NEVER_ALLOWED)
def test_what_no_allow_of_any_user_covers(command: str, rules: Rules) -> None:
    decision = shell(command, rules)
    is_told = not any(unknown in command for unknown in ("rm -rf $f", 'rm -rf "$f"'))
    assert decision.verdict == ("ask" if is_told else "pass"), (decision.verdict, decision.reason)


@pytest.mark.parametrize("command", STILL_ALLOWED)
def test_what_a_user_may_allow(command: str, rules: Rules) -> None:
    assert shell(command, rules).verdict == "allow"


@pytest.mark.parametrize("command", ["rm -rf .", "rm -rf *", 'mv "$PWD" /tmp/x', "find . -delete", "rm -rf ../*"])
def test_where_the_project_is_not_the_working_directory(command: str, rules: Rules) -> None:
    below = {"rm -rf ../*": "ask", "find . -delete": "pass"}.get(command, "allow")
    assert shell(command, rules, cwd=f"{PROJECT}/sub").verdict == below
    assert shell(command, rules, project=f"{PROJECT}/sub", cwd=f"{PROJECT}/sub").verdict == "ask"


def test_a_project_in_the_scratch_is_scratch(rules: Rules) -> None:
    inside = f"{SCRATCH}/clone"
    assert shell("rm -rf .", rules, project=inside, cwd=inside).verdict == "allow"


def test_it_is_seen_through_links(tmp_path: Path, rules: Rules) -> None:
    from tmpwarden.oskit.files.disk import Disk

    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "up").symlink_to("..")
    real = {"project": str(project), "cwd": str(tmp_path / "sub"), "look": Disk().look, "is_plain": Disk().is_plain}
    for command in ("rm -rf ../link/", "rm -rf up/project", "rm -rf up/project/*", "rm -rf ../link/*"):
        assert shell(command, rules, **real).verdict == "ask", command


def test_the_reason_says_what_it_is(rules: Rules) -> None:
    decision = shell("rm -rf ./*", rules)
    assert "project" in decision.reason and decision.rule
    assert "home" in shell("rm -rf ~", rules).reason


def test_a_file_tool_does_not_replace_the_history(rules: Rules) -> None:
    assert said(ToolCall("claude", "write", paths=(f"{PROJECT}/a",)), rules).verdict == "allow"
    assert said(ToolCall("claude", "write", paths=(f"{PROJECT}/.git",)), rules).verdict == "ask"


def test_a_deny_stays_a_deny(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[guard]\npreset = "none"\ndeny = ["rm -r"]\ndefault = "deny"\n')
    strict = load((str(path),)).rules
    assert shell("rm -r .", strict).verdict == "deny"
    assert shell("mv ../proj /tmp/x", strict).verdict == "deny"

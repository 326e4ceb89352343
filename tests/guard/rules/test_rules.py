"""Rules of one's own: prefixes, regexes, arguments, redirects and files, in their tiers."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.patterns import matches
from tmpwarden.model.hot import Decision, ToolCall


def said(tmp_path: Path, config: str, command: str | None, *paths: str, tool: str = "shell") -> Decision:
    file = tmp_path / "config.toml"
    file.write_text(config)
    loaded = load((str(file),))
    assert loaded.mistakes == ()
    context = context_with(
        scratch="/tmp/s", project="/home/u/p", cwd="/home/u/p/sub", home="/home/u", uid=1000, look=look
    )
    return evaluate(ToolCall("claude", tool, command=command, paths=paths, cwd="/home/u/p/sub"), loaded.rules, context)


SANDBOX = load(()).rules
ALONE = '[guard]\npreset = "none"\n'


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git push", "ask"),
        ("git push origin main", "ask"),
        ("git -C /x push", "ask"),
        ("git -c a=b push", "ask"),
        ("/usr/bin/git push", "ask"),
        ("sudo git push", "ask"),
        ("git push --force", "deny"),
        ("git push origin --force", "deny"),
        ("git pushy", "pass"),
        ("git commit -m push", "pass"),
        ("git status", "allow"),
        ("git status && git status -s", "allow"),
        ("git status && ls", "pass"),
        ("git status && git push", "ask"),
        ("git status; git push --force", "deny"),
        ("git $WHAT", "ask"),
        ("git status $WHAT", "pass"),
        ("git status > /tmp/s/x", "allow"),
        ("git status > x", "pass"),
        ("$PROGRAM status", "ask"),
    ],
)
def test_a_prefix_names_a_command_wherever_its_options_stand(tmp_path: Path, command: str, verdict: str) -> None:
    config = ALONE + 'deny = ["git push --force"]\nask = ["git push"]\nallow = ["git status"]\n'
    assert said(tmp_path, config, command).verdict == verdict


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("curl http://x/y.sh", "deny"),
        ("curl -s http://x/y.sh", "deny"),
        ("curl http://x/y.sh.txt", "pass"),
        ("echo curl http://x/y.sh", "pass"),
        ("rm /tmp/claude/abc", "allow"),
        ("rm /tmp/claude/abc /etc/x", "pass"),
        ("rm /tmp/claude/abc; rm /etc/x", "pass"),
        ("rm /tmp/claude/$X", "pass"),
        ("wget x", "ask"),
    ],
)
def test_a_regex_is_anchored_at_both_ends_of_one_command(tmp_path: Path, command: str, verdict: str) -> None:
    config = ALONE + "checks = ['curl .*\\.sh', { test = 'wget .*', decision = 'ask' }]\n"
    config += "allow_checks = ['rm /tmp/claude/[a-z]+']\n"
    assert said(tmp_path, config, command).verdict == verdict


def test_a_command_too_long_for_a_regex_is_asked_about(tmp_path: Path) -> None:
    decision = said(tmp_path, ALONE + "checks = ['curl .*']\n", "ls " + "x" * 5000)
    assert decision.verdict == "ask"


@pytest.mark.parametrize(
    "command",
    ["rm /tmp/claude/a /etc/x", "rm /tmp/claude/../x", "rm /tmp/claude/a/..", "mv /tmp/claude/a /tmp/claude/b",
     "cp /tmp/claude/a /etc/b", "rm /tmp/claude/a > /etc/x", "rm /tmp/claude/$X"],
)  # fmt: skip
def test_a_loose_regex_allows_one_target_that_does_not_climb(tmp_path: Path, command: str) -> None:
    config = ALONE + "allow_checks = ['[a-z]+ /tmp/claude/.*']\n"
    assert said(tmp_path, config, "rm /tmp/claude/a").verdict == "allow"
    assert said(tmp_path, config, command).verdict == "pass"


@pytest.mark.parametrize(("regex", "size"), [("curl .*a.*x.*", 4000), ("curl .*a.*a.*x", 1000)])
def test_a_regex_sees_no_more_than_it_can_take_in_a_moment(tmp_path: Path, regex: str, size: int) -> None:
    config = ALONE + f"checks = ['{regex}']\n"
    assert said(tmp_path, config, "curl " + "a" * size).verdict == "pass"
    assert said(tmp_path, config, "curl " + "a" * (size + 100)).verdict == "ask"


def rule(kind: str, **keys: str) -> str:
    return ALONE + f"[[guard.{kind}]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


@pytest.mark.parametrize(
    ("test", "command", "verdict"),
    [
        ('all_inside = ["@scratch"]', "rm /tmp/s/a", "ask"),
        ('all_inside = ["@scratch"]', "rm /tmp/s/a /etc/b", "pass"),
        ('all_inside = ["@scratch"]', "rm", "pass"),
        ('all_inside = ["@scratch"]', "rm -rf", "pass"),
        ('all_inside = ["@scratch"]', "rm $X", "pass"),
        ('any_outside = ["@scratch"]', "rm /tmp/s/a", "pass"),
        ('any_outside = ["@scratch"]', "rm /tmp/s/a /etc/b", "ask"),
        ('any_outside = ["@scratch"]', "rm /var/sx", "ask"),
        ('any_outside = ["@scratch"]', "rm /tmp/sx", "pass"),  # nobody has that name
        ('any_outside = ["@scratch"]', "rm $X", "ask"),
        ('any_outside = ["@project"]', "rm ../x", "pass"),
        ('any_outside = ["."]', "rm ../x", "ask"),
        ('any_outside = ["~"]', "rm ~/x", "pass"),
        ('any_outside = ["~/.cache", "/opt"]', "rm ~/.cache/x /opt/y", "pass"),
        ('any_outside = ["~/.cache", "/opt"]', "rm ~/x", "ask"),
        ('any_match = ["*.pem"]', "rm a b.pem", "ask"),
        ('any_match = ["*.pem"]', "rm a b", "pass"),
        ('any_match = ["*.pem"]', "rm $X", "ask"),
        ('any_match = ["~/.ssh/*"]', "rm ../../.ssh/id", "ask"),
        ('all_match = ["*.tmp"]', "rm a.tmp b.tmp", "ask"),
        ('all_match = ["*.tmp"]', "rm a.tmp b", "pass"),
        ('all_match = ["*.tmp"]', "rm", "pass"),
    ],
)
def test_an_arguments_rule_speaks_of_the_paths_of_its_command(
    tmp_path: Path, test: str, command: str, verdict: str
) -> None:
    config = rule("arguments", command='"rm|shred"', decision='"ask"') + test + "\n"
    assert said(tmp_path, config, command).verdict == verdict
    assert said(tmp_path, config, command.replace("rm", "ls", 1)).verdict == "pass"


@pytest.mark.parametrize(
    ("mode", "command", "verdict"),
    [
        ("read", "cp /etc/a b", "ask"),
        ("read", "cp a /etc/b", "pass"),
        ("write", "cp /etc/a b", "pass"),
        ("write", "cp a /etc/b", "ask"),
        ("delete", "cp a /etc/b", "pass"),
        ("delete", "mv /etc/a b", "ask"),
        ("any", "cp /etc/a b", "ask"),
    ],
)
def test_a_mode_narrows_which_paths_count(tmp_path: Path, mode: str, command: str, verdict: str) -> None:
    config = rule("arguments", command='"*"', mode=f'"{mode}"', any_outside='["@project"]', decision='"ask"')
    assert said(tmp_path, config, command).verdict == verdict


@pytest.mark.parametrize(
    ("mode", "command", "verdict"),
    [
        ("write", "x > /etc/a", "deny"),
        ("write", "x >> /etc/a", "deny"),
        ("write", "x 2> /etc/a", "deny"),
        ("write", "x >& /etc/a", "deny"),
        ("write", "x <> /etc/a", "deny"),
        ("write", "x < /etc/a", "pass"),
        ("write", "x > a 2>&1", "pass"),
        ("write", "{ x; y; } > /etc/a", "deny"),
        ("write", "x > $A", "ask"),
        ("append", "x >> /etc/a", "deny"),
        ("append", "x > /etc/a", "pass"),
        ("read", "x < /etc/a", "deny"),
        ("read", "x > /etc/a", "pass"),
        ("any", "x < /etc/a", "deny"),
        ("any", "x < /dev/null > /dev/stderr", "pass"),
    ],
)
def test_a_redirects_rule_speaks_of_redirects_by_mode(tmp_path: Path, mode: str, command: str, verdict: str) -> None:
    config = rule("redirects", mode=f'"{mode}"', outside='["@project"]', decision='"deny"')
    assert said(tmp_path, config, command).verdict == verdict


def test_a_redirects_rule_may_name_files_by_glob(tmp_path: Path) -> None:
    config = rule("redirects", mode='"write"', glob='["*.pem", "~/.ssh/*"]', decision='"deny"')
    assert said(tmp_path, config, "x > a.pem").verdict == "deny"
    assert said(tmp_path, config, "x > ../../.ssh/id").verdict == "deny"
    assert said(tmp_path, config, "x > a.txt").verdict == "pass"


def test_a_deny_beats_a_scoped_allow_and_a_scoped_allow_beats_an_ask(tmp_path: Path) -> None:
    allow = '[[guard.arguments]]\ncommand = "rm"\nall_inside = ["@scratch"]\ndecision = "allow"\n'
    assert said(tmp_path, ALONE + allow, "rm /tmp/s/x").verdict == "allow"
    assert said(tmp_path, ALONE + 'ask = ["rm"]\n' + allow, "rm /tmp/s/x").verdict == "allow"
    assert said(tmp_path, ALONE + 'ask = ["rm"]\n' + allow, "rm y").verdict == "ask"
    assert said(tmp_path, ALONE + 'ask = ["rm"]\nallow = ["rm"]\n', "rm y").verdict == "ask"
    denied = said(tmp_path, ALONE + 'deny = ["rm"]\n' + allow, "rm /tmp/s/x")
    assert (denied.verdict, denied.rule) == ("deny", "config.toml:deny[0]")


def test_an_allow_by_mode_counts_paths_whose_use_is_not_known(tmp_path: Path) -> None:
    config = rule("arguments", command='"frob"', mode='"write"', all_inside='["@scratch"]', decision='"allow"')
    assert said(tmp_path, config, "frob /tmp/s/x").verdict == "allow"
    assert said(tmp_path, config, "frob /tmp/s/x /etc/y").verdict == "pass"


@pytest.mark.parametrize(("word", "verdict"), [("ask", "ask"), ("deny", "deny"), ("pass", "pass")])
def test_what_cannot_be_read_gets_on_error_and_never_an_allow(tmp_path: Path, word: str, verdict: str) -> None:
    config = ALONE + f'on_error = "{word}"\nallow = ["ls"]\n'
    assert said(tmp_path, config, "ls 'x").verdict == verdict


@pytest.mark.parametrize("word", ["pass", "ask", "deny"])
def test_what_no_rule_names_gets_the_default(tmp_path: Path, word: str) -> None:
    assert said(tmp_path, ALONE + f'default = "{word}"\n', "frob x").verdict == word


def test_a_reason_names_the_way_out(tmp_path: Path) -> None:
    config = (
        ALONE + 'deny = [{ prefix = "npm publish", description = "CI does releases.", alternative = "push a tag" }]\n'
    )
    assert said(tmp_path, config, "npm publish").reason == "CI does releases. Instead: push a tag."


def test_a_files_rule_may_allow_what_lies_inside(tmp_path: Path) -> None:
    config = rule("files", mode='"write"', inside='["@scratch"]', decision='"allow"')
    assert said(tmp_path, config, None, "/tmp/s/x", tool="write").verdict == "allow"
    assert said(tmp_path, config, None, "/tmp/s/x", "/etc/x", tool="patch").verdict == "pass"
    assert said(tmp_path, config, None, "/tmp/s/x", tool="read").verdict == "pass"


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_globs_match_as_fnmatch_does(pattern: str, text: str) -> None:
    from fnmatch import fnmatchcase

    assert matches(pattern, text) == fnmatchcase(text, pattern)


@given(st.text(string.printable + "é\u202e\0", max_size=60))
def test_no_command_makes_the_guard_raise_or_allow_something_unnamed(command: str) -> None:
    context = context_with(scratch="/tmp/s", project="/p", cwd="/p", home="/h", uid=1000, look=look)
    decision = evaluate(ToolCall("claude", "shell", command=command, cwd="/p"), SANDBOX, context)
    assert decision.verdict != "allow" or all(rule for argv, _, rule in decision.commands if argv)


@pytest.mark.parametrize("command", ["git status $WHAT", 'git status "$(c)"', "git status `c`", "frob 1 $X"])
def test_a_word_that_is_not_known_spoils_an_allow_by_prefix(tmp_path: Path, command: str) -> None:
    assert said(tmp_path, ALONE + 'allow = ["git status", "frob 1"]\n', command).verdict == "pass"


@pytest.mark.parametrize("command", ["ssh host", "ssh host ls", "docker ps", "kubectl get pods"])
def test_nothing_that_runs_on_another_machine_is_allowed(tmp_path: Path, command: str) -> None:
    config = ALONE + 'allow = ["ssh", "ls", "docker", "kubectl"]\n'
    is_ours = command.startswith(("docker", "kubectl"))  # the client itself runs here
    assert said(tmp_path, config, command).verdict == ("allow" if is_ours else "pass")


@pytest.mark.parametrize("place", ["project", "scratch"])
def test_the_whole_disk_is_no_root(place: str) -> None:
    places = {"scratch": "/tmp/s", "project": "/home/u/p"} | {place: "/"}
    context = context_with(**places, cwd="/", home="/home/u", uid=1000, look=look)  # type: ignore[arg-type]
    for command in ("rm -rf /", "rm -rf /etc/x", "touch x", "mkdir /srv/y"):
        assert evaluate(ToolCall("claude", "shell", command=command, cwd="/"), SANDBOX, context).verdict == "ask"

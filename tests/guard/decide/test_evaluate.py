"""The guard's word on a whole call: the most restrictive wins, every command earns the allow, a rewrite earns none."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.context import Context
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.rule import Rules
from tmpwarden.guard.shell.reader import read
from tmpwarden.guard.simulate import study
from tmpwarden.model.hot import Decision, ToolCall

SCRATCH, PROJECT, HOME = "/tmp/agent-s1", "/home/u/proj", "/home/u"
RULES = load(()).rules
LEADING = load((), preset="claude").rules


def context(**changed: object) -> Context:
    values: dict[str, object] = {
        "scratch": SCRATCH,
        "project": PROJECT,
        "cwd": PROJECT,
        "home": HOME,
        "uid": 1000,
        "look": look,
    }
    return context_with(**(values | changed))  # type: ignore[arg-type]


def said(command: str, rules: Rules = RULES, **changed: object) -> Decision:
    return evaluate(ToolCall("claude", "shell", command=command, cwd=PROJECT), rules, context(**changed))


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("rm -rf /tmp/agent-s1/build", "allow"),
        ("rm -rf /tmp/agent-s1/build /etc", "ask"),
        ("rm -rf /etc", "ask"),
        ("rm -rf build", "pass"),
        ("rm -rf /home/u/proj", "ask"),
        ("rm -rf .git", "ask"),
        ("mv /tmp/agent-s1/x .", "pass"),
        ("ls -l", "pass"),
        ("cd /tmp/agent-s1 && rm -rf build", "allow"),
        ("mkdir -p /tmp/agent-s1/a && touch /tmp/agent-s1/a/f && cp /tmp/agent-s1/a/f /tmp/agent-s1/b", "allow"),
        ("mv /tmp/agent-s1/a /tmp/agent-s1/b", "allow"),
        ("rmdir /tmp/agent-s1/a", "allow"),
        ("cp /etc/passwd /tmp/agent-s1/x", "pass"),
        ("cp /tmp/agent-s1/x /etc/passwd", "ask"),
        ("touch /dev/shm/x", "ask"),
        ("echo x > out.txt", "pass"),
        ("echo x > /dev/null 2>&1", "pass"),
        ("echo x > /etc/hosts", "deny"),
        ('echo x > "$UNKNOWN"', "ask"),
        ("mount --bind a b", "ask"),
        ("ssh host rm -rf /x", "ask"),
        ("docker exec c rm -rf /x", "pass"),
        ("ssh host 'cat > /etc/x'", "ask"),
        ("ssh host 'ls 2>/dev/null'", "pass"),
        ("timeout 5 ssh host ls > /etc/x", "deny"),
        ("docker exec c sh -c 'echo > /etc/x'", "pass"),
        ("[ -f x ] && ls", "pass"),
        ("mv /tmp/agent-s1/l /tmp/agent-s1/e; rm -rf /tmp/agent-s1/e/*", "ask"),
        ("mkfs.ext4 /dev/sda", "ask"),
        ("patch /etc/x < p", "ask"),
        ("patch -p1 < p", "pass"),
        ("mktemp -p /etc", "ask"),
        ("fakeroot rm -rf /etc/x", "ask"),
        ("unshare -r rm -rf /etc/x", "ask"),
        ("if [ -z x ]; then rm -rf /etc; fi", "ask"),
        ("ls; echo x > /etc/hosts; rm -rf /etc", "deny"),
    ],
)
def test_each_command_meets_the_rule_that_is_meant_for_it(command: str, verdict: str) -> None:
    assert said(command).verdict == verdict


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /tmp/agent-s1/x; ls",
        "rm -rf /tmp/agent-s1/x || make",
        "rm -rf /tmp/agent-s1/x $(ls)",
        "rm -rf /tmp/agent-s1/$UNKNOWN",
        "rm -rf /tmp/agent-s1/*/x",
        "rm -rf /tmp/agent-s1/.*",
        'rm -rf "$@" /tmp/agent-s1/x',
        "sudo rm -rf /tmp/agent-s1/x",
        "/usr/bin/time -o /etc/x rm /tmp/agent-s1/x",
        "nohup rm /tmp/agent-s1/x",
        "flock /etc/x rm /tmp/agent-s1/x",
        "bash -ic 'rm /tmp/agent-s1/x'",
        "ssh host rm /tmp/agent-s1/x",
        "ls | xargs rm /tmp/agent-s1/x",
        "PATH=/x rm /tmp/agent-s1/x",
        "LD_PRELOAD=/x.so rm /tmp/agent-s1/x",
        "env LD_PRELOAD=/x.so rm /tmp/agent-s1/x",
        "export PATH=/x; rm /tmp/agent-s1/x",
        "hash -p /x rm; rm /tmp/agent-s1/x",
        "rm() { /bin/rm -rf /etc; }; rm /tmp/agent-s1/x",
        "alias rm='rm /etc'; rm /tmp/agent-s1/x",
        "./rm /tmp/agent-s1/x",
        "/tmp/agent-s1/rm /tmp/agent-s1/x",
        "rm /tmp/agent-s1/x > notes",
        "rm /tmp/agent-s1/x >> /var/log/x",
        "rm /tmp/agent-s1/x < /etc/shadow",
        "rmdir -p /tmp/agent-s1/a/b",
        "cp --parents /tmp/agent-s1/a /tmp/agent-s1/b",
        "cp -s /tmp/agent-s1/a /tmp/agent-s1/b",
        "cp -r /tmp/agent-s1/a/. /tmp/agent-s1/b",
        "mv /tmp/agent-s1/l /tmp/agent-s1/x && touch /tmp/agent-s1/x",
        "mv /tmp/agent-s1/l /tmp/agent-s1/x && rm -rf /tmp/agent-s1/x/passwd",
        "cp -a /tmp/agent-s1/l /tmp/agent-s1/x && cd /tmp/agent-s1/x && rm -rf ../y",
        "mv /tmp/agent-s1/l /tmp/agent-s1/x & touch /tmp/agent-s1/x",
        "touch /tmp/agent-s1/x & mv /tmp/agent-s1/l /tmp/agent-s1/x",
        "touch /tmp/agent-s1/x | mv /tmp/agent-s1/l /tmp/agent-s1/x",
        "while touch /tmp/agent-s1/x; do mv /tmp/agent-s1/l /tmp/agent-s1/x; done",
        "ln -s /etc /tmp/agent-s1/e && rm -rf /tmp/agent-s1/e/",
        "TMPDIR=/etc; rm -rf $TMPDIR/x",
        "FUNCNAME=tmp/agent-s1/x; rm -rf /$FUNCNAME",  # bash ignores it: rm -rf /
        "GROUPS=tmp/agent-s1/x; rm -rf /$GROUPS",
        "_=/tmp/agent-s1/x; rm -rf $_",
        "OLDPWD=/tmp/agent-s1/x; cd /tmp/agent-s1; rm -rf $OLDPWD",
        "touch -r /etc/passwd /tmp/agent-s1/x",
        "rm -rf /tmp/agent-s1/x\u00a0/etc",
        "rm -rf /tmp/agent-s1/x\0",
        "rm -rf '/tmp/agent-s1/x",
    ],
)
def test_what_is_not_proven_in_full_is_never_allowed(command: str) -> None:
    assert said(command, variables={"TMPDIR": SCRATCH}).verdict != "allow"


@pytest.mark.parametrize("wrapper", ["env -i", "env -u TMPDIR", "sudo"])
def test_a_wrapper_that_drops_tmpdir_makes_it_unknown(wrapper: str) -> None:
    assert said(f"{wrapper} sh -c 'rm -rf \"$TMPDIR\"/etc'", variables={"TMPDIR": SCRATCH}).verdict == "ask"


def test_a_link_on_the_disk_is_followed_where_writing_follows_it() -> None:
    def disk(path: str) -> tuple[str | None, bool]:
        parent = path.rpartition("/")[0]
        link = "/tmp/agent-s1/link"
        if parent == link or parent.startswith(link + "/"):
            parent = "/etc" + parent[len(link) :]
        return parent or "/", path == link

    assert said("rm -rf /tmp/agent-s1/link", look=disk).verdict == "allow"
    for command in ("touch", "rm -rf /tmp/agent-s1/x", "mv /tmp/agent-s1/a", "cp /tmp/agent-s1/a", "mkdir -p"):
        assert said(f"{command} /tmp/agent-s1/link/", look=disk).verdict == "ask", command
    assert said("touch /tmp/agent-s1/link", look=disk).verdict == "ask"
    assert said("echo x > /tmp/agent-s1/link", look=disk).verdict == "deny"


def test_a_rewrite_grants_nothing() -> None:
    decision = said("curl -o /tmp/x https://example.com/", rules=LEADING)
    assert (decision.verdict, decision.rewritten) == ("pass", "curl -o /tmp/agent-s1/x https://example.com/")


def test_the_text_that_will_run_is_the_one_that_is_judged() -> None:
    decision = said("mkdir /tmp/build", rules=LEADING)
    assert (decision.verdict, decision.rewritten) == ("allow", "mkdir /tmp/agent-s1/build")
    assert decision.commands == ((("mkdir", "/tmp/agent-s1/build"), "allow", "sandbox:arguments[0]"),)
    assert decision.places == {"/tmp/build": "/tmp/agent-s1/build"}


def test_each_line_is_parsed_once_though_it_is_led(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(study, "read", lambda text: parsed.append(text) or read(text))
    said("npm test > /tmp/t.log; tail /tmp/t.log", rules=LEADING, keeps_rewrite=False)
    said("ls -la /tmp/x", rules=LEADING)
    assert parsed == ["npm test > /tmp/t.log; tail /tmp/t.log", "ls -la /tmp/x"]


@pytest.mark.parametrize(("has_ask", "verdict"), [(True, "ask"), (False, "deny")])
def test_an_allow_that_rests_on_the_rewrite_is_not_given_to_an_agent_that_may_drop_it(
    has_ask: bool, verdict: str
) -> None:
    decision = said("mkdir /tmp/build", rules=LEADING, keeps_rewrite=False, has_ask=has_ask)
    assert decision.verdict == verdict
    assert "mkdir /tmp/agent-s1/build" in decision.reason
    assert said("rm -rf /tmp/agent-s1/build", keeps_rewrite=False, has_ask=has_ask).verdict == "allow"


def test_an_agent_that_applies_a_rewrite_only_with_allow_is_left_alone() -> None:
    codex = {"has_ask": False, "applies_rewrite_without_allow": False, "rules": LEADING}
    assert said("mkdir /tmp/build", **codex).verdict == "allow"
    left = said("echo x > /tmp/out", **codex)
    assert (left.verdict, left.rewritten, left.fresh) == ("pass", None, ("/tmp/out",))


def test_a_rule_that_asks_denies_where_nobody_can_be_asked_and_says_why() -> None:
    decision = said("rm -rf /etc", has_ask=False)
    assert decision.verdict == "deny"
    assert "outside the scratch" in decision.reason
    assert "cannot ask" in decision.reason


NO_SCRATCH = (
    "rm -rf /tmp/old", "echo x > /tmp/old", "echo x > /etc/hosts", "echo x >> /etc/hosts", "cp a /etc/b", "make -C /x",
    "rm -rf /tmp/*", "ssh h rm -rf /x", 'echo x > "$UNKNOWN"', "mount a b",
)  # fmt: skip


@pytest.mark.parametrize("command", NO_SCRATCH)
@pytest.mark.parametrize("has_ask", [True, False])
def test_without_a_scratch_nothing_is_led_and_no_answer_sends_anybody_to_tmpdir(command: str, has_ask: bool) -> None:
    given = {"scratch": None, "look": lambda path: (look(path)[0], path == "/tmp/old"), "has_ask": has_ask}
    for rules in (RULES, LEADING):
        decision = said(command, rules, **given)
        assert decision.verdict in ("ask", "deny")
        assert decision.rewritten is None
        assert "TMPDIR" not in decision.reason


@pytest.mark.parametrize(
    ("command", "stated"),
    [
        ("cp a.txt /tmp", ("/tmp/a.txt",)),
        ("cp -r src b.txt /tmp/", ("/tmp/src", "/tmp/b.txt")),
        ("cd /tmp && git clone -q https://h/r.git", ("/tmp/r",)),
        ("wget -q -P /tmp https://h/x.tgz?a=1", ("/tmp/x.tgz",)),
        ("cd /tmp; curl -sO https://h/x", ("/tmp/x",)),
        ("cp old /tmp", None),
        ("cp -r . /tmp", None),
        ("cp -r src/. /tmp", None),
        ("cp --parents a/b /tmp", None),
        ("cp * /tmp", None),
        ("wget -r -P /tmp https://h/x", None),
        ("cd /tmp && git clone --mirror https://h/r.git", None),
        ("cd /tmp; curl -OJ https://h/x", None),
        ("tar xf a.tar -C /tmp", None),
    ],
)
def test_a_name_that_a_copy_makes_in_tmp_is_stated_only_if_it_is_known(
    command: str, stated: tuple[str, ...] | None
) -> None:
    decision = said(command, look=lambda path: (look(path)[0], path == "/tmp/old"))
    assert (decision.verdict == "ask") is (stated is None)
    assert decision.fresh == (stated or ())


def test_a_scratch_that_is_not_the_commands_tmpdir_is_named_by_its_path() -> None:
    assert "write to /tmp/agent-s1" in said("echo x > /etc/hosts").reason
    assert "write to $TMPDIR" in said("echo x > /etc/hosts", variables={"TMPDIR": SCRATCH}).reason


def test_a_project_that_is_the_whole_disk_makes_nothing_inside() -> None:
    assert said("rm -rf /etc", project="/").verdict == "ask"


def test_the_agents_own_directories_are_neither_rewritten_nor_outside() -> None:
    own = {"own": ("/tmp/claude-1000", "/home/u/.claude")}
    for command in ("echo x > /tmp/claude-1000/p/scratchpad/x", "mkdir /tmp/claude-1000/p", "touch /home/u/.claude/x"):
        decision = said(command, **own)
        assert (decision.verdict, decision.rewritten) == ("pass", None), command


SHARED = '[redirect]\ntmp = true\ntarget = "/tmp/claude"\n'


def test_a_shared_target_takes_the_place_of_the_sessions_scratch(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(SHARED)
    decision = said("mkdir /tmp/foo", load((str(config),)).rules)
    assert (decision.verdict, decision.rewritten) == ("allow", "mkdir /tmp/claude/foo")
    assert said("rm -rf /tmp/claude/foo", load((str(config),)).rules).verdict == "allow"
    assert said("mkdir /tmp/foo", load((str(config),)).rules, scratch=None).rewritten is None


# the table of the seed: input path, led to (None: unchanged). Bare /tmp is the real one: `ls /tmp` means it
SEED = [
    ("/tmp/foo", "/tmp/claude/foo"),
    ("/tmp/claude/foo", None),
    ("/var/tmp/x", None),
    ("/tmpfile", None),
]


@pytest.mark.parametrize(("path", "becomes"), SEED)
def test_the_seeds_table_holds_for_commands(tmp_path: Path, path: str, becomes: str | None) -> None:
    config = tmp_path / "config.toml"
    config.write_text(SHARED)
    shell = said(f"touch {path}", load((str(config),)).rules)
    assert shell.rewritten == (becomes and f"touch {becomes}")


def test_the_seeds_example_of_two_targets_holds() -> None:
    assert said("rm -rf /tmp/agent-s1/build").verdict == "allow"
    assert said("rm -rf /tmp/agent-s1/build /etc").verdict == "ask"


def test_importing_the_guard_costs_no_more_than_it_must() -> None:
    """What a hook may import before it answers. `re` alone costs a whole interpreter."""
    code = "import sys; import tmpwarden.guard.decide.evaluate, tmpwarden.guard.rules.compiled\n"
    code += "import tmpwarden.guard.log.audit, tmpwarden.guard.decide.filetools, tmpwarden.oskit.files.disk\n"
    code += "print(*sys.modules)"
    source = str(Path(__file__).parents[3] / "src")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {source!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {"re", "json", "pathlib", "dataclasses", "enum", "typing", "subprocess", "tempfile", "shutil", "fnmatch"}
    assert heavy & set(done.stdout.split()) == set()

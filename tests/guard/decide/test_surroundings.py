"""An allow holds in the shell that will run the line: what it inherits and what it loads first counts."""

import base64
from pathlib import Path

import pytest

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.agent_facts import FACTS
from tmpwarden.guard.context import CallPlace, context_of
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.decide.surroundings import facts_of, reason_about
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import Decision, ToolCall
from tmpwarden.oskit.files.disk import Disk, login_shell

RULES = load((), preset="sandbox").rules
SCRATCH = "/tmp/agent-s1"
REMOVES = f"rm -rf {SCRATCH}/x"


def judged(command: str, environ: dict[bytes, bytes] | None = None, *texts: str | None) -> Decision:
    context = context_with(
        scratch=SCRATCH, project="/home/u/proj", cwd="/home/u/proj", home="/home/u", uid=1000, look=look,
        variables={"TMPDIR": SCRATCH}, environ=environ, startup=(lambda: texts) if texts else None,
    )  # fmt: skip
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/home/u/proj"), RULES, context)


def test_an_ordinary_environment_costs_nothing() -> None:
    environ = {b"PATH": b"/usr/bin:/home/u/bin", b"HOME": b"/home/u", b"LANG": b"C", b"GIT_AUTHOR_NAME": b"u"}
    assert judged(REMOVES, environ | {b"BASH_FUNC_module%%": b"() { x; }"}).verdict == "allow"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            (name, b"/x")
            for name in (b"BASH_ENV", b"ENV", b"ZDOTDIR", b"LD_PRELOAD", b"LD_LIBRARY_PATH", b"GLOBIGNORE")
        ),
        *((name, b"1") for name in (b"POSIXLY_CORRECT", b"SHELLOPTS", b"BASHOPTS", b"EXECIGNORE", b"BASH_COMPAT")),
        (b"BASH_FUNC_rm%%", b"() { echo; }"),
        (b"PATH", b"/usr/bin::/bin"),
        (b"PATH", b".:/usr/bin"),
    ],
)
def test_what_changes_the_meaning_costs_the_allow_and_no_more(name: bytes, value: bytes) -> None:
    decision = judged(REMOVES, {b"PATH": b"/usr/bin", name: value})
    assert (decision.verdict, decision.reason.startswith("no allow: ")) == ("pass", True)


def test_cd_goes_where_an_exported_cdpath_says() -> None:
    line = 'cd "$TMPDIR" && cd full && rm -f *'
    assert judged(line).verdict == "allow"
    assert judged(line, {b"CDPATH": b"/etc"}).verdict == "ask"
    assert judged('cd "$TMPDIR" && cd ./full && rm -f *', {b"CDPATH": b"/etc"}).verdict == "allow"


PACKED = base64.b64encode(b"rm () \n{ \n    echo; \n}").decode()
SNAPSHOTS = {
    "alias -- rm='trash'": "pass",
    "alias rm='rm -i'": "allow",
    "alias -- ls='ls --color=auto'": "allow",
    "rm () {\n\techo\n}": "pass",
    "function rm {\n\techo\n}": "pass",
    "remove () {\n\trm -rf /\n}": "allow",
    f"eval \"$(echo '{PACKED}' | base64 -d)\" > /dev/null 2>&1": "pass",
    "eval \"$(echo '!!!' | base64 -d)\"": "pass",
    "shopt -u cdable_vars\nshopt -s expand_aliases": "allow",
    "shopt -s cdable_vars": "pass",
    "setopt cdablevars": "pass",
    "alias -g X='| rm'": "pass",
    "export CDPATH=/etc": "pass",
    "setopt Cd_Able_Vars": "pass",
    # as people write it: behind a condition, several at once, quoted, indented
    "command -v trash > /dev/null && alias rm=trash": "pass",
    "alias ls='ls -G' rm='trash'": "pass",
    "alias 'rm=trash'": "pass",
    'if x; then rm() { trash "$@"; }; fi': "pass",
    "  rm ( ) {": "pass",
    "eval 'rm() { x; }'": "pass",
    "hash -p /x/rm rm": "pass",
    "commands[rm]=/x/rm": "pass",
    "enable -n cd rm": "pass",
    "autoload -Uz rm": "pass",
    # what a start-up file sets is as good as inherited
    "export TMPDIR=/home/u/tmp": "pass",
    "[ -d ~/t ] && export A=1 TMPDIR=~/t": "pass",
    "unset TMPDIR": "pass",
    "export LD_PRELOAD=/x.so": "pass",
    "GLOBIGNORE=a": "pass",
    "IFS=/": "pass",
    "export PATH=./node_modules/.bin:$PATH": "pass",
    'export PATH="$PATH:"': "pass",
    # and what changes nothing
    "# export TMPDIR=/home/u/tmp": "allow",
    "echo $TMPDIR; farm() { rm x; }; alias rmx=y": "allow",
    "  local IFS=:": "allow",
    "D=$(CDPATH= cd -- x && pwd)": "allow",
    "export PATH='/usr/bin:/home/u/a b:/bin'": "allow",
    'export PATH="$HOME/bin:${PATH:+$PATH}"': "allow",
    "export PATH=~/bin:$PATH; x": "allow",
    "unalias rm": "allow",
}


@pytest.mark.parametrize("text", SNAPSHOTS)
def test_what_the_shell_loads_first_is_read(text: str) -> None:
    assert judged(REMOVES, {}, "# Snapshot file\n" + text).verdict == SNAPSHOTS[text]


def test_what_cannot_be_read_costs_the_allow() -> None:
    assert judged(REMOVES, {}, None).verdict == "pass"


@pytest.mark.parametrize(
    ("agent", "shell", "verdict"),
    [
        ("opencode", b"/usr/bin/fish", "pass"),
        ("opencode", b"/usr/bin/nu", "pass"),
        ("opencode", b"/bin/zsh", "allow"),
        ("opencode", b"", "allow"),
        ("claude", b"/usr/bin/fish", "allow"),  # it takes bash or zsh then
        ("copilot", b"/usr/bin/fish", "allow"),  # always bash
    ],
)
def test_a_shell_that_reads_lines_in_its_own_way_costs_the_allow(agent: str, shell: bytes, verdict: str) -> None:
    place = CallPlace(
        scratch=SCRATCH, is_tmpdir=True, project="/home/u/proj", cwd="/home/u/proj", home="/nonexistent", uid=1000,
        environ={b"PATH": b"/usr/bin", b"SHELL": shell},
    )  # fmt: skip
    context = context_of(place, FACTS[agent], ("allow", "ask"), (), Disk())
    said = evaluate(ToolCall(agent, "shell", command=REMOVES, cwd="/home/u/proj"), RULES, context)
    assert said.verdict == verdict
    assert ("may read it in another way" in said.reason) is (verdict == "pass")


def test_the_login_shell_is_the_one_in_the_password_file(tmp_path: Path) -> None:
    table = tmp_path / "passwd"
    table.write_text("root:x:0:0:root:/root:/bin/bash\nu:x:1000:1000::/home/u:/usr/bin/fish\nbroken\n")
    assert [login_shell(uid, str(table)) for uid in (0, 1000, 7)] == ["/bin/bash", "/usr/bin/fish", ""]


OF_CLAUDE = """# functions for programs that the client brings
if ! hash rg 2>/dev/null && ! typeset -f rg >/dev/null 2>&1; then
  function rg {
  if [[ -n ${ZSH_VERSION:-} ]]; then
    ARGV0=rg /opt/claude ${1+"$@"}
  else
    (exec -a rg /opt/claude ${1+"$@"})
  fi
}
fi
unalias find 2>/dev/null || true
function find {
  ARGV0=bfs /opt/claude ${1+"$@"}
}
export PATH=/usr/bin:/bin
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", ""),
        ("f() { CDPATH=/x; }", ""),
        ("f() { alias rm=x; }", ""),
        ("f() { CDPATH=/x; }\nf", "CDPATH is set"),
        ("f() { CDPATH=/x; }\n'f'", "CDPATH is set"),
        ("f() { CDPATH=/x; }\ntrap f DEBUG", "CDPATH is set"),
        ("f() { CDPATH=/x; }\nPROMPT_COMMAND='history -a; f'", "CDPATH is set"),
        ("precmd_functions+=(f)\nfunction f { TMPDIR=/y; }", "TMPDIR is set"),
        ("g() { f; }\nf() { CDPATH=/x; }\ng", "CDPATH is set"),
        ("g() { f; }\nf() { CDPATH=/x; }", ""),
        ("chpwd() { TMPDIR=/x; }", "TMPDIR is set"),
        ("TRAPEXIT() { TMPDIR=/x; }", "TMPDIR is set"),
        ("rm() { :; }", "rm is a function"),
        ("function rm {\n:\n}", "rm is a function"),
        ("if true; then\nrm() { :; }\nfi", "rm is a function"),
        ("f() { CDPATH=/x; }; CDPATH=/y", "CDPATH is set"),
        ("f() { echo '}'; }\nCDPATH=/y", "CDPATH is set"),
        ("cat <<E\nf() {\nE\nCDPATH=/y\nx() { :\n}", "CDPATH is set"),
        ("f() { CDPATH=/x\n", "ARGV0 is set"),  # cannot be read, so all of it counts
    ],
)
def test_what_stands_in_a_function_that_nobody_calls_is_not_set(text: str, why: str) -> None:
    """From the second call on a session of Claude Code has a snapshot, and its functions set ARGV0."""
    assert reason_about({"rm"}, facts_of(OF_CLAUDE + text)).startswith(why)
    assert bool(reason_about({"rm"}, facts_of(OF_CLAUDE + text))) is bool(why)
    assert reason_about({"find"}, facts_of(OF_CLAUDE)) == "find is a function of the shell"
    packed = base64.b64encode(f"{text}\n".encode()).decode()
    assert bool(reason_about({"rm"}, facts_of(f"{OF_CLAUDE}eval \"$(echo '{packed}' | base64 -d)\"\n"))) is bool(why)

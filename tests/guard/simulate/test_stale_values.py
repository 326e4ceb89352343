"""A variable that anything could have changed is not known any more: no old value earns an allow."""

from pathlib import Path

import pytest

from guard.studying import analyse
from support.empty_disk import look
from support.guarding import context_with
from support.jail import Jail, is_covered
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.rule import Rule, Rules
from tmpwarden.model.hot import ToolCall

RULES = load((), preset="sandbox").rules
BUILTINS = (
    *("printf", "exec", ":", "wait", "read", "mapfile", "readarray", "getopts", "let", "unset", "declare", "typeset"),
    *("export", "readonly", "eval", "c", "select"),
)
GENEROUS = Rules(
    (*RULES.rules, *[Rule("prefix", "allow", "own", operands=(name,)) for name in BUILTINS]), redirect_tmp=True
)
# each changes X, whatever it was, or leaves it so that it does not take what it is given
CHANGES = (
    "printf -v X /etc", "printf -vX /etc", "printf -v 'X[0]' /etc", "printf $O X /etc", "exec {X}>/s/f", ": {X}>/s/f",
    "{ :; } {X}>/s/f", "coproc X { c; }", "coproc X ( c )", "wait -n -p X", "read X <<< /etc", "read -r -a X < f",
    "read -p q X", "mapfile X < f", "mapfile -t X < f", "readarray X < f", "getopts ab X", "let X=5", "let 'X++'",
    "((X=5))", "((X++))", "((Y=1, X-=5))", "[[ $((X=5)) ]]", ": $((X=5))", ": $[X=5]", ": ${a[X=5]}", ": ${Y:X=5}",
    "a[X=5]=1", "a[X=5]+=1", "unset X", "unset -v X", "declare X=/etc", "declare -g X=/etc", "declare 'X=/etc'",
    "typeset X=/etc", "export X=/etc", "readonly X=/etc", "for X in /etc; do :; done",
    "for ((X=1;X<2;X++)); do :; done",
    "for X in /etc $U; do :; done", "select X in a; do break; done", "eval X=/etc", "eval \"$U\"", ". ./f", "source f",
    "f() { X=/etc; }; f", "X+=/../../etc", "c && X=/etc", "if c; then X=/etc; fi", "case a in a) X=/etc;; esac",
    "while c; do X=/etc; done", "{ X=/etc; }", "X=(/etc)", "X[0]=/etc", "declare -u X; X=/s/a", "declare -i X; X=/s/a",
    "typeset -l X=/s/A", "readonly X; export X=/s/b", "declare -r X; declare X=/s/b", "export $U",
    ": ${X:+$((X=1))}", "X=$(c)", "X=`c`", "X=$U", "f() { declare -g X=/etc; }; f", "f() { unset X; }; f",
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_the_old_value_is_not_believed(change: str) -> None:
    analysis = analyse(f"X=/s/a; {change}; rm -rf $X/b", cwd="/p", home="/h", variables={}, look=look)
    paths = [use.path for simple in analysis.commands if simple.name == "rm" for use in simple.paths]
    doubts = analysis.opaque is not None or any(simple.doubts for simple in analysis.commands if simple.name == "rm")
    assert paths and (doubts or paths != ["/s/a/b"])


@pytest.mark.parametrize("change", CHANGES)
def test_no_allow_rests_on_it(change: str) -> None:
    """Also for those who allow everything by name that the change itself is made of."""
    context = context_with(
        scratch="/s", project="/p", cwd="/p", home="/h", uid=1000, look=look, variables={"TMPDIR": "/s"},
    )  # fmt: skip
    call = ToolCall("claude", "shell", command=f"X=/s/a; {change}; rm -rf $X/b", cwd="/p")
    assert evaluate(call, GENEROUS, context).verdict != "allow"


KEEPS = (
    "Y=/etc",
    "read Y",
    "f() { local X=/etc; }",
    "(X=/etc)",
    "c | read X",
    "c & c",
    "unset -f X",
    "X=/etc c",
    ": $(X=/etc)",
)


@pytest.mark.parametrize("line", KEEPS)
def test_a_value_that_nothing_changed_is_still_known(line: str) -> None:
    analysis = analyse(f"X=/s/a; {line}; rm -rf $X/b", cwd="/p", home="/h", variables={}, look=look)
    assert [use.path for simple in analysis.commands if simple.name == "rm" for use in simple.paths] == ["/s/a/b"]


# what runs in the background of values, subscripts and traps
HIDDEN = (
    "X='a[$(c)]'; ((X))", "X='a[$(c)]'; [[ X -eq 1 ]]", "[[ 'a[$(c)]' -eq 1 ]]", "let 'a[$(c)]=1'", "read 'a[$(c)]'",
    "unset 'a[$(c)]'", "printf -v 'a[$(c)]' x", "declare 'a[$(c)]=1'", "[[ -v 'a[$(c)]' ]]", "mapfile -C c X",
    "compgen -C c", "compgen -W '$(c)'", "fc -s", ": ${X@P}", "trap 'X=1' DEBUG", "trap 'cd /' ERR",
    "trap 'f() { :; }' USR1",
    "set -o posix", "set -k", "set +B", "set -o physical", "set -H", "shopt -s cdable_vars", "shopt -s lastpipe",
    "shopt -s $U", "declare $U X=1", "declare -n X=Y", "env 'BASH_FUNC_rm%%=() { c; }' c", "alias a=b",
)  # fmt: skip


@pytest.mark.parametrize("line", HIDDEN)
def test_what_can_run_or_change_anything_unseen_is_opaque(line: str) -> None:
    assert analyse(line, cwd="/p", home="/h", variables={}, look=look).opaque is not None


@pytest.mark.parametrize(
    "line",
    [
        "((U))",
        "[[ $U -eq 1 ]]",
        "[[ U -lt 1 ]]",
        "for ((i=U;;)); do :; done",
        "X=$((U))",
        "case $((U)) in a) ;; esac",
        "case a in $((U))) ;; esac",
        "for i in $((U)); do rm -f /s/y; done",
    ],
)
@pytest.mark.parametrize("form", ["rm -rf /s/x; {}", "{}; rm -rf /s/x"])
def test_a_formula_with_a_value_that_is_not_known_earns_no_allow(line: str, form: str) -> None:
    context = context_with(scratch="/s", project="/p", cwd="/p", home="/h", uid=1000, look=look)
    call = ToolCall("claude", "shell", command=form.replace("{}", line), cwd="/p")
    assert evaluate(call, RULES, context).verdict == "pass"


@pytest.mark.parametrize(
    "line",
    ["set -e", "set -euo pipefail", "set +x", "set -o errexit", "shopt -s nullglob", "trap 'c' EXIT", "set -- a"],
)
def test_ordinary_options_are_no_doubt(line: str) -> None:
    assert analyse(line, cwd="/p", home="/h", variables={}, look=look).opaque is None


def test_bash_itself_finds_no_other_value_than_the_one_we_tell(tmp_path: Path) -> None:
    """Each change in a real shell: what it hands to a program is what we say, or we say that nobody knows."""
    ending = [change for change in (*CHANGES, *KEEPS) if not change.startswith(("while", "select"))]
    lines = [f'X=/s/a; {change}; c1 "$X"' for change in ending]
    wrong = []
    for line, ran in zip(lines, Jail(tmp_path / "jail").run(lines, timeout_s=60), strict=True):
        analysis = analyse(line, cwd="/p", home="/h", variables={}, look=look)
        told = [simple.argv for simple in analysis.commands]
        got = [argv for argv in ran.argv if argv[0] == "c1"]
        if analysis.opaque is None and not all(any(is_covered(argv, said) for said in told) for argv in got):
            wrong.append((line, got, told))
    assert wrong == []

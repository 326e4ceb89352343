"""The reader against what bash did, and against text that nobody would write."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.studying import analyse
from support.empty_disk import look
from support.examples import examples
from support.jail import is_covered
from support.work import calls_of
from tmpwarden.guard.nouns.analysis import Analysis
from tmpwarden.guard.shell import syntax
from tmpwarden.guard.shell.reader import MAX_LENGTH, read
from tmpwarden.guard.shell.syntax import Unreadable

DATA = Path(__file__).parents[1] / "cases"
ORACLE = [json.loads(line) for line in (DATA / "bash_oracle.jsonl").read_text().splitlines()]
# commands on ways that bash did not go; and a redirect to two names, which bash refuses only when it gets there
NOT_TAKEN = {"c8", "c9x"}
FAILS_WHEN_RUN = {"c1 > out{1,}", "[[ a > b && -f c ]] && c1 ; :"}


def analysed(command: str) -> Analysis:
    return analyse(command, cwd="/w", home="/home/u", variables={}, look=look)


@pytest.mark.parametrize("row", [r for r in ORACLE if r["syntax_ok"]], ids=lambda r: repr(r["command"]))
def test_what_bash_ran_is_what_we_say(row: dict[str, object]) -> None:
    analysis = analysed(row["command"])
    said = [simple.argv for simple in analysis.commands]
    for argv in row["argv"]:
        assert any(is_covered(argv, words) for words in said), (argv, said)
    written = {use.path for simple in analysis.commands for use in simple.redirects if use.mode != "read"}
    assert {f"/w/{name}" for name in row["files"]} <= written
    if row["command"] in FAILS_WHEN_RUN:
        return
    ours = [words for words in said if words and words[0] and words[0] not in NOT_TAKEN and words[0][0] == "c"]
    for words in ours:
        assert any(is_covered(argv, words) for argv in row["argv"]), words
    assert written <= {f"/w/{name}" for name in row["files"]} | {"/dev/null"}


@pytest.mark.parametrize("row", [r for r in ORACLE if not r["syntax_ok"]], ids=lambda r: repr(r["command"]))
def test_what_bash_cannot_read_is_opaque(row: dict[str, object]) -> None:
    assert analysed(row["command"]).opaque is not None


KEYWORDS = "if_then_for i in_do_case x in_while_{_function f_f()_time_!_coproc_cd d_rm -rf_eval_bash -c_sudo_xargs"
MARKS = '$( ${ $(( (( )) <<E <<< &> >& $\' x= a[ ]] [[ $1 "$@" ${x:- /tmp/x ;; fi done esac'
OTHERS = ("; }", " ", " find . -exec ", " env A=b ", "\nE\n", "\\\n", "\0", "\r\n", "\u00a0")
PIECES = st.sampled_from([*" \t\n;&|()<>'\"\\$`*?[]{}~#!=-/a0é", *MARKS.split(" "), *KEYWORDS.split("_"), *OTHERS])
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60)


@examples(200)
@given(TEXTS)
def test_no_text_raises_and_every_span_lies_inside(text: str) -> None:
    analysis = analysed(text)
    for simple in analysis.commands:
        for start, end in [simple.span, *[use.span for use in (*simple.paths, *simple.redirects)]]:
            assert (start, end) == (-1, -1) or 0 <= start <= end <= len(text)


def words_of(tree: object) -> Iterator[syntax.Word]:
    """Every word of a tree that was read from one text."""
    if isinstance(tree, syntax.Word):
        yield tree
    if isinstance(tree, syntax.Part) and tree.text and tree.kind == syntax.COMMAND:
        return  # its places belong to another text
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from words_of(item)
    elif hasattr(tree, "__slots__"):
        for kind in type(tree).__mro__[:-1]:
            for name in kind.__slots__:
                yield from words_of(getattr(tree, name))


@examples(200)
@given(TEXTS)
def test_the_place_of_a_word_holds_that_word(text: str) -> None:
    try:
        tree = read(text)
    except syntax.Unreadable:
        return
    for word in words_of(tree):
        assert 0 <= word.start <= word.end <= len(text)
        if word.text is None or word.start == word.end or "~" in word.text:
            continue
        again = read("c " + text[word.start : word.end]).items[0][0]
        assert isinstance(again, syntax.SimpleCommand)
        assert again.words[1].text == word.text


TRAPS = (
    "$(", "$((", "((", "$(( a ) ", "`", "`\\`", "${a:-", '"$(', "{", "{a,", "a[ ", "a[", "c <<E ", "c <<E\nE\n",
    "case a in a) ", "if ", "f() { ", "a;", "a && ", "a | ", "../", "A=$A$A;", "cd a || cd b;", "{a,b}{c,d} ", "*/",
    "sudo ", "bash -c ", "[[ ( ", "=~ (", "! ", "xargs ", "find . -exec ", "env A=b ", "parallel ", "prog -o a/b rm ",
    "git -c a=b ", "docker run -v /a:/b ", "jq --arg a b ", "-f a -a ", "((a+b));", "@/a ", "hyperfine 'c' ",
    "tmux new ",
)  # fmt: skip


@pytest.mark.parametrize("times", [120, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize("start", ["", "c ", "[[ a "])
@pytest.mark.parametrize("trap", TRAPS)
def test_twice_the_text_is_not_more_than_twice_the_work(trap: str, start: str, times: int) -> None:
    once, twice = start + trap * times + "a", start + trap * 2 * times + "a"
    assert calls_of(analysed, twice) <= 2.6 * calls_of(analysed, once) + 1250


EXPLOSIVE = (
    "for i in 1 2 3 4; do " * 9 + "c" + "; done" * 9,
    "while c; do " * 12 + "c" + "; done" * 12,
    "c {1..100000000}",
    "c " + "{a,b}" * 30,
    "f(){ f; }; f;" * 50,
    "".join(f"f{i}(){{ f{i + 1}; f{i + 1}; }};" for i in range(20)) + "f0",
    "A=xx;" + "A=$A$A;" * 60 + "c $A",
    "set -- " + "a " * 2000 + ";c" + ' "$@"' * 200,
    "sed " + "python3 " * 300,
    "parallel 'parallel c ::: 1 2 3 4 5 6 7 8' ::: 1 2 3 4 5 6 7 8",
)


@pytest.mark.parametrize("text", EXPLOSIVE, ids=lambda text: text[:20])
def test_what_would_explode_is_given_up(text: str) -> None:
    assert calls_of(analysed, text) < 750_000


def test_a_long_command_is_not_even_looked_at() -> None:
    assert analysed("a" * 1_000_000).opaque == "too long"
    assert calls_of(analysed, "a" * 1_000_000) < 80  # the records of the context among them
    assert analysed("c " + "a" * (MAX_LENGTH - 2)).opaque is None


BROKEN = (
    "V=$(c <<E\na\nE\nc2; c3)",
    "rm -rf\u00a0/etc", "rm /tmp/x\0/etc", "echo \u202ehi", "rm @(a|b)", "c &\\\n& d", "c <<$x\na\n$x", "rm\u200b x",
    "${ c1; }", "c $'\\xff'", "c $'\\ud800'", "c <<E $(c2\n)\nE", "echo ${", "f( ) c", "for $x in a; do c; done",
    "c )", "c1 <<EOF\nx", "`", "$(", "case a in", "{ c", "c ${x:-$(c2 <<E\na\nE\n)}",
)  # fmt: skip


@pytest.mark.parametrize("command", BROKEN)
def test_what_is_in_disguise_or_broken_is_opaque(command: str) -> None:
    assert analysed(command).opaque is not None


PAGE = "the quick brown 'fox\n" * 50_000


@pytest.mark.parametrize(
    "form", ["cat <<'E'\n{}E\nrm -rf x", "cat <<E\n{}E\nrm -rf x", "f() {{ cat <<-'E'\n{}E\n}}\nf; rm -rf x"]
)
def test_a_long_here_document_that_is_only_text_is_passed_over(form: str) -> None:
    tree = read(form.format(PAGE))
    last = tree.items[-1][0]
    assert [word.text for word in last.words] == ["rm", "-rf", "x"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        f"cat <<E\n{PAGE}$(rm x)\nE\n",
        f"cat <<E\n{PAGE}`rm x`\nE\n",
        f"cat <<'E'\n{PAGE}",
        "rm x\n" * 60_000,
        f"# <<'E'\n{'rm x; ' * 60_000}\nE\n",
        f"cat <<'E'\n{PAGE}E\n{'rm x; ' * 60_000}",
        f"'{PAGE}'",
        f"x='<<E\n{PAGE}E\n'; rm x",
    ],
)
def test_anything_else_that_is_long_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


def test_a_here_document_ends_with_the_string_that_it_stands_in() -> None:
    with pytest.raises(Unreadable):
        read("x=`cat <<'E'\na`\nE\n")

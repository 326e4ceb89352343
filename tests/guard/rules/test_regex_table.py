"""A regex that may take forever in `re` answers from a table: as `re` would, in one step a character."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmpwarden.catalogue.names import why_costly
from tmpwarden.guard.rules.decode import prepared
from tmpwarden.guard.rules.patterns import BY_TABLE, is_match, matches_table
from tmpwarden.guard.rules.regex_table import MOST_STATES, NoTable, table_of
from tmpwarden.guard.rules.rule import Rule

ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "-",
        " ",
        ".",
        "[ab]",
        "[^a]",
        "[a-c]",
        "\\w",
        "\\d",
        "\\s",
        "\\W",
        "\\S",
        "\\b",
        "\\B",
        "^",
        "$",
        "\\A",
        "\\Z",
        "é",
    ]
)
REGEXES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?", "{2,}"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)
TEXTS = st.text(alphabet="abc-_ 1\n\té日", max_size=8)


def answer(regex: str, text: str) -> bool | None:
    return matches_table(json.loads(json.dumps(table_of(regex))), text)


@given(st.sampled_from(["", "(?i)"]), REGEXES, st.lists(TEXTS, min_size=1, max_size=6))
def test_the_table_says_what_re_says(flags: str, regex: str, texts: list[str]) -> None:
    for text in texts:
        said = answer(flags + regex, text)
        assert said in (None, re.fullmatch(flags + regex, text, re.DOTALL) is not None), (regex, text)
        assert said is not None or not text.isascii()


@pytest.mark.parametrize(
    ("regex", "text", "wanted"),
    [
        ("(?:a|a)*b", "a" * 50_000, False),
        ("(?:a|a)*b", "a" * 50_000 + "b", True),
        ("(a+)+b", "a" * 50_000 + "c", False),
        (".*(git|hub) +push\\b.* (-f|--force)\\b.* x", "git push " + "x" * 50_000 + " --force now x", True),
        ("(x*)(y*)(z*)(a*)b", "x" * 20_000 + "b", True),
    ],
)
def test_what_would_take_re_forever_is_answered_from_the_table(regex: str, text: str, wanted: bool) -> None:
    rule = Rule("check", "deny", "x", operands=prepared(regex))
    assert rule.operands[1] == BY_TABLE
    assert is_match(rule, text) is wanted


@pytest.mark.parametrize(
    "regex", ["curl .*", "rm -r(f)? [a-z]+", "(?:a|b)*c", "(?:ab|cd)*", "(?i)GIT .*", "git (?!status).*"]
)
def test_what_surely_ends_soon_runs_on_re(regex: str) -> None:
    assert prepared(regex)[1] != BY_TABLE


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        ("(a)*\\1", "back reference"),
        ("(?=a)(b+)+", "look-around"),
        ("(b+)+(?<!a)", "look-around"),
        ("(.*)+a.{12}", f"more than {MOST_STATES} states"),
        ("(?m)(a+)+", "flags"),
        ("(a{1,200}){1,200}", "too large"),
        ("(", "not a regex"),
    ],
)
def test_what_neither_can_do_is_refused_with_the_reason(regex: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        prepared(regex)


@pytest.mark.parametrize(
    "regex", ["(?:a|a)*b", "(?:ab|a)*c", "(?:a|)*b", "(?i)(?:ax|Ay)*b", "(a|b+)*c", "(?:\\wx|éy)*b"]
)
def test_alternatives_that_begin_alike_in_a_repeat_are_not_called_cheap(regex: str) -> None:
    from re import _parser as parser  # type: ignore[attr-defined]

    assert why_costly(parser.parse(regex))


def test_no_table_has_more_states_than_it_may() -> None:
    with pytest.raises(NoTable):
        table_of(".*a.{20}")

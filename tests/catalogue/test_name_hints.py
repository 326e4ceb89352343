"""What a glance at a name says: "surely none of this row's", or nothing. It never says it of one that is."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from support.examples import examples
from tmpwarden.catalogue.compiled import hint_of
from tmpwarden.catalogue.load import load
from tmpwarden.catalogue.names import complaint_about_name, hint
from tmpwarden.catalogue.patterns import FLAGS, name_pattern
from tmpwarden.model.sweep import Litter

ROWS = load(dirs=()).rows


def test_flags_are_what_their_comment_says() -> None:
    assert FLAGS == re.ASCII | re.DOTALL


@pytest.mark.parametrize(
    ("pattern", "starts", "ends"),
    [
        ("claude-[0-9]+", ("claude-",), ("",)),
        ("\\.tmp(?:a|b)c", (".tmp",), ("c",)),
        ("ab+c", ("ab",), ("bc",)),
        ("x1|y[0-9]", ("x1", "y"), ("",)),
        ("(?:moat|agentops)-aws-[0-9]+", ("agentops-aws-", "moat-aws-"), ("",)),
        ("(?!codex-)[a-z]+-(?:cargo-)?target", ("",), ("target",)),
        ("tsx-{uid}", ("tsx-",), ("",)),
        ("a?b", ("",), ("b",)),
        ("(?i:ab)c", ("",), ("c",)),
        ("(?i)ab", ("",), ("",)),
        ("(a|)b", ("ab", "b"), ("ab", "b")),
    ],
)
def test_beginnings_and_ends_are_as_long_as_the_pattern_shows(
    pattern: str, starts: tuple[str, ...], ends: tuple[str, ...]
) -> None:
    found = hint(pattern)
    assert (found.starts, found.ends) == (starts, ends)


@pytest.mark.parametrize(("pattern", "least", "most"), [("[a-z]{21}", 21, 21), ("ab?", 1, 2), ("a-{uid}", 3, 4096)])
def test_the_length_is_the_patterns(pattern: str, least: int, most: int) -> None:
    assert (hint(pattern).least, hint(pattern).most) == (least, most)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_takes_a_second_look_at_each_name_that_it_matches(row: Litter) -> None:
    for name in row.matches:
        assert hint_of(row.name).fits(name) or not re.fullmatch(name_pattern(row.name, 1000), name, FLAGS)


@examples(300)
@given(st.data(), st.sampled_from(ROWS), st.sampled_from((0, 7, 1000, 4294967294)))
def test_whatever_a_built_in_row_matches_fits_its_hint(data: st.DataObject, row: Litter, uid: int) -> None:
    name = data.draw(st.from_regex(re.compile(name_pattern(row.name, uid), FLAGS), fullmatch=True))
    assume(len(name) < 256)
    assert hint_of(row.name).fits(name)


@given(
    st.text(alphabet="ab._-", max_size=3),
    st.text(alphabet="ab|()[]?*+{}\\.", max_size=8),
    st.text("ab([|.", max_size=6),
)
@example("a", "[(]|b", "b")
@example("a", "[](]|b", "b")
@example("a", "[^\\](]|b", "b")
@example("a", "b?", "a")
@example("", "ab{0}", "a")
@example("", "\\.+a", "..a")
def test_whatever_any_pattern_matches_fits_its_hint(first: str, rest: str, name: str) -> None:
    pattern = re.escape(first) + rest
    if not complaint_about_name(pattern, shared=False) and re.fullmatch(pattern, name, re.DOTALL):
        assert hint(pattern).fits(name)

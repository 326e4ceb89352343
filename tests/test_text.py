"""Words in, numbers out, and back."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmpwarden import text


@pytest.mark.parametrize(
    ("words", "seconds"),
    [("90s", 90), ("30m", 1800), ("1h30m", 5400), ("24h", 86400), ("7d", 604800), ("168h", 604800)],
)
def test_durations_of_the_contract(words: str, seconds: int) -> None:
    assert text.parse_duration(words) == seconds


@pytest.mark.parametrize(
    "words", ["", " ", "90", "-1h", "1h-30m", "h", "1x", "30m1h", "1h1h", "١h", "1e9h", "99999999999d", "1.5h", "1 h"]
)
def test_what_is_no_duration_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        text.parse_duration(words)


@given(st.integers(0, 10**9))
def test_a_shown_duration_reads_back_within_its_last_unit(seconds: int) -> None:
    back = text.parse_duration(text.duration(seconds))
    assert back <= seconds < back + max(60, seconds * 0.5 + 1)


@pytest.mark.parametrize("parse", [text.parse_duration, text.parse_size])
@given(words=st.text())
def test_any_text_is_a_number_or_a_value_error(parse: Callable[[str], int], words: str) -> None:
    try:
        assert parse(words) >= 0
    except ValueError as error:
        assert str(error).isprintable()


@pytest.mark.parametrize(
    ("words", "count"),
    [("800M", 800 << 20), ("2G", 2 << 30), ("4096", 4096), ("1.5K", 1536), ("2GB", 2 << 30), ("2GiB", 2 << 30)],
)
def test_sizes(words: str, count: int) -> None:
    assert text.parse_size(words) == count


@given(st.binary(max_size=255))
def test_shown_names_are_printable_and_tell_names_apart(raw: bytes) -> None:
    name = raw.decode(errors="surrogateescape")
    assert text.shown(name).isprintable()
    assert text.shown(name) == name or text.shown(name).startswith("$'")

"""One reader of JSON for payloads, leases and compiled files: never a crash, never another value than json gives."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmpwarden.leases.record import decode
from tmpwarden.small_json import decode_object, dumps, encode

TORN = ('{"path": "/tm', "{", '{"a"', "[1,", '{"a": 1,', "", "[]", "null", "[" * 100_000, '{"a":' * 100_000)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_torn_text_is_nothing_and_not_a_crash_where_nobody_has_imported_json() -> None:
    """The C scanner then raises SystemError, not ValueError."""
    code = (
        "from tmpwarden.small_json import decode_object as read\nimport sys\nassert 'json' not in sys.modules\n"
        "torn = eval(sys.stdin.read())\n"
        "print({read(text) for text in torn} | {read(text.encode()) for text in torn} | {read(bytes([255]))})"
    )
    result = subprocess.run([sys.executable, "-I", "-c", code], input=repr(TORN), capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("{None}\n", "")


@given(st.dictionaries(st.text(), VALUES))
def test_what_is_written_reads_back_here_and_in_json(document: dict[str, object]) -> None:
    assert decode_object(encode(document)) == json.loads(encode(document)) == document
    assert decode_object(json.dumps(document)) == document


OBJECTS = st.recursive(
    st.dictionaries(st.text(), st.text()), lambda inner: st.dictionaries(st.text(), st.text() | inner), max_leaves=9
)


@given(OBJECTS, st.booleans(), st.lists(st.tuples(st.integers(0, 200), st.sampled_from('{}":, a\\\n1[')), max_size=3))
def test_payloads_are_read_as_json_reads_them_whole_and_damaged(
    document: dict[str, object], compact: bool, damage: list[tuple[int, str]]
) -> None:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":") if compact else (", ", ": "))
    for at, mark in damage:
        text = text[:at] + mark + text[at + (at % 2) :]
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text.strip())
    except ValueError:
        value = None
    assert decode_object(text) == (value if isinstance(value, dict) else None)


@pytest.mark.parametrize("text", ['{"a": "x\ty"}', '{"a": "x\x01y"}'])
def test_control_characters_in_strings_are_read_as_agents_write_them(text: str) -> None:
    assert decode_object(text) == json.loads(text, strict=False)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_nothing(word: str) -> None:
    assert decode_object(f'{{"a": {word}}}') == {"a": None}
    assert encode(float(word)) == "null"


def test_a_date_that_no_clock_tells_is_none() -> None:
    text = '{"agent": "a", "session": "s", "pid": 1, "created": 1' + "0" * 400 + "}"
    lease = decode(text, "/tmp/x")
    assert lease is not None
    assert lease.created == 0.0


@given(VALUES | st.floats())
def test_what_is_written_for_programs_is_what_json_writes(value: object) -> None:
    assert dumps(value) == json.dumps(value)
    assert dumps(value, compact=True) == json.dumps(value, separators=(",", ":"))


def test_what_is_no_json_is_refused_as_json_refuses_it() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        dumps({"a": {1}})
    with pytest.raises(ValueError, match="Circular"):
        dumps(circle)

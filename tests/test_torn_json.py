"""Torn text, read where nobody has imported json: the C scanner then raises SystemError, not ValueError."""

import subprocess
import sys

import pytest

from tmpwarden.leases.record import decode

TORN = ('{"path": "/tm', "{", '{"a"', "[1,", '{"a": 1,')


@pytest.mark.parametrize(
    "read",
    [
        "from tmpwarden.leases.record import decode_object as read; expected = None",
        "from tmpwarden.hooks.wire import decode; read = lambda text: decode(text.encode()); expected = {}",
    ],
    ids=["leases", "hooks"],
)
def test_torn_text_is_nothing_and_not_a_crash(read: str) -> None:
    code = f"{read}\nimport sys\nassert 'json' not in sys.modules\nprint([read(text) == expected for text in {TORN!r}])"
    result = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == (f"{[True] * len(TORN)}\n", "")


def test_a_date_that_no_clock_tells_is_none() -> None:
    text = '{"agent": "a", "session": "s", "pid": 1, "created": 1' + "0" * 400 + "}"
    lease = decode(text, "/tmp/x")
    assert lease is not None
    assert lease.created == 0.0

"""The published schema of the response envelope, as facts: response-envelope.json of romamo/cli-agent-ergonomics.

Each object: key -> (kinds of its value, is it required). No other keys are allowed, but in `meta` and `data`.
"""

import json
from typing import Any

TEXT, NUMBER, FLAG = (str,), (int,), (bool,)
NOTHING = type(None)
ENVELOPE = {
    "ok": (FLAG, True),
    "data": ((dict, list, NOTHING), True),
    "error": ((dict, NOTHING), True),
    "warnings": ((list,), True),
    "meta": ((dict,), True),
}
ERROR = {
    "code": (TEXT, True),
    "message": (TEXT, True),
    "detail": (TEXT, False),
    "retryable": (FLAG, False),
    "retry_after": (NUMBER, False),
    "phase": (TEXT, False),
    "suggestion": (TEXT, False),
    "redirect": ((dict,), False),
}
META = {
    "duration_ms": (NUMBER, True),
    "request_id": (TEXT, False),
    "schema_version": (TEXT, False),
    "not_modified": (FLAG, False),
    "truncated": (FLAG, False),
    "cursor": (TEXT, False),
}
_PHASES = ("validation", "execution", "cleanup")


def checked(text: str, status: int) -> dict[str, Any]:
    """The envelope in `text`, which is one line and nothing else, and says what the exit status says."""
    assert text.count("\n") == 1, text
    envelope: dict[str, Any] = json.loads(text)
    _check(envelope, ENVELOPE)
    _check(envelope["meta"], META, is_open=True)
    assert all(isinstance(each, str) for each in envelope["warnings"])
    assert envelope["meta"]["duration_ms"] >= 0
    assert envelope["ok"] is (status == 0), (status, text)
    assert (envelope["error"] is None) is (status == 0), "null on success, and only then"
    if envelope["error"] is not None:
        _check(envelope["error"], ERROR)
        assert envelope["error"].get("phase", _PHASES[0]) in _PHASES
    return envelope


def _check(value: dict[str, Any], keys: dict[str, tuple[tuple[type, ...], bool]], *, is_open: bool = False) -> None:
    assert is_open or value.keys() <= keys.keys(), value.keys() - keys.keys()
    assert value.keys() >= {key for key, (_, is_required) in keys.items() if is_required}
    for key, (kinds, _) in keys.items():
        if key in value:
            assert type(value[key]) in kinds, (key, value[key])

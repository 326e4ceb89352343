"""Everything the six agents were seen to send, as it was and broken in 10,000 ways: exit 0, an answer they accept."""

import copy
import json
import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from hooks.calling import PAYLOADS, complaints, hook
from support.examples import examples
from tmpwarden.hooks.entry import respond
from tmpwarden.lifecycle import background

pytestmark = pytest.mark.usefixtures("packed")

RECORDED = [(path, json.loads(path.read_text())) for path in PAYLOADS]
_BY_NAME = {f"{path.parent.name}/{path.stem}": (path.parent.name, recorded) for path, recorded in RECORDED}


@pytest.fixture(autouse=True)
def nothing_due(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No background job starts from within the test process: a thousand forks of it would be all that is measured."""
    monkeypatch.setattr(background, "detach", lambda *_, **__: True)
    notes = own_world / "state" / "tmpwarden" / "hooks"
    notes.mkdir(parents=True, mode=0o700)
    for name, seconds in (("markers.due", 55), ("clean.due", 3000)):
        (notes / name).touch()
        os.utime(notes / name, (time.time() + seconds, time.time() + seconds))


@pytest.mark.parametrize("name", _BY_NAME)
def test_a_recorded_payload_gets_an_answer_its_agent_accepts(name: str) -> None:
    agent, recorded = _BY_NAME[name]
    result = hook(agent, recorded["event"], recorded["stdin"], env=recorded["env"])
    assert (result.returncode, result.stderr) == (0, b"")
    assert complaints(agent, recorded["event"], result.stdout) == []


def _environ() -> dict[bytes, bytes]:
    return dict(os.environb)


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)


@examples(150, suppress_health_check=list(HealthCheck))
@given(data=st.data(), name=st.sampled_from(sorted(_BY_NAME)))
def test_a_mutated_payload_gets_an_answer_its_agent_accepts(data: st.DataObject, name: str) -> None:
    """Twenty mutations of each example: fields of another type, missing, nested; bytes flipped, cut, doubled."""
    agent, recorded = _BY_NAME[name]
    strange, seed = data.draw(_ANYTHING), data.draw(st.integers(0, 2**32))
    for raw in _mutations(recorded["stdin"], strange, random.Random(seed), 20):
        answer = respond([agent, recorded["event"]], raw, _environ())
        assert complaints(agent, recorded["event"], answer) == []


@pytest.mark.parametrize("how_many", [30, pytest.param(300, marks=pytest.mark.long)])
def test_mutated_payloads_as_processes_all_exit_0(how_many: int) -> None:
    dice = random.Random(8856)
    names = sorted(_BY_NAME)
    for count in range(how_many):
        agent, recorded = _BY_NAME[names[count % len(names)]]
        raw = next(_mutations(recorded["stdin"], {"deep": [None, "\ud800", 1e999]}, dice, 1))
        result = hook(agent, recorded["event"], raw)
        assert (result.returncode, result.stderr) == (0, b""), raw
        assert complaints(agent, recorded["event"], result.stdout) == []


def _mutations(stdin: dict[str, object], strange: object, dice: random.Random, count: int):  # type: ignore[no-untyped-def]
    for _ in range(count):
        changed = json.loads(json.dumps(stdin))
        for _ in range(dice.randint(1, 3)):
            _change(changed, strange, dice)
        raw = json.dumps(changed, separators=dice.choice(((",", ":"), (", ", ": ")))).encode()
        yield dice.choice((_whole, _whole, _cut, _flipped, _doubled))(raw, dice)


def _change(value: dict[str, object], strange: object, dice: random.Random) -> None:
    if not value:
        return
    key = dice.choice(sorted(value))
    inner = value[key]
    if isinstance(inner, dict) and dice.random() < 0.7:
        _change(inner, strange, dice)
    elif dice.random() < 0.3:
        del value[key]
    else:
        value[key] = dice.choice(
            (copy.deepcopy(strange), "x" * 5000, [], {}, None, 10**30, "/tmp/../etc", "a\0b", "\ud800")
        )


def _whole(raw: bytes, _: random.Random) -> bytes:
    return raw


def _cut(raw: bytes, dice: random.Random) -> bytes:
    return raw[: dice.randrange(len(raw) + 1)]


def _flipped(raw: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(raw)) if raw else 0
    return raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]


def _doubled(raw: bytes, _: random.Random) -> bytes:
    return raw + raw

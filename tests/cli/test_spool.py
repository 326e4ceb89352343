"""What a program gets of many findings is the same document, and it does not fill the memory on its way."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.litter import claude_session
from tmpwarden.cli import seen
from tmpwarden.cli.call import Call
from tmpwarden.cli.envelope import Spool, chunks
from tmpwarden.cli.main import main
from tmpwarden.model.request import Request

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
documents = st.dictionaries(st.text(), values, max_size=4)


def filled(all_of: list[dict[str, object]]) -> Spool:
    spool = Spool()
    for each in all_of:
        spool.add(each)
    return spool


@examples(50)
@given(st.lists(documents, max_size=4), documents)
def test_a_spool_in_an_envelope_reads_as_the_list_that_went_in(rows: list[dict[str, object]], rest: dict) -> None:
    rest.pop("findings", None)
    started = time.monotonic()
    told = "".join(chunks({"findings": filled(rows), **rest}, None, [], exit_code=0, started=started))
    plain = "".join(chunks({"findings": rows, **rest}, None, [], exit_code=0, started=started))
    assert json.loads(told)["data"] == json.loads(plain)["data"]
    assert told.isascii() and "\n" not in told


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 1500])
def test_every_document_comes_back_in_order_as_often_as_wanted(count: int) -> None:
    spool = filled([{"n": number, "path": "/tmp/\udcff\n"} for number in range(count)])
    for _ in range(2):
        assert [json.loads(text)["n"] for text in spool] == list(range(count))
    assert len(spool) == count


def test_a_program_is_told_what_people_are_shown(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        claude_session(own_world / "tmp")
    (own_world / "tmp" / "unknown-1").write_text("x")
    now = time.time_ns()
    whole = seen.look(Call(now_ns=lambda: now), Request(), in_full=False).document()
    assert main(["scan", "--json"], now_ns=lambda: now) == 0
    told = json.loads(capsys.readouterr().out)["data"]
    for document in (whole, told):
        document.pop("roots")  # how full the disk is changes while we look
    assert told == json.loads(json.dumps(whole))
    assert len(told["findings"]) == 3

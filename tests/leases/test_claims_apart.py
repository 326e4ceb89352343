"""What a claim rests on, each part by itself: the windows of calls, the identity, every member."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.holding import process
from tmpwarden.leases import births, claims, stated
from tmpwarden.leases.made_names import note_made
from tmpwarden.model.belongings import Birth
from tmpwarden.oskit.files.dated import Dated, dated_tree
from tmpwarden.oskit.proc.open_files import written_by_session as written_by

SESSION = "5d0f6a52-1f0e-4d0e-8f5a-000000000001"
MS, S = 10**6, 10**9


@pytest.fixture
def state(tmp_path: Path) -> str:
    (tmp_path / "state" / "hooks").mkdir(parents=True, mode=0o700)
    return str(tmp_path / "state")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "file").write_text("x")
    return made


def seen(path: Path) -> Dated:
    found = next(dated_tree(str(path)))[1]
    assert found is not None
    return found


def born(path: Path, **wrong: int) -> Birth:
    found = seen(path)
    assert found.born_ns is not None
    facts = {"device": found.device, "inode": found.inode, "born_ns": found.born_ns} | wrong
    return Birth(str(path), **facts, agent="claude", session=SESSION, command="make", owned=True)


def all_along(state: str) -> None:
    claims.note_call(state, SESSION, (1, time.time_ns() + S))


def test_a_call_lasts_from_its_start_to_the_hook_after_it() -> None:
    asked, ended = 1_000 * S, 1_010 * S
    assert claims.window(asked, 9_900 * MS, ended) == (asked - 10 * MS, ended), "no sooner than the hook before it"
    assert claims.window(asked, 100 * MS, ended) == (ended - 2_100 * MS, ended), "less the wait for a permission"
    assert claims.window(asked, 0, ended) == (ended - 2 * S, ended), "an agent that does not say how long it took"
    assert claims.window(0, 500 * MS, ended) == (ended - 2_500 * MS, ended), "without a hook before it"


def test_a_date_lies_in_some_call_or_in_none(state: str) -> None:
    for times in ((100, 200), (150, 300), (400, 500)):
        claims.note_call(state, SESSION, times)
    windows = claims.read(state, SESSION)
    inside = [at for at in (99, 100, 250, 300, 301, 399, 400, 500, 501) if windows.cover(at)]
    assert inside == [100, 250, 300, 400, 500]
    assert windows.last_ns == 500


def test_an_untouched_tree_is_the_sessions(state: str, tree: Path) -> None:
    assert claims.doubt(state, born(tree)), "no call is known"
    all_along(state)
    assert claims.doubt(state, born(tree)) == ""
    assert claims.doubt(state, born(tree), 2) == "it holds too much to look at it all"


@pytest.mark.parametrize("fact", ["device", "inode", "born_ns"])
def test_another_entry_of_that_name_is_not_it(state: str, tree: Path, fact: str) -> None:
    all_along(state)
    other = born(tree, **{fact: getattr(born(tree), fact) + 1})
    assert claims.doubt(state, other) == "it is not the entry that was made then"


def _link(tree: Path) -> None:
    os.link(tree / "sub" / "file", tree.parent / "other name")


def _hidden(tree: Path) -> None:
    deep = tree
    for _ in range(110):
        deep = deep / "d"
        deep.mkdir()


@pytest.mark.parametrize(
    ("touch", "words"), [(_link, "sub/file has another name, too"), (_hidden, "could not be looked at")]
)
def test_what_speaks_against_it_is_told(state: str, tree: Path, touch: Callable[[Path], None], words: str) -> None:
    touch(tree)
    all_along(state)
    assert words in claims.doubt(state, born(tree))


def test_a_file_that_is_older_than_the_calls_was_brought_there(state: str, tree: Path) -> None:
    """Its dates are new: it was renamed and touched."""
    made_ns = seen(tree / "sub" / "file").born_ns
    assert made_ns is not None
    while time.time_ns() < made_ns + 50 * MS:
        os.utime(tree / "sub" / "file")
        os.utime(tree / "sub")
    (tree.parent / "young").mkdir()
    (tree / "sub" / "file").rename(tree.parent / "young" / "file")
    young = born(tree.parent / "young")
    claims.note_call(state, SESSION, (young.born_ns, time.time_ns() + S))
    os.utime(tree.parent / "young" / "file")
    assert claims.doubt(state, young) == "file was not made in a call of that session"


def test_a_full_journal_of_calls_forgets_the_oldest(state: str, tree: Path) -> None:
    claims.note_call(state, SESSION, (1, 2))
    for at in range(4_000):
        claims.note_call(state, SESSION, (10 + 10 * at * S, 15 + 10 * at * S))
    windows = claims.read(state, SESSION)
    assert not windows.cover(1)
    assert windows.cover(12 + 10 * 3_999 * S)
    assert os.stat(f"{state}/hooks/{SESSION}.calls").st_size < 1 << 18


def test_only_who_can_write_is_a_hand_of_the_session(tmp_path: Path) -> None:
    read, written, others = (tmp_path / name for name in ("read", "written", "others"))
    for path in (read, written, others):
        path.write_text("x")
    source = "import sys; held = [open(sys.argv[1]), open(sys.argv[2], 'a')]"
    env = {"PATH": "/usr/bin:/bin", "CLAUDE_CODE_SESSION_ID": SESSION}
    with (
        process(source, str(read), str(written), env=env),
        process("import sys; held = open(sys.argv[1], 'a')", str(others)),
    ):
        found = {path: inode for path, inode in written_by(SESSION) if path.startswith(str(tmp_path))}
        assert found == {str(written): written.stat().st_ino}
        assert list(written_by("")) == []


def test_since_when_a_session_is_gone_is_what_the_first_look_said(state: str) -> None:
    assert claims.gone_since_ns(state, SESSION, True, 100) == 100
    assert claims.gone_since_ns(state, SESSION, True, 900) == 100
    claims.note_call(state, SESSION, (300, 400))
    assert claims.gone_since_ns(state, SESSION, True, 900) == 400, "it made a call since"
    assert claims.gone_since_ns(state, SESSION, False, 1_000) == 1_000, "it lives"
    assert claims.gone_since_ns(state, SESSION, True, 1_100) == 1_100


def test_what_two_notes_of_one_entry_mean(state: str, tree: Path) -> None:
    mine, seen_by_other = born(tree), born(tree)
    seen_by_other.session, seen_by_other.owned = "other", False
    births.note(state, [mine, seen_by_other])
    assert births.read(state)[str(tree)].is_claimed
    also_claimed = born(tree)
    also_claimed.session = "other"
    births.note(state, [also_claimed])
    assert not births.read(state)[str(tree)].is_claimed


def test_a_statement_without_an_end_says_nothing_of_what_appeared(state: str, tmp_path: Path) -> None:
    """Not even that it appeared then: the call may have been denied, and somebody else may have made it."""
    file, path = f"{state}/hooks/s.stated", tmp_path / "made"
    call = stated.Statement("claude", SESSION, "1", command="make", paths=[str(path)], others=[], pid=1, start=None)
    stated.state_names(file, call)
    path.write_text("x")
    note_made(state, file)
    assert births.read(state) == {}
    assert [one.call for one in stated.read(file)] == ["1"], "its end may come"
    stated.end(file, "1", (call.time_ns - S, time.time_ns() + S), goes_on=False)
    note_made(state, file)
    assert births.read(state)[str(path)].owned
    assert stated.read(file) == []


def test_what_was_born_outside_the_call_that_states_it_is_not_its_own(state: str, tmp_path: Path) -> None:
    """Another call of the session may have run then."""
    file, path = f"{state}/hooks/s.stated", tmp_path / "made"
    path.write_text("x")
    call = stated.Statement("claude", SESSION, "1", command="make", paths=[str(path)], others=[], pid=1, start=None)
    stated.state_names(file, call)
    stated.end(file, "1", (1, 2), goes_on=False)
    note_made(state, file)
    assert births.read(state) == {}

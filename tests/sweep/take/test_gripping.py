"""Units that are taken together: what is about to be done is written down for all of them before the first moves."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from support.litter import claude_session, later, snapshot
from support.windows import strike
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Receipt
from tmpwarden.model.terms import Reason
from tmpwarden.oskit.files import atomic
from tmpwarden.oskit.files import take as rename
from tmpwarden.oskit.proc import locks
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.find.scan import Parents
from tmpwarden.sweep.store.journal import Journal, entries, open_intents, restorable
from tmpwarden.sweep.take import taking

SLUGS = ("-a", "-a", "-b", "-c")


def units(world: Path) -> list[Path]:
    return [claude_session(world / "tmp", slug=slug) for slug in SLUGS]


def test_all_intents_are_written_before_the_first_unit_moves(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    litter, state = units(own_world), str(own_world / "state" / "tmpwarden")
    known: list[set[str]] = []

    def look(here: str) -> None:
        if here == "judged, not yet taken":
            known.append({line["path"] for line in entries(state) if line["t"] == "intent"})

    monkeypatch.setattr(rename, "_race_window", look)
    clean(now_ns=later(100))
    assert known[0] >= {str(unit) for unit in litter}


@pytest.mark.parametrize("keeps", [True, False], ids=["quarantine", "no quarantine"])
def test_what_a_killed_group_had_not_come_to_is_whole_where_it_was(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    litter, state = units(own_world), str(own_world / "state" / "tmpwarden")
    before = [snapshot(unit) for unit in litter]
    child = os.fork()
    if child == 0:
        strike(monkeypatch, rename, "judged, not yet taken", lambda: os._exit(9), nth=3)
        clean(Request(quarantine=keeps), now_ns=later(100))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(open_intents(state)) == len(litter)
    left = [(unit, shape) for unit, shape in zip(litter, before, strict=True) if unit.exists()]
    assert len(left) == 2 and all(snapshot(unit) == shape for unit, shape in left)
    clean(Request(agents=("codex",)), now_ns=later(100))
    assert open_intents(state) == []
    assert all(snapshot(unit) == shape for unit, shape in left)
    endings = [line["t"] for line in entries(state) if line["t"] in ("receipt", "settled") and "id" in line]
    assert sorted(endings) == ["receipt", "receipt", "settled", "settled"]


def test_where_all_lines_do_not_fit_each_is_tried_alone(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written down stays, and keeps no other from going."""
    litter, append = units(own_world), atomic.append_line

    def full(path: str, line: bytes | str, **words: object) -> None:
        text = line if isinstance(line, str) else line.decode()
        if '"intent"' in text and ("\n" in text or str(litter[2]) in text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(path, line)

    monkeypatch.setattr(atomic, "append_line", full)
    result = clean(now_ns=later(100))
    assert [unit.exists() for unit in litter] == [False, False, True, False]
    assert [receipt.finding.path for receipt in result.failed] == [str(litter[2])]


def test_another_directory_in_the_place_of_one_of_a_group_is_left_alone(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    litter = units(own_world)

    def swap() -> None:
        os.rename(litter[1], own_world / "elsewhere")
        litter[1].mkdir()
        (litter[1] / "precious").write_text("mine")

    strike(monkeypatch, taking, "gripped, not yet written down", swap)
    clean(Request(quarantine=False), now_ns=later(100))
    assert (litter[1] / "precious").read_text() == "mine"
    assert [unit.exists() for unit in litter] == [False, True, False, False]


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM], ids=os.strerror)
@pytest.mark.parametrize("opens", ["pin", "open_dir"], ids=["its pin", "its lock"])
def test_a_unit_that_cannot_be_opened_to_be_taken_is_told_as_failed(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, opens: str, error: int
) -> None:
    """Only ENOENT says that it is gone, and only a lock that somebody has says that it is locked."""
    litter = units(own_world)
    module = rename if opens == "pin" else locks
    real = getattr(module, opens)

    def starved(name: str, dir_fd: int) -> object:
        if opens == "pin":  # (dir_fd, name)
            name, dir_fd = dir_fd, name  # type: ignore[assignment]
        if os.path.normpath(os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), name)) == str(litter[1]):
            raise OSError(error, os.strerror(error))
        return real(*((dir_fd, name) if opens == "pin" else (name, dir_fd)))

    monkeypatch.setattr(module, opens, starved)
    result = clean(now_ns=later(100))
    assert [unit.exists() for unit in litter] == [False, True, False, False]
    assert [receipt.finding.path for receipt in result.failed] == [str(litter[1])]
    assert os.strerror(error) in result.failed[0].detail


def test_the_lock_that_counts_is_that_of_the_pinned_directory(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another directory has its name while it is locked, and is gone again before the rename."""
    unit, held = claude_session(own_world / "tmp"), []
    aside, decoy = own_world / "aside", own_world / "decoy"
    decoy.mkdir()

    def swap(here: str) -> None:
        if here == "pinned, not yet locked":
            held.append(os.open(unit, os.O_RDONLY))
            fcntl.flock(held[0], fcntl.LOCK_EX)
            os.rename(unit, aside)
            os.rename(decoy, unit)
        elif here == "gripped, not yet written down":
            os.rename(unit, decoy)
            os.rename(aside, unit)

    monkeypatch.setattr(taking, "_race_window", swap)
    result = clean(now_ns=later(100))
    os.close(held[0])
    assert [receipt.reason for receipt in result.spared] == [Reason.LOCK]
    assert aside.exists() and not result.removed


def test_a_unit_whose_directory_cannot_be_opened_is_told_as_failed(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    litter, real = units(own_world), Parents.open

    def starved(self: Parents, root: str, path: str) -> int:
        if self.most > 1 and path == str(litter[2].parent):  # not for its judging
            raise OSError(errno.ENFILE, os.strerror(errno.ENFILE))
        return real(self, root, path)

    monkeypatch.setattr(Parents, "open", starved)
    result = clean(now_ns=later(100))
    assert [unit.exists() for unit in litter] == [False, False, True, False]
    assert [receipt.finding.path for receipt in result.failed] == [str(litter[2])]


def test_a_journal_loses_no_line_of_those_that_wait_for_each_other_within_others(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    assert journal.open()
    with journal.together():
        journal.note("observed", id="1")
        with journal.together():
            journal.note("observed", id="2")
        journal.note("observed", id="3")
    journal.note("observed", id="4")
    assert [line["id"] for line in entries(str(tmp_path), "observed")] == ["1", "2", "3", "4"]


def test_what_was_told_is_in_the_journal_though_a_listener_failed(own_world: Path) -> None:
    """The last look stands still then, in the middle of its lines, while the sweep comes to its end."""
    litter, state, told = units(own_world), str(own_world / "state" / "tmpwarden"), []

    def listen(receipt: Receipt) -> None:
        told.append(receipt.id)
        if len(told) == 3:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        clean(now_ns=later(100), on_receipt=listen)
    assert told[:3] and set(told) <= {line["id"] for line in entries(state, "receipt") if line["t"] == "receipt"}
    clean(Request(agents=("codex",)))
    assert open_intents(state) == []
    assert len(restorable(state)) == len([unit for unit in litter if not unit.exists()])

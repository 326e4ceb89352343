"""Undo beside expiry, other undos, and a journal that somebody edited: whole, or not at all, and never in the way."""

import contextlib
import errno
import io
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from support.litter import claude_session, later, snapshot
from support.mounts import needs_root
from tmpwarden.cli.main import main
from tmpwarden.errors import NameTaken, NotFound, UnsafeRoot
from tmpwarden.model.answers import Nobody, NotMeasured
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import take
from tmpwarden.oskit.files.doomed import Bound
from tmpwarden.oskit.files.opening import closing
from tmpwarden.oskit.proc import holders
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import quarantine
from tmpwarden.sweep.store.journal import open_intents, restorable
from tmpwarden.sweep.store.labels import still_there
from tmpwarden.sweep.store.undo import undo


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


@pytest.fixture
def state(own_world: Path) -> str:
    return str(own_world / "state" / "tmpwarden")


def once(strike: Callable[[], object]) -> Callable[[str], None]:
    left = [strike]
    return lambda name: left.pop()() and None if left else None


class Killed(BaseException):
    """As kill -9: nothing of ours runs after it."""


def test_half_of_a_unit_is_never_brought_back(root: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = claude_session(root, files=5)
    clean(now_ns=later(100))
    (token,) = restorable(state)

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as moment:
        moment.setattr(os, "rmdir", die)  # its files are gone, its directories are not
        with pytest.raises(Killed):
            clean(now_ns=later(200))
    with pytest.raises(NotFound):
        undo(token)
    assert not unit.exists()
    clean(now_ns=later(300))
    assert list(Path(quarantine.beside(str(root))).iterdir()) == []


def test_an_undo_during_expiry_finds_nothing(root: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = claude_session(root)
    clean(now_ns=later(100))
    (token,) = restorable(state)
    found: list[str] = []

    def strike() -> None:
        try:
            undo(token)
        except NotFound as told:
            found.append(str(told))

    monkeypatch.setattr(quarantine, "_race_window", once(strike))
    clean(now_ns=later(200))
    assert found
    assert not unit.exists()


def test_an_undo_that_is_faster_than_expiry_wins(root: Path, state: str) -> None:
    unit = claude_session(root)
    clean(now_ns=later(100))
    (before,) = quarantine.stored(quarantine.beside(str(root)))
    with closing(quarantine.opened(before.directory)) as fd, Bound(fd, before.name) as bound:
        undo()
        assert quarantine.destroy(before, bound, Nobody()).entries == 0
    assert unit.exists()


def test_two_undos_at_once_bring_it_back_once(root: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = claude_session(root)
    whole = snapshot(unit)
    clean(now_ns=later(100))
    put_back, left = take.put_back, [1]

    def late(*words: object) -> bool:
        if left:
            left.pop()
            undo()
            unit.rename(unit.with_name("moved-on"))
        return put_back(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(take, "put_back", late)
    with pytest.raises(NotFound, match="not in quarantine any more"):
        undo()
    assert list(snapshot(unit.with_name("moved-on")).values()) == list(whole.values())


def test_one_taken_name_keeps_no_other_unit_from_coming_back(root: Path, state: str) -> None:
    units = [claude_session(root, slug=f"-{number}") for number in range(3)]
    clean(now_ns=later(100))
    first = Path(next(iter(restorable(state).values()))["path"])
    first.mkdir(parents=True)
    with pytest.raises(NameTaken) as told:
        undo()
    assert told.value.hint.startswith("2 other items came back; ")
    assert all(list(unit.iterdir()) for unit in units if unit != first)
    assert len(restorable(state)) == 1


def test_what_somebody_took_out_of_the_quarantine_hides_nothing_else(root: Path, state: str, tmp_path: Path) -> None:
    units = [claude_session(root, slug=f"-{number}") for number in range(2)]
    clean(now_ns=later(100))
    token, entry = next(iter(restorable(state).items()))
    os.rename(f"{quarantine.beside(str(root))}/{token}", tmp_path / "taken")
    assert [restored.path for restored in undo()] == [str(unit) for unit in units if str(unit) != entry["path"]]
    with pytest.raises(NotFound):
        undo()


def test_a_parent_that_became_a_link_leads_nowhere(root: Path, state: str, tmp_path: Path) -> None:
    unit = claude_session(root)
    clean(now_ns=later(100))
    (tmp_path / "elsewhere").mkdir()
    unit.parent.parent.mkdir(exist_ok=True)
    unit.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"directory|links"):
        undo()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    unit.parent.unlink()
    undo()
    assert unit.exists()


@pytest.mark.parametrize("field", ["id", "path", "root", "run", "quarantine", "mode", "bytes", "entries", "count"])
def test_an_edited_line_stops_nobody(field: str, root: Path, state: str) -> None:
    os.makedirs(state, 0o700)
    intent = {"t": "intent", "id": "00.k", "path": "/x", "root": "/", "row": "a.b", "quarantine": "/q", "worth": "some"}
    intent |= {"mode": 0, "device": 1, "inode": 1, "run": "r"}
    receipt = {"t": "receipt", "id": "11.k", "run": "r", "path": "/x", "root": "/", "bytes": 1, "entries": 1}
    receipt["outcome"] = "quarantined"
    values: tuple[object, ...] = (None, [1], {"a": 1}, 7.5)
    lines = [json.dumps(line | {field: value}) for value in values for line in (intent, receipt)]
    Path(state, "journal.jsonl").write_text("\n".join([*lines, "[" * 100_000, ""]))
    unit = claude_session(root)
    clean(Request(), now_ns=later(100))
    assert not unit.exists()
    assert open_intents(state) == []
    assert [restored.path for restored in undo()] == [str(unit)]


def test_what_nobody_can_be_asked_about_any_more_goes_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = claude_session(root)
    whole, within = snapshot(unit), holders.Holders.within
    blind, unseen = f"{quarantine.beside(str(root))}/", NotMeasured("nobody can be asked")
    monkeypatch.setattr(
        holders.Holders, "within", lambda s, path, **how: unseen if path.startswith(blind) else within(s, path)
    )
    result = clean(now_ns=later(100))
    assert snapshot(unit) == whole
    assert "not-measured" in {receipt.reason.value for receipt in result.receipts}


@needs_root
def test_nothing_is_brought_back_below_a_directory_that_is_a_strangers_now(root: Path, state: str) -> None:
    unit = claude_session(root)
    clean(now_ns=later(100))
    (token,) = restorable(state)
    unit.parent.mkdir(parents=True, exist_ok=True)
    os.chown(unit.parent, 65534, 65534)
    with pytest.raises(UnsafeRoot):
        undo(token)
    assert not unit.exists()
    assert (quarantine_of(root) / token).is_dir()


def quarantine_of(root: Path) -> Path:
    return root / f"tmpwarden-{os.geteuid()}" / "q"


def test_what_a_killed_undo_brought_back_does_not_wait_any_more(root: Path, state: str) -> None:
    """It tells of several with one write; what it had not come to still waits, and comes back with the next one."""
    units = [claude_session(root, slug=f"-p{number}") for number in range(5)]
    before = [snapshot(unit) for unit in units]
    clean(now_ns=later(100))
    child = os.fork()
    if child == 0:
        real, calls = take.put_back, []

        def deadly(*args: object) -> object:
            calls.append(args)
            if len(calls) == 4:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args)  # type: ignore[arg-type]

        take.put_back = deadly  # type: ignore[assignment]
        undo()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    waiting = restorable(state)
    away = sorted(str(unit) for unit in units if not unit.exists())
    assert len(away) == 2
    assert sorted(entry["path"] for entry in still_there(waiting.values(), state)) == away
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        main(["status", "--json"])
    assert json.loads(said.getvalue())["data"]["quarantine"]["units"] == 2
    assert sorted(each.path for each in undo()) == away
    assert [snapshot(unit) for unit in units] == before
    assert list(still_there(restorable(state).values(), state)) == []


def test_what_cannot_be_looked_at_is_not_said_to_be_gone(
    root: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude_session(root)
    clean(now_ns=later(100))

    def refuse(directory: str) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), directory)

    monkeypatch.setattr(quarantine, "opened", refuse)
    assert len(list(still_there(restorable(state).values(), state))) == 1

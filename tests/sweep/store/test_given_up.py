"""What waits for undo is walked before it is given up: whatever was written into it since sends it back."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support import users
from support.command import tmpwarden
from support.litter import claude_session, in_quarantine, later, snapshot
from support.mounts import fill_bytes, needs_root, tmpfs
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import expiry
from tmpwarden.sweep.store.journal import NAME, restorable
from tmpwarden.sweep.store.quarantine import is_label
from tmpwarden.sweep.store.undo import undo

SETTLED = Request(rows=("claude.cwd-marker",))  # takes nothing of what these tests make
PURGE = Request(rows=("claude.cwd-marker",), empty_quarantine=True)


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def put_aside(root: Path) -> tuple[Path, Path]:
    """A unit's place, and where it waits."""
    unit = claude_session(root, files=3)
    clean(now_ns=later(100))
    assert not unit.exists()
    (waiting,) = in_quarantine(root)
    return unit, waiting


def write(waiting: Path) -> None:
    next((waiting / "tasks").iterdir()).write_text("fresh")


def write_with_an_old_date(waiting: Path) -> None:
    path = next((waiting / "tasks").iterdir())
    path.write_text("fresh")
    os.utime(path, ns=(1_500_000_000 * 10**9,) * 2)


def add_with_old_dates(waiting: Path) -> None:
    before = os.lstat(waiting / "tasks").st_mtime_ns
    (waiting / "tasks" / "new").write_text("fresh")
    os.utime(waiting / "tasks" / "new", ns=(before, before))
    os.utime(waiting / "tasks", ns=(before, before))


def link_into_its_root(waiting: Path) -> None:
    """Neither its dates tell nor those of the root, which our own rename moved: only the count does."""
    before = os.lstat(waiting).st_mtime_ns
    (waiting.parents[3] / "other").write_text("fresh")
    os.utime(waiting.parents[3] / "other", ns=(before, before))
    os.link(waiting.parents[3] / "other", waiting / "linked")
    os.utime(waiting, ns=(before, before))


MOVES = [write, write_with_an_old_date, add_with_old_dates, link_into_its_root]


def fresh_of(unit: Path) -> list[Path]:
    return [path for path in unit.rglob("*") if path.is_file() and path.read_text() == "fresh"]


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
@pytest.mark.parametrize(("request_", "hours"), [(PURGE, 101), (SETTLED, 200)], ids=["--purge", "its time is over"])
def test_what_was_written_after_the_take_sends_it_back(
    root: Path, move: Callable[[Path], None], request_: Request, hours: float
) -> None:
    unit, waiting = put_aside(root)
    move(waiting)
    result = clean(request_, now_ns=later(hours))
    assert len(fresh_of(unit)) == 1 and not waiting.exists()
    assert [str(unit) in warning and "moved back to its place" in warning for warning in result.warnings] == [True]
    assert restorable(str(root.parent / "state" / "tmpwarden")) == {}


@needs_root
def test_where_memory_is_short_it_is_looked_at_too(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        request = Request(roots=(str(root),), rows=("claude.cwd-marker",))
        units = [claude_session(root, files=1, slug=f"-{number}") for number in range(2)]
        clean(Request(roots=(str(root),)), now_ns=later(100))
        waiting = in_quarantine(root)
        write(waiting[0])
        fill_bytes(root)
        clean(request, now_ns=later(100.1))
        assert sorted(len(fresh_of(unit)) for unit in units) == [0, 1]
        assert not any(path.exists() for path in waiting)


LONGER = '[quarantine]\nkeep = "30d"\n'
NOT_UNDERSTOOD = {
    "no TOML": f"{LONGER}[periodic\n",
    "a misspelt key": '[quarantine]\nkeeep = "30d"\n',
    "a misspelt table": '[quarantene]\nkeep = "30d"\n',
    "a value that is none": '[quarantine]\nkeep = "30 dayz"\n',
}


@pytest.mark.parametrize("how", NOT_UNDERSTOOD)
def test_what_may_have_been_promised_more_time_waits_until_the_config_is_mended(root: Path, how: str) -> None:
    """Broken, it once fell back to 24 h: what a user wanted to keep for 30 days went on the second."""
    _, waiting = put_aside(root)
    config = root.parent / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir()
    config.write_text(NOT_UNDERSTOOD[how])
    clean(SETTLED, now_ns=later(200))
    assert waiting.exists()
    config.write_text(LONGER)
    clean(SETTLED, now_ns=later(29 * 24))
    assert waiting.exists()
    clean(SETTLED, now_ns=later(31 * 24))
    assert not waiting.exists()


@needs_root
def test_pressure_takes_nothing_out_of_quarantine_while_that_may_have_been_promised_time(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="4m") as root:
        claude_session(root, files=1)
        clean(Request(roots=(str(root),)), now_ns=later(100))
        (waiting,) = in_quarantine(root)
        config = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "config.toml"
        config.parent.mkdir()
        config.write_text(NOT_UNDERSTOOD["no TOML"])
        fill_bytes(root)
        clean(Request(roots=(str(root),), unattended=True), now_ns=later(100.1))
        assert waiting.exists()
        config.unlink()
        clean(Request(roots=(str(root),), unattended=True), now_ns=later(100.1))
        assert not waiting.exists()


@pytest.mark.parametrize("what", ["itself", "what it lay in", "something in it"])
def test_what_its_user_keeps_since_goes_back(root: Path, what: str) -> None:
    unit, waiting = put_aside(root)
    before = snapshot(waiting)
    kept = {"itself": unit, "what it lay in": unit.parent, "something in it": unit / "tasks"}[what]
    assert tmpwarden("keep", str(kept)).returncode == 0
    result = clean(PURGE, now_ns=later(101))
    assert snapshot(unit) == before
    assert any(f"{unit} was in quarantine, and it is on your keep list" in warning for warning in result.warnings)


def test_a_person_who_says_purge_needs_no_config(root: Path) -> None:
    _, waiting = put_aside(root)
    (root.parent / "config" / "tmpwarden").mkdir()
    (root.parent / "config" / "tmpwarden" / "config.toml").write_text(NOT_UNDERSTOOD["no TOML"])
    clean(PURGE, now_ns=later(101))
    assert not waiting.exists()


def test_what_nobody_wrote_to_goes(root: Path) -> None:
    unit, waiting = put_aside(root)
    result = clean(PURGE, now_ns=later(101))
    assert not unit.exists() and not waiting.exists() and result.warnings == []
    assert [each.entries for each in result.expired] == [5]


def test_where_its_place_is_taken_it_stays_for_good_and_is_told(root: Path) -> None:
    unit, waiting = put_aside(root)
    write(waiting)
    unit.mkdir(parents=True)
    (unit / "successor").write_text("x")
    result = clean(PURGE, now_ns=later(101))
    assert (unit / "successor").exists() and fresh_of(waiting.with_suffix(".p"))
    assert any("could not be moved back" in warning for warning in result.warnings)
    clean(PURGE, now_ns=later(1000))
    assert fresh_of(waiting.with_suffix(".p"))


def test_without_a_journal_the_day_of_the_take_counts(root: Path) -> None:
    _, waiting = put_aside(root)
    (root.parent / "state" / "tmpwarden" / NAME).unlink()
    for label in filter(lambda path: is_label(path.name), waiting.parent.iterdir()):
        label.unlink()  # else these tell where it was
    write(waiting)
    clean(PURGE, now_ns=later(101))
    assert fresh_of(waiting.with_suffix(".p"))


def test_a_link_that_another_tree_made_or_removed_meanwhile_keeps_nobody(root: Path) -> None:
    """uv and pnpm link one file into many trees: what happens to other names of it is no use of this one."""
    unit = claude_session(root, files=3)
    for path in (unit / "tasks").iterdir():
        os.link(path, root.parent / path.name)
    clean(now_ns=later(100))
    (waiting,) = in_quarantine(root)
    for number, path in enumerate((waiting / "tasks").iterdir()):
        os.link(path, root.parent / f"other-{number}")
    clean(PURGE, now_ns=later(101))
    assert not unit.exists() and not waiting.exists()


@pytest.mark.parametrize("use", [users.works_in_it, users.opens_a_file], ids=lambda use: use.__name__)
def test_what_somebody_uses_when_its_time_is_over_goes_back(root: Path, use: Callable[[Path], object]) -> None:
    """He could not be seen when it was put aside."""
    unit = users.fill(root / f"claude-{os.geteuid()}" / "-p" / "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11")
    before = snapshot(unit)
    clean(now_ns=later(100))
    (waiting,) = in_quarantine(root)
    with use(waiting):  # type: ignore[attr-defined]
        clean(SETTLED, now_ns=later(200))
    assert snapshot(unit) == before


def test_what_came_back_can_be_taken_and_brought_back_again(root: Path) -> None:
    unit, waiting = put_aside(root)
    write(waiting)
    clean(PURGE, now_ns=later(101))
    before = snapshot(unit)
    clean(now_ns=later(300))
    assert not unit.exists()
    undo()
    assert snapshot(unit) == before


@pytest.mark.parametrize("how", ["a mount in it", "nothing can be looked at"])
def test_what_cannot_be_looked_at_whole_is_not_given_up(root: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    unit, waiting = put_aside(root)
    measure = expiry.walk.measure

    def struck(*words: object, **more: object) -> object:
        if how == "nothing can be looked at":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        seen = measure(*words, **more)  # type: ignore[arg-type]
        return seen and replace(seen, crosses_device=True)

    monkeypatch.setattr(expiry.walk, "measure", struck)
    result = clean(PURGE, now_ns=later(101))
    assert unit.exists() or waiting.exists()
    assert result.undeleted or result.warnings

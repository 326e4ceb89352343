"""A run that was killed after its take: the next one asks what the last look would have asked, and mends modes."""

import os
import signal
from pathlib import Path

import pytest

from support.command import tmpwarden
from support.holding import process
from support.litter import claude_session, in_quarantine, later, snapshot
from support.user import UID, OrdinaryUser
from support.windows import strike
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import journal
from tmpwarden.sweep.store.journal import entries, open_intents
from tmpwarden.sweep.take import act

OTHER_ROW = Request(rows=("claude.cwd-marker",))  # settles, and takes nothing of what these tests make


class Cut(BaseException):
    """As a kill would end it: no handler of ours sees it."""


def killed_after_the_take(monkeypatch: pytest.MonkeyPatch, request: Request) -> None:
    def die() -> None:
        raise Cut

    strike(monkeypatch, act, "taken, holders not yet looked for", die)
    with pytest.raises(Cut):
        clean(request, now_ns=later(100))


@pytest.mark.parametrize("quarantine", [True, False])
@pytest.mark.parametrize("how", ["session", "TMPDIR", "working directory"])
def test_a_session_that_goes_on_gets_its_unit_back(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, how: str, quarantine: bool
) -> None:
    unit = claude_session(own_world / "tmp")
    before = snapshot(unit)
    killed_after_the_take(monkeypatch, Request(quarantine=quarantine))
    assert not unit.exists()
    (taken,) = in_quarantine(own_world / "tmp")
    if how == "session":
        holder = process("", env={"CLAUDE_CODE_SESSION_ID": unit.name})
    elif how == "TMPDIR":
        holder = process("", env={"TMPDIR": str(unit / "tasks")})
    else:
        holder = process("", cwd=taken)
    with holder:
        clean(OTHER_ROW, now_ns=later(100))
    assert snapshot(unit) == before
    state = str(own_world / "state" / "tmpwarden")
    assert open_intents(state) == []
    assert [line["ending"] for line in entries(state) if line["t"] == "settled"] == ["put back"]


@pytest.mark.parametrize("how", ["by a command", "perhaps, by a config that is broken"])
def test_what_its_user_keeps_since_goes_back(own_world: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    unit = claude_session(own_world / "tmp")
    before = snapshot(unit)
    killed_after_the_take(monkeypatch, Request(quarantine=False))
    config = own_world / "config" / "tmpwarden"
    config.mkdir()
    if how == "by a command":
        assert tmpwarden("keep", str(unit)).returncode == 0
    else:
        (config / "config.toml").write_text(f'[keep]\npaths = ["{unit}"\n')
    clean(OTHER_ROW, now_ns=later(100))
    assert snapshot(unit) == before


@pytest.mark.parametrize("quarantine", [True, False])
def test_where_nobody_goes_on_the_killed_run_is_finished(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, quarantine: bool
) -> None:
    unit = claude_session(own_world / "tmp")
    killed_after_the_take(monkeypatch, Request(quarantine=quarantine))
    clean(OTHER_ROW, now_ns=later(1))
    assert not unit.exists()
    left = [path.suffix for path in in_quarantine(own_world / "tmp")]
    assert left == ([".k"] if quarantine else [])


def test_what_no_row_speaks_of_any_more_is_never_purged_by_a_settling(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = claude_session(own_world / "tmp")
    before = snapshot(unit)
    killed_after_the_take(monkeypatch, Request(quarantine=False))
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text('[rows."claude.session"]\nenabled = false\n')
    clean(OTHER_ROW, now_ns=later(100))
    assert snapshot(unit) == before


_KILLED = """
import os, signal, sys, time
from pathlib import Path
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import take
from tmpwarden.sweep.compose import clean
root = Path(os.environ["TMPDIR"])
unit = root / f"claude-{os.geteuid()}" / "-p" / "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
unit.mkdir(parents=True)
(unit / "file").write_text("x")
unit.chmod(0o500)
windows = sys.argv[1]
restore = take.restore_mode
def strike(here):
    if here == windows:
        os.kill(os.getpid(), signal.SIGKILL)
def deadly_restore(pinned, mode):
    if windows == "restoring" and not mode & 0o200:
        os.kill(os.getpid(), signal.SIGKILL)
    return restore(pinned, mode)
take._race_window, take.restore_mode = strike, deadly_restore
clean(Request(), now_ns=lambda: time.time_ns() + 10**15)
"""
_NEXT = """
import os, sys, time
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.undo import undo
clean(Request(rows=("claude.cwd-marker",)), now_ns=lambda: time.time_ns() + 10**13)
if sys.argv[1] == "restoring":
    undo()
unit = f"{os.environ['TMPDIR']}/claude-{os.geteuid()}/-p/3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
print(oct(os.lstat(unit).st_mode))
"""


@pytest.mark.parametrize("when", ["made writable, not yet taken", "restoring"])
def test_a_mode_that_a_killed_run_had_to_change_comes_back(ordinary_user: OrdinaryUser, when: str) -> None:
    killed = ordinary_user.code(_KILLED, when)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    done = ordinary_user.code(_NEXT, when)
    assert done.stdout == "0o40500\n", done.stderr


def test_a_directory_that_took_the_name_keeps_its_mode(ordinary_user: OrdinaryUser) -> None:
    """Of the same inode even: something has come or gone in it since it was judged."""
    ordinary_user.code(_KILLED, "made writable, not yet taken")
    unit = ordinary_user.tmp / f"claude-{UID}" / "-p" / "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
    (unit / "new").write_text("x")
    os.chown(unit / "new", UID, UID)
    assert ordinary_user.code(_NEXT, "").stdout == "0o40700\n"


_KILLED_UNDO = """
import os, signal, sys, time
from pathlib import Path
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import take
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.undo import undo
unit = Path(os.environ["TMPDIR"]) / f"claude-{os.geteuid()}" / "-p" / "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
unit.mkdir(parents=True)
(unit / "file").write_text("x")
unit.chmod(0o500)
clean(Request(), now_ns=lambda: time.time_ns() + 10**15)
assert not unit.exists()
rename = take._rename_noreplace
def strike(here):
    if here == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)
def deadly_rename(*words):
    done = rename(*words)
    strike("back, mode not yet restored")
    return done
take._race_window, take._rename_noreplace = strike, deadly_rename
undo(None, sys.argv[2] or None)
"""
_AFTER_UNDO = """
import os, sys, time
from tmpwarden.errors import NotFound
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.undo import undo
where, to, first = sys.argv[1:]
if first == "clean":
    clean(Request(rows=("claude.cwd-marker",)), now_ns=lambda: time.time_ns() + 10**13)
try:
    undo(None, to or None)
except NotFound:
    pass
print(oct(os.lstat(where).st_mode))
"""


@pytest.mark.parametrize(
    ("when", "to", "first"),
    [
        ("made writable, not yet back", "", "undo"),
        ("made writable, not yet back", "", "clean"),
        ("back, mode not yet restored", "", "clean"),
        ("back, mode not yet restored", "elsewhere", "undo"),
    ],
)
def test_a_mode_that_a_killed_undo_had_to_change_comes_back(
    ordinary_user: OrdinaryUser, when: str, to: str, first: str
) -> None:
    elsewhere = ordinary_user.tmp / "elsewhere"
    elsewhere.mkdir()
    os.chown(elsewhere, UID, UID)
    name = "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"
    target = str(elsewhere) if to else ""
    killed = ordinary_user.code(_KILLED_UNDO, when, target)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    where = elsewhere / name if to else ordinary_user.tmp / f"claude-{UID}" / "-p" / name
    done = ordinary_user.code(_AFTER_UNDO, str(where), target, first)
    assert done.stdout == "0o40500\n", done.stderr


def test_where_the_last_run_ended_well_a_long_history_is_not_read_again(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude_session(own_world / "tmp")
    clean(now_ns=later(100))
    monkeypatch.setattr(journal, "entries", lambda *_, **__: pytest.fail("the whole journal is read"))
    clean(OTHER_ROW, now_ns=later(1))

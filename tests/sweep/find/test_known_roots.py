"""A clean in a session with its own TMPDIR, and later a timer that has none."""

from pathlib import Path

import pytest

from support.litter import cwd_markers
from tmpwarden.oskit.files import places
from tmpwarden.sweep.find import known_roots


def test_a_root_that_was_cleaned_once_is_looked_at_without_its_variable(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not through `clean`: without TMPWARDEN_ROOTS that would look at the machine's own temp."""
    elsewhere = own_world / "elsewhere"
    elsewhere.mkdir()
    cwd_markers(elsewhere, 1)
    known_roots.remember((str(elsewhere),), frozenset({str(own_world / "home")}))
    assert known_roots.remembered() == (str(elsewhere),)
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    assert str(elsewhere) in places.temp_roots(extra=known_roots.remembered())


def test_a_confined_run_is_not_remembered(own_world: Path) -> None:
    known_roots.remember((str(own_world / "tmp"),), frozenset())
    assert known_roots.remembered() == ()


@pytest.mark.parametrize("content", ["", "{", "{}", "[1, null]", '["relative"]', '["/no/such/place"]'])
def test_a_broken_list_is_no_list(own_world: Path, content: str) -> None:
    (own_world / "state" / "tmpwarden").mkdir(mode=0o700)
    (own_world / "state" / "tmpwarden" / "roots").write_text(content)
    assert known_roots.remembered() == ()


def test_where_nothing_can_be_written_a_run_goes_on_without_the_note(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_world / "file").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(own_world / "file" / "state"))
    known_roots.note_quarantine(str(own_world))
    assert known_roots.quarantined() == ()

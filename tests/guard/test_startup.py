"""What start-up files of the shell say is worked out once for each state of a file, and no text of them is kept."""

import os
from pathlib import Path

import pytest

from tmpwarden.guard import startup

HOUR_NS = 3_600_000_000_000


@pytest.fixture
def rc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that changed an hour ago: of one that has just changed nothing is kept."""
    monkeypatch.setattr(startup, "_SETTLED_NS", 0)
    path = tmp_path / "rc"
    path.write_text("export TOKEN=hunter2\nalias rm=trash\n")
    return path


def test_it_is_read_once(rc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "state" / "startup"
    first = startup.facts_kept([str(rc), str(tmp_path / "absent")], str(cache))
    assert first == ({"rm": "rm is an alias of the shell"},)
    monkeypatch.setattr(startup, "_facts_in", lambda path: pytest.fail("read again"))
    assert startup.facts_kept([str(rc)], str(cache)) == first
    assert b"hunter2" not in cache.read_bytes() and cache.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("how", ["written", "replaced", "of the same size and date"])
def test_a_change_is_seen(how: str, rc: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "state" / "startup")
    before = rc.stat()
    startup.facts_kept([str(rc)], cache)
    text = "export TOKEN=hunter2\nalias cp=trash\n"
    if how == "replaced":
        (tmp_path / "new").write_text(text)
        os.replace(tmp_path / "new", rc)
    else:
        rc.write_text(text)
    if how.startswith("of the same"):
        os.utime(rc, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert startup.facts_kept([str(rc)], cache) == ({"cp": "cp is an alias of the shell"},)


def test_of_a_file_that_has_just_changed_nothing_is_kept(tmp_path: Path) -> None:
    path, cache = tmp_path / "rc", tmp_path / "state" / "startup"
    path.write_text("alias rm=trash\n")
    assert startup.facts_kept([str(path)], str(cache)) == ({"rm": "rm is an alias of the shell"},)
    assert not cache.exists() or b"rm is" not in cache.read_bytes()


def test_one_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "rc").mkdir()
    assert startup.facts_kept([str(tmp_path / "rc")], str(tmp_path / "state" / "startup")) == (None,)

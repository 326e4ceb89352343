"""`why` has an answer for any path: a directory of units, another user's, in quarantine, known to no row."""

import os
import pwd
from pathlib import Path

import pytest

from support import planted
from support.command import answer, data, tmpwarden
from support.holding import process
from support.litter import in_quarantine
from support.mounts import needs_root
from support.users import leased_scratch, write_lease


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def said(*words: str, later_s: float = planted.DAYS) -> str:
    done = tmpwarden("why", *words, later_s=later_s)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_directory_is_summed_up_by_what_is_said_of_the_units_in_it(root: Path) -> None:
    planted.markers(root, 3)
    gone, live = planted.session(root), planted.session(root)
    with process("", cwd=live):
        told = said(str(root))
        found = data("why", str(root), later_s=planted.DAYS)
    assert "3 items, 12.0 KB of claude.cwd-marker removable: it belongs to no session" in told
    assert "kept: in use: " in told
    assert found["inside"]["findings"] >= 3
    assert found["inside"]["kept_by_reason"] == {"working-directory": 1}
    assert gone.exists() and live.exists()


def test_what_lies_in_quarantine_is_told_with_the_id_that_brings_it_back(root: Path) -> None:
    unit = planted.session(root)
    gone = data("clean", "--yes", later_s=planted.DAYS)["removed"]
    (removed,) = [each for each in gone if each["path"] == str(unit)]
    (entry,) = in_quarantine(root)
    for path in (unit, entry, entry / "tasks"):
        found = data("why", str(path), later_s=planted.DAYS)
        assert (found["undo"], found["was"]) == (removed["receipt"], str(unit))
    assert f"tmpwarden undo {removed['receipt'][:8]}" in said(str(unit))
    assert tmpwarden("undo", removed["receipt"][:8]).returncode == 0
    assert unit.exists()


def test_an_owner_of_whom_nothing_can_be_told_is_said_to_be_so_and_why(root: Path) -> None:
    unit = leased_scratch(root)
    assert "  gone: pid " in said(str(unit))
    write_lease(unit, boot="another", machine="another")
    assert "(its owner runs on another machine, in a container, or cannot be read)" in said(str(unit))


@needs_root
def test_another_users_path_names_its_owner(root: Path) -> None:
    theirs = root / "theirs"
    theirs.touch()
    os.chown(theirs, pwd.getpwnam("nobody").pw_uid, 0)
    assert "belongs to the user nobody, so tmpwarden never touches it" in said(str(theirs))
    assert data("why", str(theirs))["belongs_to"] == "nobody"


def test_what_no_row_knows_is_told_with_what_naming_it_would_do(root: Path) -> None:
    unit = root / "orch-1"
    unit.mkdir()
    assert f"tmpwarden clean {unit}" in said(str(unit))
    assert data("why", str(unit))["by_name"] == {"verdict": "remove", "reason": "named-by-you"}
    with process("", cwd=unit):
        assert data("why", str(unit))["by_name"] == {"verdict": "keep", "reason": "working-directory"}


def test_several_paths_at_once_and_one_that_is_missing(root: Path) -> None:
    one, two = planted.session(root), planted.marker(root)
    found = data("why", str(one), str(two), later_s=planted.DAYS)
    assert [each["path"] for each in found["paths"]] == [str(one), str(two)]
    assert said(str(one), str(two)).count("verdict") == 2
    status, envelope = answer("why", str(one), str(root / "missing"), later_s=planted.DAYS)
    assert (status, envelope["error"]["code"]) == (5, "not-found")
    assert [each["path"] for each in envelope["data"]["paths"]] == [str(one)]


def test_a_promised_age_is_one_at_which_it_goes(root: Path) -> None:
    """What only goes when asked for, and what holds a repository, is not promised to go by age alone."""
    unit = planted.session(root)
    assert "removable after 3d" in said(str(unit), later_s=3600)
    data("clean", "--yes", later_s=72 * 3600 + 60)
    assert not unit.exists()
    repository = planted.session(root)
    (repository / ".git").mkdir()
    assert "checked after 3d" in said(str(repository), later_s=3600)
    tmpwarden("adopt", "orch-*")
    (root / "orch-1").mkdir()
    assert "not removed by default" in said(str(root / "orch-1"), later_s=3600)

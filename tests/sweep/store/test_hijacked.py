"""Somebody else's link or directory where our quarantine should be costs nobody a file, and is told."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.user import UID, OrdinaryUser

ATTACKER = 65533
TOKENS = ("0123456789abcdef.x", "0123456789abcdef.k", "fedcba9876543210.u")
OWN_NAMES = (
    "backup.x",
    "photos.k",
    "0123456789abcde.k",
    "0123456789abcdeg.x",
    "0123456789ABCDEF.k",
    "a.0123456789abcdef.x",
)
UNIT = "3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11"  # a name that a row knows: what has changed since would be put back there
SHARED_MODE = 0o777  # no sticky bit: fs.protected_symlinks does not help, as where it is 0

LATER = """
import sys, time
from tmpwarden.cli.main import main
sys.exit(main(sys.argv[1:], now_ns=lambda: time.time_ns() + 10**16))
"""


@pytest.fixture
def victim(ordinary_user: OrdinaryUser) -> OrdinaryUser:
    """A user with a project of his own that has a directory `q`, and a temp root that he shares with an attacker."""
    os.chown(ordinary_user.tmp, 0, 0)
    ordinary_user.tmp.chmod(SHARED_MODE)
    ordinary_user.home.chmod(0o755)
    for name in (*TOKENS, *OWN_NAMES):
        own(ordinary_user.home / "project" / "q" / name / "file", "precious")
    own(ordinary_user.home / "project" / "deadbeef.lease", "precious")
    return ordinary_user


def own(path: Path, text: str) -> None:
    """A file of the victim's, and the directories that lead to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    while path.name != "home":
        os.chown(path, UID, UID)
        path.chmod(0o700 if path.is_dir() else 0o600)
        path = path.parent


def whole(project: Path) -> dict[str, str]:
    """Every file with its text, and every directory with its mode."""
    return {
        str(path.relative_to(project)): path.read_text() if path.is_file() else f"{path.stat().st_mode:o}"
        for path in sorted(project.rglob("*"))
    }


def squat(victim: OrdinaryUser) -> None:
    place = victim.tmp / f"tmpwarden-{UID}"
    subprocess.run(["ln", "-s", str(victim.home / "project"), str(place)], user=ATTACKER, group=ATTACKER, check=True)


def journal_of(victim: OrdinaryUser, *lines: dict[str, object]) -> None:
    text = "".join(json.dumps({"time": "2026-11-16T00:00:00Z", "run": "r", **line}) + "\n" for line in lines)
    own(victim.home / ".local/state/tmpwarden/journal.jsonl", text)


def told(victim: OrdinaryUser, *words: str) -> str:
    done = victim.code(LATER, *words)
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def intent(victim: OrdinaryUser, token: str) -> dict[str, object]:
    root = str(victim.tmp)
    inode = os.lstat(victim.home / "project" / "q" / token).st_ino
    return {
        "t": "intent", "id": token, "path": f"{root}/claude-{UID}/-p/{UNIT}", "root": root, "row": "claude.session",
        "quarantine": f"{root}/tmpwarden-{UID}/q", "worth": "some", "mode": 0o500, "device": 1,
        "inode": inode, "count": 1, "newest_ns": 1,
    }  # fmt: skip


@pytest.mark.parametrize("more", [(), ("--purge",), ("--budget", "1")])
def test_a_link_in_its_place_leads_no_clean_to_anybodys_files(victim: OrdinaryUser, more: tuple[str, ...]) -> None:
    before = whole(victim.home / "project")
    squat(victim)
    said = told(victim, "clean", "--force", *more, "--json")
    assert whole(victim.home / "project") == before
    assert "it is a symbolic link" in " ".join(json.loads(said)["warnings"])


@pytest.mark.parametrize("token", TOKENS)
def test_a_line_of_the_journal_leads_no_settling_through_the_link(victim: OrdinaryUser, token: str) -> None:
    before = whole(victim.home / "project")
    journal_of(victim, intent(victim, token))
    squat(victim)
    told(victim, "clean", "--force")
    assert whole(victim.home / "project") == before
    assert not (victim.tmp / f"claude-{UID}").exists()


@pytest.mark.parametrize("where", ["{root}/tmpwarden-{uid}", "{home}/project/q", "{home}/project", "/"])
def test_an_edited_line_leads_no_settling_elsewhere(victim: OrdinaryUser, where: str) -> None:
    before = whole(victim.home / "project")
    named = where.format(root=victim.tmp, uid=UID, home=victim.home)
    journal_of(victim, intent(victim, TOKENS[1]) | {"quarantine": named})
    told(victim, "clean", "--force")
    assert whole(victim.home / "project") == before
    assert not (victim.tmp / f"claude-{UID}").exists()


@pytest.mark.parametrize("to", [False, True])
def test_undo_brings_nothing_back_through_the_link(victim: OrdinaryUser, to: bool) -> None:
    before = whole(victim.home / "project")
    receipt = intent(victim, TOKENS[1]) | {"t": "receipt", "outcome": "quarantined", "bytes": 1, "entries": 2}
    journal_of(victim, receipt)
    squat(victim)
    words = ("--to", str(victim.home)) if to else ()
    assert "there is nothing to bring back" in told(victim, "undo", *words)
    assert whole(victim.home / "project") == before


def test_no_lease_is_read_or_removed_through_the_link(victim: OrdinaryUser) -> None:
    before = whole(victim.home / "project")
    squat(victim)
    source = """
import sys
from tmpwarden.leases import scratch
path = f"{sys.argv[1]}/deadbeef"
scratch.forget(path)
print(scratch.read(path), scratch.read_all((sys.argv[2],)))
"""
    done = victim.code(source, f"{victim.tmp}/tmpwarden-{UID}", str(victim.tmp))
    assert done.stdout == "None ()\n", done.stderr
    assert whole(victim.home / "project") == before


def test_what_has_not_exactly_the_name_of_a_token_is_told_and_left_alone(victim: OrdinaryUser) -> None:
    """Without the sticky bit anybody may rename a directory of the victim's own into the place of our own."""
    project = victim.tmp / "project"
    (victim.home / "project").rename(project)
    place = victim.tmp / f"tmpwarden-{UID}"
    subprocess.run(["mv", "-T", str(project), str(place)], user=ATTACKER, group=ATTACKER, check=True)
    said = told(victim, "clean", "--force", "--purge", "--json")
    left = {path.split("/")[1] for path in whole(place) if path.startswith("q/")}
    assert left >= {*OWN_NAMES}
    assert "did not put there" in " ".join(json.loads(said)["warnings"])


def test_a_quarantine_of_another_user_is_told_and_left_alone(victim: OrdinaryUser) -> None:
    place = victim.tmp / f"tmpwarden-{UID}" / "q" / TOKENS[0]
    place.mkdir(parents=True)
    for path in (place, place.parent, place.parent.parent):
        os.chown(path, ATTACKER, ATTACKER)
        path.chmod(0o777)
    said = told(victim, "clean", "--force", "--purge", "--json")
    assert place.exists()
    assert f"another user (uid {ATTACKER})" in " ".join(json.loads(said)["warnings"])

"""Teardown on a file system on which nothing can be created, by an ordinary user, the first time ever (law 7)."""

import json
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mounts import fill_bytes, fill_inodes, mounted, needs_root, tmpfs
from support.user import UID, OrdinaryUser

pytestmark = needs_root
SESSION = str(uuid.uuid4())  # of this test process alone: others look at all processes too
FILL = {"bytes": fill_bytes, "inodes": fill_inodes}


@pytest.fixture(params=FILL)
def full(request: pytest.FixtureRequest, ordinary_user: OrdinaryUser) -> Iterator[Callable[[], Path]]:
    """Makes a small temp root full to the last byte or inode, with one session of an ended agent in it."""
    with tmpfs(ordinary_user.tmp, size="2m", inodes=256) as root:
        unit = root / f"claude-{UID}" / "-work-shop" / SESSION
        (unit / "tasks").mkdir(parents=True)
        for number in range(5):
            (unit / "tasks" / f"b{number:08x}.output").write_bytes(b"x" * 50_000)
        for path in (unit, *unit.rglob("*"), unit.parent, unit.parent.parent):
            os.chown(path, UID, UID)

        def fill() -> Path:
            FILL[request.param](root)
            return unit

        yield fill


def teardown(user: OrdinaryUser, *words: str, **env: str) -> tuple[int, Any, str]:
    done = user.tmpwarden("teardown", "--session", SESSION, "--wait", "--json", *words, env=env)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_it_goes_in_place_and_there_is_room_again(full: Callable[[], Path], ordinary_user: OrdinaryUser) -> None:
    unit = full()
    status, envelope, _ = teardown(ordinary_user)
    assert (status, envelope["error"], envelope["data"]["kept"]) == (0, None, [])
    (removed,) = envelope["data"]["removed"]
    assert (removed["path"], removed["undoable"]) == (str(unit), False)
    assert envelope["data"]["freed_bytes"] >= 250_000, "it went back to the file system, at once"
    assert not unit.exists()
    assert teardown(ordinary_user)[1]["data"]["removed"] == []


def test_one_that_is_used_stays_also_then(full: Callable[[], Path], ordinary_user: OrdinaryUser) -> None:
    unit = full()
    source = f"""
import json, os, subprocess, sys
held = open({str(unit / "tasks" / "b00000000.output")!r})
done = subprocess.run([sys.executable, "-m", "tmpwarden", "teardown", "--session", {SESSION!r}, "--wait", "--json"],
                      stdout=subprocess.PIPE)
print(json.dumps([done.returncode, json.loads(done.stdout)["data"]["kept"][0]["reason"]]))
"""
    done = ordinary_user.code(source)
    assert json.loads(done.stdout) == [0, "open-file"], done.stderr
    assert len(list(unit.rglob("*.output"))) == 5


def test_without_a_journal_nothing_of_worth_goes_and_that_is_told(
    full: Callable[[], Path], ordinary_user: OrdinaryUser
) -> None:
    """Its home is read-only too: nothing can be written down."""
    unit = full()
    with mounted(ordinary_user.home, "-t", "tmpfs", "-o", f"ro,uid={UID},mode=700", "tmpfs"):
        status, envelope, _ = teardown(ordinary_user)
    assert status == 2
    assert envelope["error"]["code"] == "partial"
    assert [entry["path"] for entry in envelope["data"]["failed"]] == [str(unit)]
    assert "the removal could not be recorded" in envelope["data"]["failed"][0]["error"]
    assert len(list(unit.rglob("*.output"))) == 5

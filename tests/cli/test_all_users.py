"""`clean --all-users`: as each user, with that user's rights and home; never as root over other people's files."""

import json
import os
from pathlib import Path

import pytest

from support import planted
from support.command import tmpwarden
from support.mounts import needs_root
from support.user import UID, OrdinaryUser


@pytest.fixture
def shared(own_world: Path, ordinary_user: OrdinaryUser) -> Path:
    """A temp root like /tmp, below a path that every user can enter."""
    root = ordinary_user.base / "shared"
    root.mkdir()
    root.chmod(0o1777)
    return root


def of_nobody(path: Path) -> Path:
    for each in [path, *path.rglob("*")]:
        os.chown(each, UID, UID)
    return path


@needs_root
def test_each_users_litter_goes_as_that_user(shared: Path) -> None:
    from tmpwarden.cli.all_users import users_of

    mine = planted.session(shared)
    theirs = planted.staging(shared, "moat-claude-staging-1")
    of_nobody(theirs)
    assert {user.uid for user in users_of([str(shared)])} == {0, UID}
    result = tmpwarden("clean", "--all-users", "--dry-run", "--root", str(shared), "--json", later_s=planted.DAYS)
    answer = json.loads(result.stdout)
    by_uid = {each["uid"]: each for each in answer["data"]["users"]}
    assert [each["path"] for each in by_uid[0]["data"]["removed"]] == [str(mine)]
    assert [each["path"] for each in by_uid[UID]["data"]["removed"]] == [str(theirs)]


@needs_root
def test_a_child_cannot_get_its_privileges_back(shared: Path) -> None:
    from tmpwarden.cli.all_users import User, become

    pid = os.fork()
    if pid == 0:
        become(User(UID, UID, "nobody", "/nonexistent"))
        ours = os.getresuid() == (UID, UID, UID) and os.getresgid() == (UID, UID, UID) and 0 not in os.getgroups()
        try:
            os.setuid(0)
        except PermissionError:
            os._exit(0 if ours and os.environ["HOME"] == "/nonexistent" else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_an_ordinary_user_is_refused(ordinary_user: OrdinaryUser) -> None:
    result = ordinary_user.tmpwarden("clean", "--all-users", "--yes")
    assert result.returncode == 7
    assert "for root only" in result.stderr


@needs_root
def test_without_yes_nobody_is_swept(shared: Path) -> None:
    unit = planted.session(shared)
    result = tmpwarden("clean", "--all-users", "--root", str(shared), later_s=planted.DAYS)
    assert result.returncode == 4
    assert unit.exists()

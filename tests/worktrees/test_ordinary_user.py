"""A user who is not root, with processes that cannot be looked at: the kernel is asked before anything goes."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.user import UID, OrdinaryUser

_HIDE = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE: from now on only root can look at us
held = open(sys.argv[1]) if len(sys.argv) > 1 else None
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def tree(ordinary_user: OrdinaryUser) -> Path:
    main = ordinary_user.home / "project"
    script = f"""
    set -e; git init -q -b main {main}; cd {main}; echo x > file; git add file
    git -c user.name=T -c user.email=t@example.org commit -qm first; git worktree add -q -b side {main}-side
    """
    done = ordinary_user.run(["/bin/sh", "-c", script])
    assert done.returncode == 0, done.stderr
    return Path(f"{main}-side")


@pytest.fixture
def hidden(ordinary_user: OrdinaryUser, tree: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """A process of the user that the user cannot look at; with `request.param` it holds that file."""
    held = [str(tree / request.param)] if request.param else []
    words = [ordinary_user.python, "-c", _HIDE, *held]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=UID, group=UID) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def proof(user: OrdinaryUser, tree: Path) -> tuple[int, dict[str, object]]:
    done = user.tmpwarden("worktrees", "proof", str(tree), "--json")
    items = {item["item"]: item for item in json.loads(done.stdout)["data"]["items"]}
    return done.returncode, items["unused"]


def test_it_goes_and_comes_back(ordinary_user: OrdinaryUser, tree: Path) -> None:
    assert proof(ordinary_user, tree)[0] == 0
    assert ordinary_user.tmpwarden("worktrees", "clean", "-y", str(tree)).returncode == 0
    assert not tree.exists()
    assert ordinary_user.tmpwarden("undo").returncode == 0
    assert ordinary_user.run(["git", "-C", str(tree), "status", "--porcelain"]).stdout == ""


@pytest.mark.parametrize("hidden", [""], indirect=True)
def test_the_kernel_says_that_nobody_has_it_open(ordinary_user: OrdinaryUser, tree: Path, hidden: None) -> None:
    status, item = proof(ordinary_user, tree)
    assert (status, item["holds"], item["detail"]) == (
        0,
        True,
        "the kernel confirms that no process has a file of it open",
    )


@pytest.mark.parametrize("hidden", ["file"], indirect=True)
def test_a_file_that_somebody_holds_unseen_keeps_it(ordinary_user: OrdinaryUser, tree: Path, hidden: None) -> None:
    status, item = proof(ordinary_user, tree)
    assert (status, item["holds"]) == (2, False)
    ordinary_user.tmpwarden("worktrees", "clean", "-y", str(tree))
    assert (tree / "file").exists()

"""Somebody else's thing in the place of the quarantine: scan and undo say so, with its path and its owner."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.user import UID, OrdinaryUser

STRANGER = 1


def a_file(path: Path) -> None:
    path.touch()
    os.chown(path, STRANGER, STRANGER)


def a_link(path: Path) -> None:
    path.symlink_to("/var")
    os.lchown(path, STRANGER, STRANGER)


def a_link_of_ones_own(path: Path) -> None:
    path.symlink_to("/var")
    os.lchown(path, UID, UID)


def a_fifo(path: Path) -> None:
    os.mkfifo(path)
    os.chown(path, STRANGER, STRANGER)


def theirs(path: Path) -> None:
    path.mkdir(mode=0o777)
    os.chown(path, STRANGER, STRANGER)


def closed(path: Path) -> None:
    path.mkdir(mode=0o700)
    os.chown(path, STRANGER, STRANGER)


def for_all(path: Path) -> None:
    path.mkdir()
    os.chown(path, UID, UID)
    path.chmod(0o777)


SHAPES = [a_file, a_link, a_link_of_ones_own, a_fifo, theirs, closed, for_all]


def warnings(user: OrdinaryUser, *words: str) -> list[str]:
    return [str(each) for each in json.loads(user.tmpwarden(*words, "--json").stdout)["warnings"]]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("place", ["above", "itself", "at home"])
def test_scan_and_undo_name_it_in_one_sentence(
    ordinary_user: OrdinaryUser, shape: Callable[[Path], None], place: str
) -> None:
    ours = ordinary_user.tmp / f"tmpwarden-{UID}"
    state = ordinary_user.home / ".local" / "state" / "tmpwarden"
    ordinary_user.run(["mkdir", "-m", "700", "-p", str(state)])
    if place == "itself":
        ordinary_user.run(["mkdir", "-m", "700", str(ours)])
    path = {"above": ours, "itself": ours / "q", "at home": state / "q"}[place]
    shape(path)
    owner = UID if shape in (a_link_of_ones_own, for_all) else STRANGER
    for command in ("scan", "undo"):
        named = [each for each in warnings(ordinary_user, command) if str(path) in each]
        assert len(named) == 1, (command, named)
        assert f"uid {owner}" in named[0], named


def test_a_sound_quarantine_or_none_is_no_news(ordinary_user: OrdinaryUser) -> None:
    assert warnings(ordinary_user, "scan") == warnings(ordinary_user, "undo") == []
    ordinary_user.run(["mkdir", "-m", "700", "-p", str(ordinary_user.tmp / f"tmpwarden-{UID}" / "q")])
    assert warnings(ordinary_user, "scan") == warnings(ordinary_user, "undo") == []

"""One disk for everything, full to the last byte or inode, and tmpwarden was never run there: one clean frees it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.bases import base_for_all
from support.mounts import needs_root
from support.one_disk import FILE_SYSTEMS, FILLS, one_disk
from support.user import UID

pytestmark = needs_root
WHO = {"root": 0, "user": UID}


@pytest.fixture
def base() -> Iterator[Path]:
    with base_for_all() as base:
        yield base


@pytest.mark.xfail(strict=True, reason="issue 28: nothing can be written down")
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("what", FILLS)
@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_the_first_clean_on_a_full_disk_makes_it_work_again(base: Path, kind: str, what: str, who: str) -> None:
    with one_disk(base, kind, what, WHO[who]) as world:
        assert not world.can_write()
        status, answer = world.tmpwarden("clean", "--yes", "--json")
        assert status == 0, answer
        assert world.can_write()
        assert world.went() == world.dead
        world.assert_all_that_went_is_told()
        left = [name for name in os.listdir(world.home / ".local" / "state") if name.startswith(".")]
        assert left == [], "nothing is in the middle"

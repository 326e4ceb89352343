"""`status --min-free`: for cron, CI and prompts, exit 2 where a temp root is short of room."""

import os
from pathlib import Path

import pytest

from support.command import answer, tmpwarden
from support.mounts import needs_root, tmpfs


@needs_root
@pytest.mark.parametrize(("least", "status"), [("10%", 0), ("60%", 2), ("1M", 0), ("8M", 2)])
def test_it_exits_2_below_the_limit_and_names_the_root(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, least: str, status: int
) -> None:
    with tmpfs(own_world / "small", "16m") as root:
        (root / "big").write_bytes(b"x" * (9 << 20))
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(root))
        said = tmpwarden("status", "--min-free", least)
        assert said.returncode == status, said.stderr
        assert (str(root) in said.stdout) == (status == 2)
        code, envelope = answer("status", "--min-free", least)
        assert (code, envelope["data"]["short"]) == (status, [str(root)] if status else [])


@needs_root
def test_inodes_count_too(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tmpfs(own_world / "small", "16m,nr_inodes=100") as root:
        for number in range(95):
            (root / str(number)).touch()
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(root))
        assert tmpwarden("status", "--min-free", "10%").returncode == 2


def test_a_limit_that_is_none_is_refused(own_world: Path) -> None:
    assert tmpwarden("status", "--min-free", "much").returncode == 3
    assert os.environ["TMPWARDEN_ROOTS"]

"""A directory of ours is ours, private and reached without following anything, or it is refused with a reason."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support import squats
from support.aged import mode
from support.mounts import needs_root
from support.user import UID
from tmpwarden.errors import UnsafeScratch
from tmpwarden.oskit.files import own_dirs as mod
from tmpwarden.oskit.files.own_dirs import make_private_dir, open_base, open_ours, open_private_dir


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_a_private_directory_is_0700_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    os.umask(mask)
    make_private_dir(str(tmp_path / "d"))
    assert mode(tmp_path / "d") == 0o700
    make_private_dir(str(tmp_path / "d"))


def test_its_parents_are_made_where_they_are_missing(tmp_path: Path) -> None:
    os.close(open_private_dir(str(tmp_path / "a" / "b" / "c")))
    assert mode(tmp_path / "a" / "b" / "c") == 0o700


def test_a_readable_directory_of_ours_is_tightened(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o755)
    make_private_dir(str(tmp_path / "d"))
    assert mode(tmp_path / "d") == 0o700


SQUATS = {
    squats.a_link: "it is a symbolic link",
    squats.a_dangling_link: "it is a symbolic link",
    squats.a_file: "it is not a directory",
    squats.a_directory_that_all_may_write: "other users can write to it (mode 0777)",
    squats.a_directory_of_another_user: f"it belongs to another user (uid {UID})",
}


@needs_root
@pytest.mark.parametrize("squat", SQUATS, ids=lambda squat: squat.__name__)
def test_a_squatted_name_is_refused_with_a_reason(tmp_path: Path, squat: object) -> None:
    assert callable(squat)
    squat(tmp_path / "d")
    before = os.lstat(tmp_path / "d")
    with pytest.raises(UnsafeScratch) as caught:
        make_private_dir(str(tmp_path / "d"))
    assert str(caught.value) == f"cannot use {tmp_path}/d for temporary files: {SQUATS[squat]}"
    assert os.lstat(tmp_path / "d") == before


@needs_root
def test_a_directory_exchanged_after_it_was_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def strike(_: str) -> None:
        (tmp_path / "d").rmdir()
        squats.a_directory_of_another_user(tmp_path / "d")

    monkeypatch.setattr(mod, "_race_window", strike)
    with pytest.raises(UnsafeScratch):
        make_private_dir(str(tmp_path / "d"))


def name_of(fd: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


@pytest.mark.parametrize("names", [("ours",), ("ours", "q")])
def test_no_name_below_the_base_is_followed(tmp_path: Path, names: tuple[str, ...]) -> None:
    (tmp_path / "victim" / "q").mkdir(parents=True, mode=0o700)
    (tmp_path / "victim").chmod(0o700)
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "ours").symlink_to(tmp_path / "victim")
    with pytest.raises(UnsafeScratch, match="it is a symbolic link"):
        open_ours(str(tmp_path / "base"), *names, make=True)
    (tmp_path / "base" / "ours").unlink()
    (tmp_path / "base" / "ours").mkdir(mode=0o700)
    (tmp_path / "base" / "ours" / "q").symlink_to(tmp_path / "victim" / "q")
    with pytest.raises(UnsafeScratch, match="it is a symbolic link"):
        open_ours(str(tmp_path / "base"), "ours", "q", make=True)


def test_where_there_is_none_nothing_is_made_unless_it_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_ours(str(tmp_path), "ours", "q")
    assert not (tmp_path / "ours").exists()
    assert name_of(open_ours(str(tmp_path), "ours", "q", make=True)) == str(tmp_path / "ours" / "q")
    assert mode(tmp_path / "ours") == mode(tmp_path / "ours" / "q") == 0o700


def test_a_look_at_a_readable_directory_does_not_change_it(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o755)
    os.close(open_private_dir(str(tmp_path / "d"), make=False))
    assert mode(tmp_path / "d") == 0o755


def our_link(way: Path) -> None:
    (way / "link").symlink_to("real")


def our_absolute_link_through_a_parent(way: Path) -> None:
    (way / "link").symlink_to(f"{way}/real/../real")


def our_link_where_everybody_may_rename(way: Path) -> None:
    our_link(way)
    way.chmod(0o777)


def our_link_in_a_sticky_directory(way: Path) -> None:
    our_link(way)
    way.chmod(0o1777)


def a_link_of_another_user(way: Path) -> None:
    our_link(way)
    os.lchown(way / "link", 65534, 65534)


def a_loop(way: Path) -> None:
    (way / "link").symlink_to("link")


@needs_root
@pytest.mark.parametrize(
    ("lay", "is_followed"),
    [
        (our_link, True),
        (our_absolute_link_through_a_parent, True),
        (our_link_in_a_sticky_directory, True),
        (our_link_where_everybody_may_rename, False),
        (a_link_of_another_user, False),
        (a_loop, False),
    ],
)
def test_on_the_way_to_a_base_only_links_that_nobody_else_could_lay_are_followed(
    tmp_path: Path, lay: Callable[[Path], None], is_followed: bool
) -> None:
    (tmp_path / "way" / "real" / "base").mkdir(parents=True)
    lay(tmp_path / "way")
    if is_followed:
        assert name_of(open_base(f"{tmp_path}/way/link/base")) == f"{tmp_path}/way/real/base"
    else:
        with pytest.raises(OSError, match=r"directory|links"):
            open_base(f"{tmp_path}/way/link/base")


def test_no_descriptor_is_left_open_by_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "d").symlink_to("nowhere")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(UnsafeScratch):
            open_private_dir(str(tmp_path / "d"))
        with pytest.raises(FileNotFoundError):
            open_ours(str(tmp_path / "none"), "x")
    assert len(os.listdir("/proc/self/fd")) == before


def test_whoever_comes_second_takes_what_the_first_has_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hooks of a new user: the way appears between one's look and his making it."""
    base, real = tmp_path / "state", mod.open_ours
    calls: list[tuple[str, ...]] = []

    def late(*words: str, make: bool = False) -> int:
        calls.append(words)
        try:
            return real(*words, make=make)
        finally:
            base.mkdir(mode=0o700, exist_ok=True)

    monkeypatch.setattr(mod, "open_ours", late)
    os.close(mod.open_private_dir(str(base / "guard")))
    assert len(calls) == 2

"""Shape checks: what they accept, and that looking is harmless."""

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.holding import ended_pid
from support.trees import opened
from tmpwarden.catalogue import checks
from tmpwarden.oskit import system


@pytest.fixture
def base(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    with opened(tmp_path / "base") as found:
        yield found


def ask(check: str, base: tuple[Path, int], name: str) -> bool | None:
    found = os.lstat(name, dir_fd=base[1])
    return (
        checks.Mappings().leave_out(name, found)
        if check == checks.NOT_MAPPED
        else checks.CHECKS[check](base[1], name, found)
    )


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (b"/home/me/project\n", True),
        (b"/home/me/project", True),
        (b"/", True),
        (b"", True),
        (b"\n", True),
        (b"/" + b"x" * 4095, True),
        (b"/" + b"x" * 4096, False),
        (b"relative\n", False),
        (b"/one\n/two\n", False),
        (b"/one\n\n", False),
        (b"/with\0null", False),
        (b" /indented\n", False),
    ],
)
def test_a_marker_holds_one_absolute_path_or_nothing(base: tuple[Path, int], content: bytes, answer: bool) -> None:
    (base[0] / "m").write_bytes(content)
    assert ask("one-line-path", base, "m") is answer


@pytest.mark.parametrize(
    ("content", "answer"), [(b"\x7fELF\x02", True), (b"\x7fEL", False), (b"", False), (b"#!/bin/sh\n", False)]
)
def test_elf_is_told_by_its_first_bytes(base: tuple[Path, int], content: bytes, answer: bool) -> None:
    (base[0] / "lib.so").write_bytes(content)
    assert ask("elf", base, "lib.so") is answer


@pytest.mark.parametrize("check", ["elf", "one-line-path", "cachedir-tag", "transform-dump"])
def test_a_symlink_is_never_followed(base: tuple[Path, int], check: str) -> None:
    target = base[0] / "target"
    if check in ("elf", "one-line-path"):
        target.write_bytes(b"\x7fELF" if check == "elf" else b"/x\n")
    else:
        (target / "ssr").mkdir(parents=True)
        (target / "CACHEDIR.TAG").write_bytes(b"Signature: 8a477f597d28d172789f06886806bc55")
    (base[0] / "link").symlink_to(target)
    assert not ask(check, base, "link")


@pytest.mark.parametrize("check", ["elf", "one-line-path", "finder-store"])
def test_a_fifo_neither_hangs_nor_passes(base: tuple[Path, int], check: str) -> None:
    os.mkfifo(base[0] / "fifo")
    assert ask(check, base, "fifo") is None


@pytest.mark.parametrize("check", ["elf", "one-line-path"])
def test_looking_does_not_make_a_file_younger(base: tuple[Path, int], check: str) -> None:
    file = base[0] / "old"
    file.write_bytes(b"/x\n")
    os.utime(file, (1_600_000_000, 1_700_000_000))
    ask(check, base, "old")
    assert file.stat().st_atime == 1_600_000_000


def test_an_empty_directory_is_empty_and_a_full_one_is_not(base: tuple[Path, int]) -> None:
    (base[0] / "empty").mkdir()
    (base[0] / "full").mkdir()
    (base[0] / "full" / "x").touch()
    (base[0] / "file").touch()
    assert [ask("empty-dir", base, name) for name in ("empty", "full", "file")] == [True, False, False]


def test_a_cache_needs_the_signature_of_its_tag(base: tuple[Path, int]) -> None:
    for name, text in (("tagged", "Signature: 8a477f597d28d172789f06886806bc55\n# x"), ("liar", "Signature: 0")):
        (base[0] / name).mkdir()
        (base[0] / name / "CACHEDIR.TAG").write_text(text)
    (base[0] / "bare").mkdir()
    assert [ask("cachedir-tag", base, name) for name in ("tagged", "liar", "bare")] == [True, False, False]


def test_a_transform_dump_holds_nothing_else(base: tuple[Path, int]) -> None:
    for name, below in (("dump", ["ssr"]), ("both", ["ssr", "client"]), ("more", ["ssr", "src"]), ("none", [])):
        (base[0] / name).mkdir()
        for each in below:
            (base[0] / name / each).mkdir()
    names = ("dump", "both", "more", "none")
    assert [ask("transform-dump", base, name) for name in names] == [True, True, False, False]


def test_a_mapped_file_is_seen_and_one_that_was_let_go_is_not(base: tuple[Path, int]) -> None:
    file = base[0] / ".0123456789abcdef-00000000.so"
    file.write_bytes(b"\x7fELF" + b"\0" * 4096)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ):
        assert ask("not-mapped", base, file.name) is False
    assert ask("not-mapped", base, file.name) is True


def test_a_device_number_that_maps_tells_otherwise_does_not_hide_a_mapping(
    base: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """overlay and btrfs: stat and /proc/PID/maps disagree about the device."""
    file = base[0] / "a.so"
    file.touch()
    found = file.stat()
    monkeypatch.setattr(system.open_files, "read_maps", lambda: {found.st_ino: {("ff:ff", "a.so")}})
    assert ask("not-mapped", base, "a.so") is False
    monkeypatch.setattr(system.open_files, "read_maps", lambda: {found.st_ino: {("ff:ff", "another.so")}})
    assert ask("not-mapped", base, "a.so") is True


def test_where_there_is_no_proc_mappings_are_not_measured(
    base: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (base[0] / "a.so").touch()
    monkeypatch.setattr(system.open_files, "read_maps", lambda: None)
    assert ask("not-mapped", base, "a.so") is None


@pytest.mark.parametrize(
    ("name", "pid", "session"),
    [
        ("4711.sock", True, False),
        ("0.sock", False, False),
        ("99999999.sock", False, False),
        ("1b4e28ba-2fa1-41d2-883f-0016d3cca427", True, True),
        ("nothing", False, False),
    ],
)
def test_names_are_asked_for_a_pid_and_a_session(base: tuple[Path, int], name: str, pid: bool, session: bool) -> None:
    (base[0] / name).touch()
    assert (ask("pid-in-name", base, name), ask("session-in-name", base, name)) == (pid, session)


def test_the_page_names_every_check() -> None:
    page = (Path(__file__).parents[2] / "docs" / "add-an-agent.md").read_text()
    assert [name for name in checks.NAMES if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (b"\xcf\xfa\xed\xfe\x0c\0\0\x01", True),
        (b"\xca\xfe\xba\xbe", True),
        (b"\x7fELF", False),
        (b"\xcf\xfa", False),
        (b"", False),
    ],
)
def test_mach_o_is_told_by_its_first_bytes(base: tuple[Path, int], content: bytes, answer: bool) -> None:
    directory, fd = base
    (directory / "library").write_bytes(content)
    assert checks.is_mach_o(fd, "library", os.lstat(directory / "library")) is answer


@pytest.mark.parametrize(
    ("names", "answer"),
    [
        ((), False),
        (("registry",), True),
        (("registry", "git", ".package-cache"), True),
        (("registry", "credentials.toml"), False),
        (("registry", "config.toml"), False),
        (("src",), False),
    ],
)
def test_a_cargo_home_holds_what_cargo_fetched_and_nothing_that_somebody_wrote(
    base: tuple[Path, int], names: tuple[str, ...], answer: bool
) -> None:
    directory, fd = base
    home = directory / "home"
    home.mkdir()
    for name in names:
        (home / name).mkdir()
    assert checks.is_cargo_home(fd, "home", os.lstat(home)) is answer


@pytest.mark.parametrize(
    ("mark", "users", "answer"),
    [
        ("1778282953517", (), True),
        ("1778282953517", ("gone",), True),
        ("1778282953517", ("gone", "ours"), False),
        ("1778282953517", ("nobody-knows",), False),
        ("", (), False),
        (None, (), False),
    ],
)
def test_a_plugin_version_is_orphaned_when_it_says_so_and_no_process_uses_it(
    base: tuple[Path, int], mark: str | None, users: tuple[str, ...], answer: bool
) -> None:
    directory, fd = base
    version = directory / "1.0.0"
    (version / ".in_use").mkdir(parents=True)
    if mark is not None:
        (version / ".orphaned_at").write_text(mark)
    for user in users:
        (version / ".in_use" / {"gone": str(ended_pid()), "ours": str(os.getpid())}.get(user, user)).touch()
    assert checks.is_orphaned(fd, "1.0.0", os.lstat(version)) is answer

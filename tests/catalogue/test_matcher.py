"""One directory, one answer: places lead to every row, and the right row claims a name."""

import pytest

from tmpwarden.catalogue.load import Catalogue, load
from tmpwarden.catalogue.matcher import Place
from tmpwarden.model.terms import Kind

SESSION = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load(dirs=())


def reach(catalogue: Catalogue, *names: str, home: bool = False) -> Place:
    starts = catalogue.places(["/t"], "/h", uid=1000, environ={})
    place = next(start for start in starts if start.path == ("/h" if home else "/t"))
    for name in names:
        below = place.child(name)
        assert below is not None, name
        place = below
    return place


def test_a_directory_that_two_rows_speak_of_has_one_answer(catalogue: Catalogue) -> None:
    place = reach(catalogue, "claude-1000")
    assert place.path == "/t/claude-1000"
    session = place.classify("s0a1b2c3d", Kind.DIR)
    flat = place.classify("tmp.s41nKzCasd", Kind.FILE)
    assert session is not None and session.litter.key == "tmpwarden.session"
    assert flat is not None and flat.litter.key == "claude.flat"


def test_the_session_in_a_name_is_read(catalogue: Catalogue) -> None:
    match = reach(catalogue, "claude-1000", "-home-me").classify(SESSION, Kind.DIR)
    assert match is not None and match.session == SESSION and match.pid is None


def test_the_pid_in_a_name_is_read_and_an_impossible_one_names_nobody(catalogue: Catalogue) -> None:
    place = reach(catalogue, "cc-socks")
    match = place.classify("4711.sock", Kind.SOCKET)
    absurd = place.classify("99999999999999999999.sock", Kind.SOCKET)
    assert match is not None and match.pid == 4711
    assert absurd is not None and absurd.pid is None


@pytest.mark.parametrize("kind", [Kind.DIR, Kind.SOCKET, Kind.OTHER])
def test_a_row_for_files_takes_no_other_kind(catalogue: Catalogue, kind: Kind) -> None:
    assert reach(catalogue).classify("claude-1a2b-cwd", kind) is None


def test_a_never_row_wins_whatever_the_kind(catalogue: Catalogue) -> None:
    for kind in (Kind.FILE, Kind.DIR, Kind.OTHER):
        match = reach(catalogue, "tmpwarden-1000").classify("q", kind)
        assert match is not None and match.is_never


def test_another_users_directory_is_not_entered(catalogue: Catalogue) -> None:
    assert reach(catalogue).child("claude-1001") is None


def test_without_a_home_only_the_roots_are_looked_at(catalogue: Catalogue) -> None:
    assert [place.path for place in catalogue.places(["/t", "/u"], None, uid=1000)] == ["/t", "/u"]


def test_a_directory_that_is_only_passed_through_names_what_to_open(catalogue: Catalogue) -> None:
    assert reach(catalogue, ".claude", "sessions", home=True).names is None
    cache = next(p for p in catalogue.places([], "/h", uid=1000, environ={}) if p.path == "/h/.cache")
    assert cache.names is not None and "claude-cli-nodejs" in cache.names


def test_never_rows_inside_a_unit_are_told(catalogue: Catalogue) -> None:
    is_marked = reach(catalogue, home=True).never_inside(".claude")
    assert is_marked is not None
    assert is_marked("", "projects") and not is_marked("", "shell-snapshots")
    assert is_marked("plugins", "store") and not is_marked("plugins/cache", "store")
    assert not is_marked("shell-snapshots", "projects")


def test_a_unit_that_no_never_row_looks_into_needs_no_marker(catalogue: Catalogue) -> None:
    assert reach(catalogue).never_inside("claude-1a2b-cwd") is None


def test_names_from_disk_are_matched_exactly(catalogue: Catalogue) -> None:
    """A newline at the end is not the end, and digits of other scripts are no digits."""
    place = reach(catalogue)
    for name in ("claude-1a2b-cwd\n", "\nclaude-1a2b-cwd", "claude-1a2b-cwd\udcff", "go-build\u0661\u0662"):
        assert place.classify(name, Kind.FILE) is None and place.classify(name, Kind.DIR) is None
    flat = reach(catalogue, "claude-1000").classify("a\nb\udcff", Kind.FILE)
    assert flat is not None and flat.litter.key == "claude.flat"

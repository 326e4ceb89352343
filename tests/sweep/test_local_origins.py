"""A clone of a path on this machine goes where the repository there holds its commits, and only into quarantine."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.litter import claude_session, in_quarantine, later
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Keep
from tmpwarden.model.terms import Outcome, Reason
from tmpwarden.sweep.compose import clean, scan
from tmpwarden.sweep.store.undo import undo
from tmpwarden.sweep.take import ending

LATER = later(100)
LOST = "1 commit on branch main that no remote is known to have"


def git(where: Path, *words: str) -> str:
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *author, *words], cwd=where, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(where: Path, name: str = "file") -> None:
    (where / name).write_text(name)
    git(where, "add", name)
    git(where, "commit", "-qm", name)


@pytest.fixture
def origin(own_world: Path) -> Path:
    place = own_world / "home" / "code" / "shop"
    place.mkdir(parents=True)
    git(place, "init", "-qb", "main")
    commit(place, "first")
    return place


@pytest.fixture
def clone(own_world: Path, origin: Path) -> Path:
    """In the scratchpad of a session that is dead."""
    place = claude_session(own_world / "tmp") / "scratchpad" / "shop"
    place.parent.mkdir()
    git(place.parent, "clone", "-q", str(origin), place.name)
    return place


def kept() -> list[tuple[Reason, str]]:
    return [(each.reason, each.detail) for each in scan(now_ns=LATER) if isinstance(each, Keep)]


def test_what_its_origin_holds_goes_and_comes_back(clone: Path, own_world: Path) -> None:
    assert kept() == []
    result = clean(now_ns=LATER)
    assert not clone.exists()
    assert Outcome.QUARANTINED in [receipt.outcome for receipt in result.removed]
    undo()
    assert git(clone, "status", "--porcelain") == ""


def test_what_was_pushed_there_goes_and_what_was_not_stays(clone: Path, origin: Path) -> None:
    commit(clone, "more")
    assert kept() == [(Reason.GIT_WORK, f"scratchpad/shop: {LOST}")] or kept() == [(Reason.GIT_WORK, LOST)]
    git(clone, "push", "-q", "origin", "HEAD:refs/heads/arrived")
    assert kept() == []
    commit(clone, "again")
    assert [detail.endswith(LOST) for _, detail in kept()] == [True], "the one that has arrived is not counted"
    assert clean(now_ns=LATER).removed == []
    git(origin, "tag", "kept", "arrived")
    git(origin, "branch", "-qD", "arrived")
    git(clone, "reset", "-q", "--hard", "HEAD~1")
    assert kept() == []


def test_a_detached_head_is_asked_about_too(clone: Path) -> None:
    git(clone, "checkout", "-q", "--detach")
    assert kept() == []
    commit(clone, "more")
    assert [detail.endswith("detached HEAD with 1 commit that no remote is known to have") for _, detail in kept()] == [
        True
    ]


def by_alternates(clone: Path, origin: Path) -> None:
    (origin / ".git/objects/info/alternates").write_text(f"{clone}/.git/objects\n")


def by_a_link(clone: Path, origin: Path) -> None:
    (origin / ".git/objects/pack").rmdir()
    (origin / ".git/objects/pack").symlink_to(clone / ".git/objects/pack")


def by_grafts(clone: Path, origin: Path) -> None:
    (origin / ".git/info").mkdir(exist_ok=True)
    (origin / ".git/info/grafts").write_text(git(origin, "rev-parse", "HEAD") + "\n")


def as_promised(clone: Path, origin: Path) -> None:
    git(origin, "config", "remote.far.promisor", "true")


def only_in_a_reflog(clone: Path, origin: Path) -> None:
    git(origin, "checkout", "-q", "--orphan", "other")
    git(origin, "commit", "-qm", "other", "--allow-empty")
    git(origin, "branch", "-qD", "main")


def under_a_ref_of_another_kind(clone: Path, origin: Path) -> None:
    git(origin, "update-ref", "refs/pull/1", "HEAD")
    only_in_a_reflog(clone, origin)


def gone(clone: Path, origin: Path) -> None:
    origin.rename(origin.parent / "moved")


def running_a_program(clone: Path, origin: Path) -> None:
    git(origin, "config", "core.fsmonitor", "touch /nowhere")


WAYS: list[tuple[Callable[[Path, Path], None], str]] = [  # and what is said of the origin
    (by_alternates, "parts of it are elsewhere (objects/info/alternates)"),
    (by_a_link, "parts of it lie elsewhere"),
    (by_grafts, "parts of it lie elsewhere"),
    (as_promised, "it may lack objects"),
    (only_in_a_reflog, ""),  # it was asked: no branch or tag of it has the commit
    (under_a_ref_of_another_kind, ""),
    (gone, "it is gone"),
    (running_a_program, "core.fsmonitor in its configuration"),
]


@pytest.mark.parametrize(("way", "why"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_origin_that_may_not_have_it_tomorrow_counts_for_nothing(
    clone: Path, origin: Path, way: Callable[[Path, Path], None], why: str
) -> None:
    way(clone, origin)
    ((reason, detail),) = kept()
    assert reason is Reason.GIT_WORK
    assert detail.endswith(f"{LOST} ({origin} does not count: {why})" if why else LOST)
    assert clean(now_ns=LATER).removed == []
    assert clone.exists()


@pytest.mark.parametrize("place", ["in the temp root", "in the unit"])
def test_an_origin_in_a_temp_directory_counts_for_nothing(own_world: Path, place: str) -> None:
    unit = claude_session(own_world / "tmp")
    origin = (own_world / "tmp" if place == "in the temp root" else unit / "scratchpad") / "origin"
    origin.mkdir(parents=True)
    git(origin, "init", "-qb", "main")
    commit(origin)
    (unit / "scratchpad").mkdir(exist_ok=True)
    git(unit / "scratchpad", "clone", "-q", str(origin), "shop")
    said = [detail for reason, detail in kept() if reason is Reason.GIT_WORK]
    why = "it is in a temp directory" if place == "in the temp root" else "it would be removed with the clone"
    assert f"{LOST} ({origin} does not count: {why})" in " ".join(said), "that origin has the commit"
    clean(now_ns=LATER)
    assert (unit / "scratchpad" / "shop").exists()


def test_one_that_reads_its_objects_in_the_clone_is_found_out_after_the_rename(
    clone: Path, origin: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it came to that between the question and the deed."""
    real = ending._lost_since

    def too_late(deed: ending.Deed) -> object:
        assert not clone.exists()
        by_alternates(clone, origin)
        return real(deed)

    monkeypatch.setattr(ending, "_lost_since", too_late)
    result = clean(now_ns=LATER)
    assert result.removed == []
    assert clone.exists()
    assert in_quarantine(own_world / "tmp") == []


@pytest.mark.parametrize(
    "wish", [Request(quarantine=False), Request(empty_quarantine=True)], ids=["no-quarantine", "purge"]
)
def test_it_is_never_purged_at_once(clone: Path, own_world: Path, wish: Request) -> None:
    result = clean(wish, now_ns=LATER)
    assert not clone.exists()
    assert Outcome.QUARANTINED in [receipt.outcome for receipt in result.removed]
    assert len(in_quarantine(own_world / "tmp")) == 1


def test_what_teardown_takes_waits_as_well(clone: Path, own_world: Path) -> None:
    import tmpwarden

    session = clone.parent.parent.name
    result = tmpwarden.teardown(session=session, wait=True)
    assert [receipt.outcome for receipt in result.removed] == [Outcome.QUARANTINED]
    undo()
    commit(clone, "more")
    again = tmpwarden.teardown(session=session, wait=True)
    assert [receipt.reason for receipt in again.kept] == [Reason.GIT_WORK]
    assert clone.exists()

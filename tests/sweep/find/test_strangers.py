"""Everything in a temp root is accounted for: what no row knows is grouped by shape and measured."""

import os
import subprocess
from pathlib import Path

import pytest

from support.litter import claude_session, cwd_markers, later
from support.mounts import needs_root, tmpfs
from support.user import UID
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Unmatched
from tmpwarden.sweep import survey as surveys
from tmpwarden.sweep.compose import clean, scan
from tmpwarden.sweep.find import strangers
from tmpwarden.sweep.survey import Survey


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def surveyed(*roots: Path) -> Survey:
    survey = scan(Request(roots=tuple(map(str, roots))), now_ns=later(100))
    assert list(survey) is not None
    return survey


def unmatched(root: Path, *, in_full: bool = False) -> dict[str, Unmatched]:
    return {group.shape: group for group in surveyed(root).unmatched(in_full=in_full)}


def orchestrator(root: Path, count: int, size: int = 5000) -> None:
    for number in range(count):
        unit = root / f"orch-{number:04x}"
        (unit / "logs").mkdir(parents=True)
        (unit / "logs" / "out").write_bytes(b"x" * size)


def disk_usage(*paths: Path) -> int:
    words = ["du", "-c", "-s", "--block-size=1", *map(str, paths)]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()[0])


def test_what_no_row_knows_is_grouped_by_shape_and_measured_as_du_does(root: Path) -> None:
    orchestrator(root, 30)
    claude_session(root)
    cwd_markers(root, 5)
    (root / "notes.txt").write_bytes(b"x" * 9000)
    found = unmatched(root)
    assert set(found) == {"orch-*", "notes.txt"}
    assert (found["orch-*"].count, found["orch-*"].bytes) == (30, disk_usage(*root.glob("orch-*")))
    assert len(found["orch-*"].examples) == 3
    assert not found["orch-*"].at_least
    newest = max(path.lstat().st_ctime_ns for path in [*root.glob("orch-*"), *root.rglob("out")])
    assert found["orch-*"].newest_ns == newest


def test_what_has_the_name_of_litter_and_not_its_shape_is_not_forgotten(root: Path) -> None:
    (root / "claude-1a2b-cwd").write_bytes(b"\0" * 100_000)
    target = root / "fix-42-target"  # without the tag that cargo writes
    target.mkdir()
    (target / "x").write_bytes(b"x" * 9000)
    assert sum(group.bytes for group in unmatched(root).values()) >= 9000
    assert "fix-42-target" in {name for group in unmatched(root).values() for name in group.examples}


def test_beside_what_rows_speak_of_in_a_directory_the_rest_is_told(root: Path) -> None:
    (root / "gemini" / "ide").mkdir(parents=True)
    (root / "gemini" / "big").write_bytes(b"x" * 50_000)
    assert unmatched(root)["gemini/big"].bytes >= 50_000


def test_a_root_inside_another_is_counted_once(root: Path) -> None:
    inner = root / "inner"
    inner.mkdir()
    (inner / "file").write_bytes(b"x" * 10_000)
    found = surveyed(root, inner).unmatched()
    assert [(group.root, group.shape) for group in found] == [(str(inner), "file")]


@needs_root
def test_every_used_byte_of_a_root_has_its_place_in_the_account(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="16m") as root:
        clean(Request(roots=(str(root),)))
        claude_session(root, files=9)
        clean(Request(roots=(str(root),)), now_ns=later(100))
        claude_session(root, files=20)
        orchestrator(root, 12)
        (root / "theirs").write_bytes(b"x" * 70_000)
        os.chown(root / "theirs", UID, UID)
        ghost = os.open(root / "ghost", os.O_RDWR | os.O_CREAT, 0o600)
        os.write(ghost, b"x" * 200_000)
        os.unlink(root / "ghost")
        survey = surveyed(root)
        (account,) = survey.accounts(survey.unmatched())
        os.close(ghost)
    assert account.matched_bytes == 20 * 4096
    assert (account.unmatched_count, account.unmatched_bytes) == (12, 12 * 8192)
    assert (account.others_count, account.others_bytes) == (1, 73_728)
    assert account.quarantined_bytes >= 9 * 4096
    assert account.other_bytes == 200_704
    assert not account.at_least


def test_more_than_the_budget_is_told_as_at_least_and_in_full_when_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orchestrator(root, 40)
    monkeypatch.setattr(surveys, "LEAST_BUDGET", 30)
    partly = unmatched(root)["orch-*"]
    assert partly.at_least
    assert (partly.count, partly.bytes < disk_usage(*root.glob("orch-*"))) == (40, True)
    whole = unmatched(root, in_full=True)["orch-*"]
    assert (whole.at_least, whole.bytes) == (False, disk_usage(*root.glob("orch-*")))


def test_one_big_directory_does_not_use_up_what_the_others_need(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "big").mkdir()
    for number in range(300):
        (root / "big" / str(number)).touch()
    (root / "small").mkdir()
    (root / "small" / "file").write_bytes(b"x" * 9000)
    monkeypatch.setattr(surveys, "LEAST_BUDGET", 100)
    found = unmatched(root)
    assert (found["big"].at_least, found["small"].at_least) == (True, False)


def test_names_without_end_are_held_to_a_bound(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strangers, "_MOST_SHAPES", 5)
    words = [f"{chr(97 + number)}word{'x' * number}" for number in range(12)]
    for word in words:
        (root / word).touch()
    found = unmatched(root)
    assert len(found) <= 6
    assert sum(group.count for group in found.values()) == 12


def test_a_scan_of_one_agent_gives_no_account_of_what_it_did_not_look_at(root: Path) -> None:
    orchestrator(root, 3)
    survey = scan(Request(roots=(str(root),), agents=("claude",)))
    assert list(survey) == []
    assert (survey.unmatched(), survey.accounts(())) == ((), ())

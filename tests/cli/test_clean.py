"""`tmpwarden clean`: the question, the deed, the summary, the exit status."""

import json
import os
import sys
from pathlib import Path

import pytest

from support import planted
from support.command import LATER, data, tmpwarden
from support.holding import process
from support.terminal import on_a_terminal


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def asked(answer: str, *args: str, prompt: str = "[y/N]") -> tuple[int, str]:
    env = {**os.environ, "LATER_S": str(planted.DAYS), "NO_COLOR": "1", "TERM": "xterm"}
    return on_a_terminal([sys.executable, str(LATER), "clean", *args], answer=answer, env=env, prompt=prompt)


def test_without_a_terminal_and_without_yes_it_touches_nothing_and_is_exit_4(root: Path) -> None:
    unit, marker = planted.session(root), planted.marker(root)
    result = tmpwarden("clean", later_s=planted.DAYS)
    assert result.returncode == 4
    assert "nothing was changed" in result.stderr
    assert unit.exists() and marker.exists()
    answer = json.loads(tmpwarden("clean", "--json", later_s=planted.DAYS).stdout)
    assert (answer["ok"], answer["error"]["code"]) == (False, "input-required")


def test_without_a_terminal_but_with_nothing_to_ask_about_it_is_done() -> None:
    result = tmpwarden("clean")
    assert (result.returncode, result.stdout) == (0, "Nothing to remove.\n")


@pytest.mark.parametrize("answer", ["n", "^D", "maybe", "\n"], ids=["n", "EOF", "maybe", "Enter"])
def test_what_is_no_clear_yes_removes_nothing(root: Path, answer: str) -> None:
    unit, marker = planted.session(root), planted.marker(root)
    status, shown = asked(answer)
    assert status == 0
    assert "Nothing was removed." in shown
    assert unit.exists() and marker.exists()


def test_the_question_counts_what_cannot_be_undone(root: Path) -> None:
    unit = planted.session(root, 300_000)
    planted.markers(root, 3)
    status, shown = asked("y")
    assert status == 0
    assert "Remove 4 items, " in shown and "(3 cannot be undone)? [y/N] y" in shown
    assert str(unit) in shown, "a path is shown whole, so that it can be copied"
    assert "can be brought back within " in shown and "tmpwarden undo" in shown
    assert not unit.exists()
    assert not list(root.glob("claude-*-cwd"))


def test_ctrl_c_at_the_question_removes_nothing_and_is_exit_130(root: Path) -> None:
    unit = planted.session(root)
    status, shown = asked("^C")
    assert status == 130
    assert "Nothing was removed." in shown
    assert unit.exists()


def test_a_dry_run_lists_and_touches_nothing(root: Path) -> None:
    unit, marker = planted.session(root), planted.marker(root)
    found = data("clean", "--dry-run", later_s=planted.DAYS)
    assert found["effect"] == "would_delete"
    assert {each["path"] for each in found["removed"]} == {str(unit), str(root)}
    assert found["freed_bytes"] == 0
    assert "Nothing was removed." in tmpwarden("clean", "-n", later_s=planted.DAYS).stdout
    assert unit.exists() and marker.exists()


@pytest.mark.parametrize("flag", ["--force", "-f", "--yes", "-y"])
def test_force_and_yes_skip_the_question_and_no_law(root: Path, flag: str) -> None:
    gone, held = planted.session(root), planted.session(root)
    with process("", cwd=held / "tasks"):
        found = data("clean", flag, later_s=planted.DAYS)
    assert not gone.exists()
    assert held.exists()
    assert {"path": str(held), "agent": "claude", "litter": "session", "reason": "working-directory"} in found["kept"]


def test_the_document_of_a_deed_tells_freed_and_quarantined_apart(root: Path) -> None:
    planted.session(root, 400_000)
    planted.markers(root, 5)
    found = data("clean", "--force", later_s=planted.DAYS)
    assert found["effect"] == "deleted"
    assert found["quarantined_bytes"] >= 400_000
    assert found["freed_bytes"] < 400_000
    by_litter = {each["litter"]: each for each in found["removed"]}
    assert by_litter["session"]["undoable"] is True
    assert by_litter["session"]["receipt"]
    assert by_litter["cwd-marker"]["count"] == 5
    assert found["failed"] == []


def test_no_quarantine_frees_at_once(root: Path) -> None:
    planted.session(root, 400_000)
    found = data("clean", "--force", "--no-quarantine", later_s=planted.DAYS)
    assert found["quarantined_bytes"] == 0
    assert found["freed_bytes"] >= 400_000
    assert found["removed"][0]["undoable"] is False


def test_purge_empties_the_quarantine(root: Path) -> None:
    planted.session(root, 400_000)
    data("clean", "--force", later_s=planted.DAYS)
    found = data("clean", "--force", "--purge")
    assert found["freed_bytes"] >= 400_000
    assert tmpwarden("undo").returncode == 5


def test_min_age_is_a_floor_for_everything(root: Path) -> None:
    unit = planted.session(root)
    found = data("clean", "--force", "--min-age", "30d", later_s=planted.DAYS)
    assert found["removed"] == []
    assert found["kept"][0]["reason"] == "too-young"
    assert unit.exists()


def test_agent_confines_the_sweep(root: Path) -> None:
    session, staging = planted.session(root), planted.staging(root)
    data("clean", "--force", "--agent", "moat", later_s=planted.DAYS)
    assert session.exists()
    assert not staging.exists()


def test_if_due_skips_when_the_last_clean_is_recent(root: Path) -> None:
    data("clean", "--force")
    marker = planted.marker(root)
    found = data("clean", "--force", "--if-due", "1h")
    assert (found["skipped"], found["removed"]) == ("not-due", [])
    assert marker.exists()


def test_a_time_limit_of_nothing_stops_before_the_first_unit(root: Path) -> None:
    unit = planted.session(root)
    result = tmpwarden("clean", "--force", "--time-limit", "0s", "--json", later_s=planted.DAYS)
    answer = json.loads(result.stdout)
    assert (result.returncode, answer["error"]["code"], answer["data"]["removed"]) == (10, "time-limit", [])
    assert unit.exists()


def test_quiet_says_nothing_when_all_is_well(root: Path) -> None:
    planted.session(root)
    result = tmpwarden("clean", "--force", "-q", later_s=planted.DAYS)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_kept_units_are_told_with_their_reason(root: Path) -> None:
    held = planted.session(root)
    with process("", cwd=held / "tasks") as holder:
        said = tmpwarden("clean", "--force", later_s=planted.DAYS).stdout
    assert f"Kept {held}, 1 item, " in said
    assert f"(pid {holder.pid})" in said


def test_a_floor_used_as_a_limit_is_answered_with_the_option_that_is_meant(own_world: Path) -> None:
    """`moat clean-temp --min-age 1h` takes what is older than that; here it is a floor."""
    unit = (
        own_world / "tmp" / "gemini-client-error-Turn.run-sendMessageStream-2026-09-03T10-11-12-123Z.json"
    )  # belongs to nobody, so that it waits three days
    unit.write_text("{}")
    said = tmpwarden("clean", "--yes", "--min-age", "1h", later_s=2 * 3600)
    assert unit.exists()
    sentence, _, remedy = said.stderr.strip().partition(" older than that: tmpwarden ")
    assert sentence == "warning: --min-age only keeps younger items; to remove the 1 item"
    tmpwarden(*remedy.split(), "--yes", later_s=2 * 3600)
    assert not unit.exists()

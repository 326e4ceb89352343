"""After a clean: what was freed, what waits and still fills the disk, how to free it now, and what was freed in all."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import planted
from support.command import LATER, data, tmpwarden
from support.litter import in_quarantine
from support.terminal import on_a_terminal

pytestmark = pytest.mark.disk


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def clean(*words: str, answer: str = "", prompt: str = "[y/N]") -> str:
    env = {**os.environ, "LATER_S": str(planted.DAYS), "NO_COLOR": "1"}
    argv = [sys.executable, str(LATER), "clean", *words]
    return on_a_terminal(argv, answer=answer, env=env, columns=200, prompt=prompt)[1]


def test_what_waits_in_quarantine_is_not_told_as_free_and_the_command_frees_it(root: Path) -> None:
    planted.session(root, 100_000)
    said = tmpwarden("clean", "--yes", later_s=planted.DAYS).stdout
    assert "can be brought back within 1d" in said
    assert not re.search(r"Freed 10[08]", said), "what waits is not free"
    assert "Until then they still use disk space. To delete them now, permanently: tmpwarden clean --purge" in said
    quarantine = root / f"tmpwarden-{os.geteuid()}" / "q"
    assert len(in_quarantine(root)) == 1
    purged = tmpwarden("clean", "--purge", "--yes", later_s=planted.DAYS).stdout
    assert re.search(r"Freed 10[08]\.0 KB, 3 entries\.", purged), purged  # a directory takes no room on tmpfs
    assert list(quarantine.iterdir()) == []


def test_what_was_freed_in_all_is_told_from_the_second_run_on(root: Path) -> None:
    for number in range(2):
        planted.markers(root, 10)
        said = tmpwarden("clean", "--yes", later_s=planted.DAYS).stdout
        assert ("Freed so far: 80.0 KB, 20 entries." in said) == (number == 1)
    assert data("status")["freed"] == {"bytes": 81920, "entries": 20}
    assert "80.0 KB freed so far" in tmpwarden("status").stdout


def test_a_long_list_is_grouped_before_the_question_and_l_lists_all(root: Path) -> None:
    units = [planted.session(root) for _ in range(50)]
    said = clean(answer="n", prompt="[y/N, l lists all]")
    assert "Remove 50 items" in said
    assert not any(unit.name in said for unit in units)
    assert "claude" in said.split("Remove 50")[0]
    said = clean(answer="l\nn", prompt="[y/N, l lists all]")
    assert all(unit.name in said for unit in units)
    assert said.count("Remove 50 items") == 2, "and it is asked again"
    assert all(unit.exists() for unit in units)


@pytest.mark.parametrize(
    ("options", "command"),
    [
        (["--all"], "tmpwarden clean --all"),
        (["--older-than", "1d"], "tmpwarden clean --older-than 1d"),
        (["--max-age", "1d"], "tmpwarden clean --older-than 1d"),
        (["--min-age", "1h30m15s", "--agent", "claude"], "tmpwarden clean --min-age 5415s --agent claude"),
    ],
)
def test_a_scan_ends_with_the_clean_that_takes_what_it_showed(root: Path, options: list[str], command: str) -> None:
    planted.session(root)
    assert f"Next: {command}\n" in tmpwarden("scan", *options, later_s=planted.DAYS).stdout


@pytest.mark.parametrize("owner", ["a dead session", "a session that lives", "git work"])
def test_a_scan_that_keeps_all_for_its_age_names_the_clean_that_takes_it(root: Path, owner: str) -> None:
    from tmpwarden.leases.scratch import open_scratch

    unit = planted.session(root)
    if owner == "a session that lives":
        open_scratch(str(root), "claude", unit.name, pid=os.getpid())
    if owner == "git work":
        subprocess.run(["git", "init", "-q", unit / "scratchpad" / "work"], check=True)
        (unit / "scratchpad" / "work" / "novel.txt").write_text("words")
    said = tmpwarden("scan", later_s=5 * 3600).stdout
    hint = "1 item of an ended session was last used 5h ago. To remove: tmpwarden clean --older-than 1h\n"
    assert said.endswith(hint) == (owner == "a dead session"), said
    assert said.endswith("Nothing to do.\n") == (owner != "a dead session"), said
    assert "Nothing to do." in tmpwarden("scan", later_s=1800).stdout, "too young for that, too"
    assert "--older-than" not in tmpwarden("scan", later_s=planted.DAYS).stdout, "it goes anyway"
    if owner == "a dead session":
        command = said.splitlines()[-1].partition(": tmpwarden ")[2].split()
        assert tmpwarden(*command, "--yes", later_s=5 * 3600).returncode == 0
        assert not unit.exists()


def test_status_counts_what_no_row_knows(root: Path) -> None:
    planted.markers(root, 4)
    for number in range(7):
        (root / f"orch-{number}a").mkdir()
    (account,) = data("status")["accounts"]
    assert (account["matched_count"], account["unmatched_count"], account["shapes"]) == (4, 7, {"orch-*": 7})
    assert "4 of agents, 7 not recognised" in tmpwarden("status").stdout

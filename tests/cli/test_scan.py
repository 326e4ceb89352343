"""`tmpwarden scan`: what people and programs are told."""

import os
import sys
from pathlib import Path

import pytest

from support import planted
from support.command import data, tmpwarden
from support.holding import process
from support.terminal import on_a_terminal
from support.user import UID


def root_of(world: Path) -> Path:
    return world / "tmp"


def test_the_document_has_the_keys_of_the_contract(own_world: Path) -> None:
    unit = planted.session(root_of(own_world), 50_000)
    planted.markers(root_of(own_world), 3)
    found = data("scan", later_s=planted.DAYS)
    by_litter = {each["litter"]: each for each in found["findings"]}
    session, swarm = by_litter["session"], by_litter["cwd-marker"]
    assert set(session) >= {
        "path", "agent", "litter", "kind", "tier", "worth", "bytes", "entries", "age_seconds", "owner", "witnesses",
        "verdict", "reason", "undoable",
    }  # fmt: skip
    assert (session["path"], session["agent"], session["verdict"], session["undoable"]) == (
        str(unit), "claude", "remove", True,
    )  # fmt: skip
    assert (swarm["count"], swarm["path"], swarm["undoable"]) == (3, str(root_of(own_world)), False)
    assert found["totals"]["findings"] == len(found["findings"])
    assert found["totals"]["removable_bytes"] >= 50_000
    assert set(found["roots"][0]) >= {"path", "filesystem", "bytes_total", "bytes_free", "inodes_total", "inodes_free"}


def test_scan_groups_biggest_first_and_ends_with_the_next_step(own_world: Path) -> None:
    planted.markers(root_of(own_world), 3)
    planted.session(root_of(own_world), 500_000)
    lines = tmpwarden("scan", later_s=planted.DAYS).stdout.splitlines()
    assert lines[0].split() == ["AGENT", "KIND", "ITEMS", "SIZE", "AGE", "WHY"]
    assert [line.split()[1] for line in lines[1:3]] == ["session", "cwd-marker"]
    assert lines[-1].startswith("Removable: 4 items, ")
    assert lines[-1].endswith("Kept: nothing. Next: tmpwarden clean")


def test_a_kept_row_says_who_uses_it(own_world: Path) -> None:
    unit = planted.session(root_of(own_world))
    with process("", cwd=unit / "tasks") as holder:
        said = tmpwarden("scan", later_s=planted.DAYS).stdout
        found = data("scan", later_s=planted.DAYS)["findings"][0]
    assert f"(pid {holder.pid})" in said
    assert (found["verdict"], found["reason"]) == ("keep", "working-directory")
    assert found["witnesses"][0]["pid"] == holder.pid


def test_what_is_young_is_kept_and_says_when_it_goes(own_world: Path) -> None:
    planted.session(root_of(own_world))
    said = tmpwarden("scan").stdout
    assert "kept  too new; removable after " in said
    assert said.endswith("Nothing to do.\n")


def test_each_lists_every_unit_with_its_path_last(own_world: Path) -> None:
    units = [planted.session(root_of(own_world)) for _ in range(3)]
    lines = tmpwarden("scan", "--each", later_s=planted.DAYS).stdout.splitlines()
    assert sorted(line.rsplit("  ", 1)[-1] for line in lines[1:4]) == sorted(map(str, units))


def test_names_from_disk_are_escaped_for_people_and_exact_for_programs(own_world: Path) -> None:
    name = "moat-claude-staging-\x1b[31m\n\udcff"
    os.mkdir(os.path.join(os.fsencode(root_of(own_world)), os.fsencode(name)))
    said = tmpwarden("scan", "--each", later_s=planted.DAYS).stdout
    assert "\x1b" not in said
    assert len(said.splitlines()) == len(tmpwarden("scan", "--each", later_s=planted.DAYS).stdout.split("\n")) - 1
    for found in data("scan", later_s=planted.DAYS)["findings"]:
        assert os.path.lexists(found["path"])


def test_an_empty_machine_says_so() -> None:
    assert tmpwarden("scan").stdout.startswith("No agent left anything behind in ")


def test_a_size_that_could_not_be_read_says_at_least(own_world: Path, ordinary_user: object) -> None:
    user = ordinary_user
    unit = planted.session(user.tmp, 10_000, uid=UID)  # type: ignore[attr-defined]
    closed = unit / "closed"
    closed.mkdir()
    (closed / "big").write_bytes(b"x" * 100_000)
    for path in [unit.parents[1], unit.parent, unit, *unit.rglob("*")]:
        os.chown(path, UID, UID)
    closed.chmod(0)
    said = user.tmpwarden("scan")  # type: ignore[attr-defined]
    assert "at least" in said.stdout, said
    assert "could not be checked" in said.stdout or "too new" in said.stdout


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_on_a_terminal_a_path_is_never_broken(own_world: Path, columns: int) -> None:
    unit = planted.session(root_of(own_world))
    status, shown = on_a_terminal(
        [sys.executable, "-m", "tmpwarden", "scan", "--each"], env={**os.environ, "NO_COLOR": "1"}, columns=columns
    )
    assert status == 0
    assert str(unit) in shown

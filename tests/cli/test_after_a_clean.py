"""`undo`, `log` and `why`: what can be brought back, what was done, and what would be."""

import json
import os
from pathlib import Path

import pytest

from support import planted
from support.command import answer, data, tmpwarden
from support.holding import process


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def cleaned(*args: str) -> object:
    return data("clean", "--force", *args, later_s=planted.DAYS)


def test_undo_brings_back_all_that_the_last_clean_took(root: Path) -> None:
    units = [planted.session(root, 1000 * number) for number in (1, 2)]
    before = {path: path.read_bytes() for unit in units for path in unit.rglob("*") if path.is_file()}
    cleaned()
    restored = data("undo")["restored"]
    assert {each["path"] for each in restored} == set(map(str, units))
    assert {path: path.read_bytes() for path in before} == before


def test_what_leaves_quarantine_for_good_is_told_with_its_bytes_and_entries(root: Path) -> None:
    entries = 1 + len(list(planted.session(root, 9000).rglob("*")))
    cleaned()
    told = tmpwarden("clean", "--force", later_s=2 * planted.DAYS).stdout.splitlines()[-2]
    assert told.startswith("Nothing to remove. 1 item expired in quarantine and was deleted. Freed ")
    assert told.endswith(f" KB, {entries} entries.")


def test_empty_files_are_told_as_freed_too(root: Path) -> None:
    for marker in planted.markers(root, 3):
        os.truncate(marker, 0)
    assert tmpwarden("clean", "--force", later_s=planted.DAYS).stdout.endswith("Freed 3 entries.\n")


def test_log_has_a_line_for_what_was_brought_back(root: Path) -> None:
    unit = planted.session(root)
    cleaned()
    data("undo")
    removed, _, restored = data("log")["entries"]
    assert (removed["outcome"], restored["outcome"]) == ("quarantined", "restored")
    assert {removed["path"], restored["path"]} == {str(unit)}
    assert (restored["row"], restored["bytes"]) == (removed["row"], removed["bytes"])
    assert (removed["undoable"], restored["undoable"]) == (False, False)
    assert data("log", "--agent", "claude")["entries"][::2] == [removed, restored]
    first, second = [line for line in tmpwarden("log").stdout.splitlines() if "claude.session" in line]
    assert "undone" in first and "restored" in second and "brought back by undo" in second


def test_undo_takes_the_beginning_of_an_id(root: Path) -> None:
    first, second = planted.session(root), planted.session(root)
    cleaned()
    ids = {each["path"]: each["id"] for each in data("log")["entries"] if each["undoable"]}
    assert data("undo", ids[str(first)][:6])["restored"][0]["path"] == str(first)
    assert first.exists() and not second.exists()


def test_undo_puts_it_elsewhere(root: Path, own_world: Path) -> None:
    unit, elsewhere = planted.session(root), own_world / "elsewhere"
    elsewhere.mkdir()
    cleaned()
    data("undo", "--to", str(elsewhere))
    assert (elsewhere / unit.name / "tasks").is_dir()
    assert not unit.exists()


def test_undo_onto_a_taken_name_is_exit_6_and_overwrites_nothing(root: Path) -> None:
    unit = planted.session(root)
    cleaned()
    unit.mkdir(parents=True)
    (unit / "mine").write_text("new")
    result = tmpwarden("undo", "--json")
    assert (result.returncode, json.loads(result.stdout)["error"]["code"]) == (6, "name-taken")
    assert (unit / "mine").read_text() == "new"


@pytest.mark.parametrize("args", [(), ("deadbeef",)], ids=["nothing taken", "unknown id"])
def test_undo_of_nothing_is_exit_5(args: tuple[str, ...]) -> None:
    result = tmpwarden("undo", *args)
    assert result.returncode == 5
    assert "tmpwarden log" in result.stderr


def test_the_log_tells_what_went_why_and_what_can_come_back(root: Path) -> None:
    unit = planted.session(root)
    planted.markers(root, 3)
    cleaned()
    entries = {each["row"]: each for each in data("log")["entries"]}
    assert entries["claude.session"]["path"] == str(unit)
    assert entries["claude.session"]["undoable"] is True
    assert (entries["claude.cwd-marker"]["count"], entries["claude.cwd-marker"]["undoable"]) == (3, False)
    assert len(data("log", "-n", "1")["entries"]) == 1
    said = tmpwarden("log").stdout
    assert str(unit) in said and "/ (3 files)" in said


def test_an_empty_log_says_so() -> None:
    assert tmpwarden("log").stdout == "Nothing was removed yet.\n"
    assert tmpwarden("log", "--observed").returncode == 0


def test_why_names_unit_row_owner_and_witness(root: Path) -> None:
    unit = planted.session(root)
    inside = unit / "tasks" / "b1234abcd.output"
    with process("import sys; held = open(sys.argv[1])", str(inside)) as holder:
        found = data("why", str(inside), later_s=planted.DAYS)
        said = tmpwarden("why", str(inside), later_s=planted.DAYS).stdout
    assert (found["path"], found["unit"], found["litter"]) == (str(inside), str(unit), "session")
    assert (found["verdict"], found["reason"]) == ("keep", "open-file")
    assert holder.pid in {each["pid"] for each in found["witnesses"]}
    assert "which is removed or kept as a whole" in said
    assert f"(pid {holder.pid}) has open {inside}" in said


def test_why_answers_for_a_path_that_no_row_knows(own_world: Path) -> None:
    path = own_world / "home" / "thesis.tex"
    path.write_text("x")
    found = data("why", str(path))
    assert (found["verdict"], found["reason"]) == ("keep", None)
    assert "never touches it" in tmpwarden("why", str(path)).stdout


def test_why_agrees_with_scan_about_every_unit(root: Path) -> None:
    planted.session(root)
    planted.staging(root)
    for found in data("scan", later_s=planted.DAYS)["findings"]:
        told = data("why", found["path"], later_s=planted.DAYS)
        assert (told["verdict"], told["reason"]) == (found["verdict"], found["reason"])


def test_why_of_a_link_is_about_the_link(root: Path, own_world: Path) -> None:
    link = root / "link"
    link.symlink_to(own_world / "home")
    assert data("why", str(link))["path"] == os.path.join(os.path.realpath(root), "link")


def test_the_log_can_be_asked_for_an_agent_and_a_time(own_world: Path) -> None:
    root = own_world / "tmp"
    planted.session(root)
    planted.staging(root)
    data("clean", "--yes", later_s=planted.DAYS)
    agents = {each["row"].partition(".")[0] for each in data("log")["entries"]}
    assert len(agents) > 1
    assert {each["row"].partition(".")[0] for each in data("log", "--agent", "claude")["entries"]} == {"claude"}
    assert data("log", "--since", "1h")["entries"] == data("log")["entries"]
    assert data("log", "--since", "1h", later_s=7200)["entries"] == []
    assert answer("log", "--agent", "cluade")[0] == 3

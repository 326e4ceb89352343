"""deploy/ansible without a server: what hosts answer is one table and one document; linters if asked for."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.controller import install_collection
from support import planted
from support.command import data
from support.own_machine import REPOSITORY

ANSIBLE = REPOSITORY / "deploy" / "ansible"
ROLE = ANSIBLE / "roles" / "tmpwarden"
ENVIRONMENT = (ROLE / "files" / "environment.py").read_text()


def _filters() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fleet_filters", ANSIBLE / "plugins" / "filter" / "fleet.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


filters = _filters()


def scanned(**users: Any) -> str:
    told = [{"user": name, "data": data, "error": None} for name, data in users.items()]
    return json.dumps({"ok": True, "data": {"users": told}})


def totals(findings: int, size: int, removable: int) -> dict[str, Any]:
    return {"totals": {"findings": findings, "bytes": size, "removable_bytes": removable}}


def test_all_hosts_are_one_table_with_a_sum_and_whoever_is_down_has_a_row() -> None:
    answers = {
        "b": "could not be reached",
        "a": scanned(alice=totals(2, 2048, 1024), bob=totals(1, 5, 0)),
        "c": json.dumps({"ok": False, "data": None, "error": {"message": "--all-users is for root only"}}),
    }
    assert filters.scan_table(answers).splitlines() == [
        "HOST  USER   UNITS  SIZE    CAN GO",
        "a     alice  2      2.0 KB  1.0 KB",
        "a     bob    1      5 B     0 B",
        "b     -      -      -       could not be reached",
        "c     -      -      -       --all-users is for root only",
        "all          3      2.0 KB  1.0 KB",
    ]


def test_the_doctor_s_worst_comes_first_and_what_is_well_is_not_told() -> None:
    sick = {"diagnoses": [{"status": "warn", "summary": "w"}, {"status": "fail", "summary": "f"}]}
    well = {"diagnoses": [{"status": "ok", "summary": "o"}]}
    table = filters.doctor_table({"a": scanned(alice=sick), "b": scanned(bob=well)})
    assert [line.split()[2:] for line in table.splitlines()[1:]] == [["fail", "f"], ["warn", "w"]]
    assert filters.doctor_table({"b": scanned(bob=well)}) == "Nothing is wrong on any host."


def test_the_document_of_all_hosts_keeps_their_roots_apart() -> None:
    data = totals(0, 0, 0) | {"findings": [{"path": "/tmp/x", "agent": "a"}], "roots": [{"path": "/tmp"}]}
    told = json.loads(filters.fleet_document({"a": scanned(alice=data), "b": scanned(alice=data), "c": "down"}))
    users = told["data"]["users"]
    assert [each["user"] for each in users] == ["a/alice", "b/alice"]
    assert [root["path"] for each in users for root in each["data"]["roots"]] == ["a:/tmp", "b:/tmp"]
    assert users[1]["data"]["findings"][0]["path"] == "b:/tmp/x"


def test_one_page_is_drawn_of_what_several_hosts_really_said(own_world: Path, tmp_path: Path) -> None:
    planted.session(own_world / "tmp")
    said = scanned(alice=data("scan", later_s=planted.DAYS))
    (tmp_path / "fleet.json").write_text(filters.fleet_document({"one": said, "two": said, "three": "down"}))
    data("report", "--from", str(tmp_path / "fleet.json"), "-o", str(tmp_path / "fleet.html"))
    page = (tmp_path / "fleet.html").read_text()
    assert f"one:{own_world}/tmp" in page and f"two:{own_world}/tmp" in page


def test_it_is_installed_for_the_host_and_in_homes_each_place_with_its_owner() -> None:
    accounts = {"bob": ["x", "1001", "1001", "", "/srv/home of/bob", "/bin/sh"]}
    host, bob = filters.places(["bob"], accounts, True)
    assert (host["owner"], host["base"]) == ("root", "/opt/tmpwarden")
    assert bob == {
        "owner": "bob",
        "base": "/srv/home of/bob/.local/lib/tmpwarden",
        "command": "/srv/home of/bob/.local/bin/tmpwarden",
    }
    assert filters.places(["bob"], accounts, False) == [bob]


@pytest.mark.parametrize("lacks", ["nothing", "mark", "program", "link", "another wish"])
def test_an_environment_is_as_wished_only_if_it_was_finished_and_nothing_of_it_was_taken_away(
    tmp_path: Path, lacks: str
) -> None:
    base, command = tmp_path / "base", tmp_path / "bin" / "tmpwarden"
    program = base / "venv" / "bin" / "tmpwarden"
    for directory in (program.parent, command.parent):
        directory.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    command.symlink_to(program)
    (base / "made-from").write_text("0" * 64)
    for name, path in {"mark": base / "made-from", "program": program, "link": command}.items():
        if name == lacks:
            path.unlink()
    wish = "1" * 64 if lacks == "another wish" else "0" * 64
    argv = [sys.executable, "-", "look", str(base), str(command), wish]
    said = subprocess.run(argv, input=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    assert said == ("as wished\n" if lacks == "nothing" else "wanting\n")


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.text(max_size=30) | st.just("null") | st.just("[]")))
def test_no_answer_of_a_host_breaks_the_tables(answers: dict[str, str]) -> None:
    for draw in (filters.scan_table, filters.clean_table, filters.doctor_table, filters.fleet_document):
        assert isinstance(draw(answers), str)


def test_every_variable_of_the_role_is_described_has_a_default_and_is_used() -> None:
    defaults = set(re.findall(r"^(tmpwarden_\w+):", (ROLE / "defaults/main.yml").read_text(), re.MULTILINE))
    described = set(
        re.findall(r"^      (tmpwarden_\w+):", (ROLE / "meta/argument_specs.yml").read_text(), re.MULTILINE)
    )
    page = (ANSIBLE / "README.md").read_text()
    used = "".join(path.read_text() for path in (ROLE / "tasks").iterdir())
    assert defaults == described
    assert {name for name in defaults if f"`{name}`" not in page or name not in used} == set()


def test_only_modules_that_come_with_ansible_core_are_used_and_every_task_has_a_name() -> None:
    for path in (*ANSIBLE.rglob("tasks/*.yml"), *ANSIBLE.glob("playbooks/*.yml")):
        tasks = path.read_text()
        modules = set(re.findall(r"^\s+(?:- )?([a-z_]+\.[a-z_]+\.[a-z_]+):", tasks, re.MULTILINE))
        assert modules and all(name.startswith("ansible.builtin.") for name in modules), path
        assert "shell" not in "".join(modules)


@pytest.mark.fleet
@pytest.mark.parametrize(
    "command", [["yamllint", "-s", "-c", "../yamllint.yml", ".", ".."], ["ansible-lint", "--offline"]]
)
def test_the_linters_are_content(tmp_path: Path, command: list[str]) -> None:
    environ = install_collection(tmp_path)
    argv = [str(Path(sys.executable).parent / command[0]), *command[1:]]
    ran = subprocess.run(argv, cwd=ANSIBLE, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr

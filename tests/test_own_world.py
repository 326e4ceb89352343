"""The promise of conftest.py: no test, and no child of a test, can reach the machine's temp or home by default."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import data

MACHINE = {"/tmp", "/var/tmp", "/dev/shm"}


def test_every_temp_root_lies_in_the_test(own_world: Path) -> None:
    from tmpwarden.oskit.files import places

    assert set(places.temp_roots()) == {str(own_world / "tmp")}


def test_a_test_that_takes_its_own_changes_back_stays_in_it(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a test once cleaned the machine's real /tmp."""
    from tmpwarden.oskit.files import places

    before = dict(os.environ)
    monkeypatch.setenv("TMPWARDEN_ROOTS", "/elsewhere")
    monkeypatch.delenv("HOME")
    monkeypatch.undo()
    assert {key: value for key, value in os.environ.items() if before.get(key) != value} == {}
    assert before.keys() == os.environ.keys()
    assert set(places.temp_roots()) == {str(own_world / "tmp")}
    assert places.home().startswith(str(own_world)) and places.state_dir().startswith(str(own_world))


def test_home_state_and_config_lie_in_the_test(own_world: Path) -> None:
    from tmpwarden.oskit.files import places

    for place in (places.home(), places.state_dir(), places.config_dir(), places.data_dir()):
        assert place.startswith(str(own_world)), place


def test_a_child_process_inherits_it(own_world: Path) -> None:
    code = "from tmpwarden.oskit.files import places; print(*places.temp_roots(), places.home(), places.state_dir())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert said
    assert all(place.startswith(str(own_world)) for place in said)


def test_a_child_that_wants_a_temp_file_gets_it_in_the_test(own_world: Path) -> None:
    code = "import tempfile, tmpwarden\nwith tmpwarden.session('mycli') as s: print(tempfile.gettempdir(), s.path)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [place.startswith(str(own_world / "tmp")) for place in said] == [True, True]


def test_no_command_looks_outside(own_world: Path) -> None:
    for command in ("scan", "status"):
        assert [root["path"] for root in data(command)["roots"]] == [str(own_world / "tmp")]


def test_no_variable_of_the_environment_names_the_machines_temp(own_world: Path) -> None:
    assert not [name for name, value in os.environ.items() if name != "PATH" and value.rstrip("/") in MACHINE]

"""What is obeyed is ours or root's: a file that another user made, or may write to, is passed over and told."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.command import data, tmpwarden
from support.mounts import needs_root
from tmpwarden.catalogue.settings import read_keep_list
from tmpwarden.leases import kept_processes
from tmpwarden.oskit.files.own_files import stranger

ROW = """schema = 1
[agent]
id = "mine"
name = "Mine"
[[litter]]
id = "job"
in = "{tmp}"
name = "mine-[0-9]+"
kind = "dir"
tier = "ask"
worth = "some"
owner = "agent"
why = "made up"
seen = ["here"]
matches = ["mine-1"]
spares = ["mine-x"]
"""
FILES = {
    "config.toml": "[periodic]\nenabled = false\n",
    "keep": '"/tmp/kept"\n',
    "agents.d/mine.toml": ROW,
    "guard.d/mine.toml": '[guard]\ndeny = ["ls"]\n',
    "keep-processes": '"some program*"\n',
}


def another_users(path: Path) -> None:
    os.chown(path, 12345, 12345)


def writable_by_all(path: Path) -> None:
    path.chmod(0o666)


def in_a_directory_of_all(path: Path) -> None:
    """Our own directory above it would be closed, and that told: tests/setup/test_umask.py."""
    path.parent.chmod(0o777)


def obeyed(name: str, path: Path) -> bool:
    if name == "keep":
        return bool(read_keep_list(str(path)).paths)
    if name == "config.toml":
        return f"{name}:2" in json.dumps([key["from"] for key in data("config", "show")["keys"].values()])
    if name == "agents.d/mine.toml":
        return "mine" in [agent["id"] for agent in data("agents")["agents"]]
    if name == "guard.d/mine.toml":
        return bool(data("guard", "check", "ls", "--cwd", "/")["decision"] == "deny")
    return bool(kept_processes.read().entries)


@needs_root
@pytest.mark.parametrize(
    ("name", "made"),
    [
        *[(name, made) for name in FILES for made in (another_users, writable_by_all)],
        *[(name, in_a_directory_of_all) for name in FILES if "/" in name],
    ],
)
def test_it_is_passed_over_and_told(own_world: Path, name: str, made: Callable[[Path], None]) -> None:
    path = own_world / "config" / "tmpwarden" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FILES[name])
    path.chmod(0o644)
    assert obeyed(name, path)
    made(path)
    assert not obeyed(name, path)
    said = tmpwarden(*(("guard", "verify") if name.startswith("guard.d") else ("scan",)))
    told = kept_processes.read().unread or said.stdout + said.stderr
    assert f"{path}:" in told
    assert "so it is not used" in told


@needs_root
def test_a_config_that_is_named_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("")
    another_users(path)
    said = tmpwarden("scan", "--config", str(path))
    assert said.returncode == 3
    assert "it belongs to another user (uid 12345), so it is not used" in said.stderr


def test_a_group_of_the_users_own_may_write(tmp_path: Path) -> None:
    """With umask 002, as on Ubuntu, an editor makes it so."""
    path = tmp_path / "config.toml"
    path.write_text("")
    path.chmod(0o664)
    os.chown(path, os.geteuid(), os.getegid())
    assert (stranger(str(path)) == "") is (os.getegid() == os.geteuid())

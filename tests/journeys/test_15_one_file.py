"""Ola may install nothing on the server, and copies one file to it.

`make zipapp` makes that file where she can build. On the server it needs Python and nothing else: it says its version,
looks, cleans, explains, and sets up an agent's hooks, which go on working when the file is gone. On a disk so full that
the file cannot unpack itself it says so in one sentence that helps.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from journeys.conftest import Start
from journeys.machine import REPOSITORY

pytestmark = pytest.mark.journey
RUN = "/usr/bin/python3 ~/tmpwarden.pyz"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("zipapp") / "tmpwarden.pyz"
    subprocess.run([sys.executable, REPOSITORY / "tools" / "pack_zipapp.py", made], check=True)
    return made


def test_one_file_does_what_the_installed_command_does(
    archive: Path, start: Start, tell: Callable[[str], None]
) -> None:
    machine = start("tmpfs", 64, "ola")
    ola = machine.person("ola")
    dead = ola.agent()
    output = dead.background("head -c 1M /dev/zero | tr '\\0' x")["output"]
    ola.types(f"until [ $(stat -c %s {output}) = {1 << 20} ]; do sleep 0.05; done").must()
    dead.is_killed()
    shutil.copy(archive, ola.path("~/tmpwarden.pyz"))
    machine.days_pass(9)
    ola.types(f"umask 002; {RUN} --version").must("tmpwarden ")
    ola.types(f"{RUN} scan").must("claude")
    ola.types(f"{RUN} clean --yes").must("Removed")
    assert not ola.path(output).exists()
    ola.types(f"{RUN} doctor --json", env={"COLUMNS": "200"}).must()
    ola.types(f"{RUN} install claude --yes").must()
    ola.types("rm -r ~/tmpwarden.pyz ~/.local/share/tmpwarden/zipapp").must()
    hooks = json.loads(ola.path("~/.claude/settings.json").read_text())["hooks"]
    line = hooks["SessionStart"][0]["hooks"][0]["command"]
    asked = {"hook_event_name": "SessionStart", "session_id": "s-1", "source": "startup", "cwd": "/home/ola"}
    answered = ola.types(line, stdin=json.dumps(asked)).must()
    assert "additionalContext" in answered.out, answered.text
    tell(f"one file of {archive.stat().st_size // 1000} KB cleaned, and its hooks work without it")


def test_on_a_full_disk_it_says_what_would_help(archive: Path, start: Start) -> None:
    machine = start("tmpfs", 16, "ola")
    ola = machine.person("ola")
    shutil.copy(archive, ola.path("~/tmpwarden.pyz"))
    machine.fill("/home/ola/download.part", ola)
    ola.types(f"{RUN} scan").must("unpacks itself", "XDG_DATA_HOME", status=1)
    ola.types(f"XDG_DATA_HOME=/dev/shm/ola {RUN} scan").must()

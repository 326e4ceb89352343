"""A server with one disk for /tmp and the home, full to the last byte, on which nobody has run tmpwarden before.

Alice's agent was killed four times and left 5 MB each; a film of hers lies beside them.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .host import Host

pytestmark = pytest.mark.hosts
MB = 1 << 20
PLANT = """
import json, os, sys, time, uuid
home = os.path.expanduser("~/.claude/sessions")
os.makedirs(home, exist_ok=True)
for number in range(4):
    session = str(uuid.uuid4())
    unit = f"/tmp/claude-{os.getuid()}/-home-alice/{session}"
    os.makedirs(f"{unit}/tasks")
    with open(f"{unit}/tasks/b{number:08x}.output", "wb") as file:
        file.write(b"x" * (5 << 20))
    with open(f"{home}/{400000 + number}.json", "w") as file:
        record = {"pid": 4000000 + number, "sessionId": session, "procStart": "1", "startedAt": int(time.time() * 1000)}
        json.dump(record, file)
    print(unit)
"""
FILL = """
dd if=/dev/zero of=$HOME/download.part bs=64K 2>/dev/null
n=0; while echo x >$HOME/rest-$n; do n=$((n + 1)); done 2>/dev/null
! echo x >/tmp/probe
"""
WORKS = "echo x >/tmp/true && rm /tmp/true"


class OneDisk(Host):
    """Its whole tree is a file system of its own; /tmp is no tmpfs."""

    def boot(self, wheels: Path) -> None:
        image = self.directory / f"{self.name}.img"
        with image.open("wb") as file:
            file.truncate(1536 * MB)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
        self.tree.mkdir(exist_ok=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(self.tree)], check=True)
        subprocess.run(["cp", "-a", f"{self.directory / 'base'}/.", str(self.tree)], check=True)
        (self.tree / "etc/hostname").write_text(f"{self.name}\n")
        (self.tree / "etc/machine-id").unlink(missing_ok=True)
        (self.tree / "etc/systemd/system/tmp.mount").symlink_to("/dev/null")
        shutil.copytree(wheels, self.tree / "opt/wheels")
        self._start()

    def down(self) -> None:
        super().down()
        subprocess.run(["umount", "--lazy", str(self.tree)], check=False)
        (self.directory / f"{self.name}.img").unlink(missing_ok=True)


@pytest.fixture
def disk(base: Path, wheels: Path) -> Iterator[OneDisk]:
    booted = OneDisk(base, "one-disk")
    try:
        booted.boot(wheels)
        yield booted
    finally:
        booted.down()


@pytest.mark.parametrize("way", ["clean", "doctor"])
def test_one_clean_or_the_doctors_first_remedy_makes_commands_work_again(disk: OneDisk, way: str) -> None:
    disk.run(
        "python3 -m venv ~/tw && ~/tw/bin/pip install -q --no-index --find-links /opt/wheels tmpwarden", user="alice"
    )
    disk.write("/opt/plant.py", PLANT)
    left = disk.says("python3 /opt/plant.py", user="alice").split()
    disk.run("head -c 4M /dev/zero >~/film.mkv; mkdir ~/mine; echo alive >/tmp/alive; sleep 61", user="alice")
    disk.run("setsid sh -c 'exec 9</tmp/alive; exec sleep 600' >/dev/null 2>&1 </dev/null &", user="alice")
    disk.run(FILL, user="alice")
    command = "tmpwarden clean --yes"
    tool = 'PATH="$HOME/tw/bin:$PATH"; '
    if way == "doctor":
        told = json.loads(disk.run(f"{tool}tmpwarden doctor --json", user="alice", check=False).stdout)["data"][
            "diagnoses"
        ]
        worst = next(each for each in told if each["status"] == "fail")
        assert worst["summary"].startswith("/tmp") and "ext4" in worst["summary"], worst
        command = worst["remedy"]
        assert "film" not in command and "download" not in command
    said = disk.run(tool + command, user="alice", check=False)
    disk.run(WORKS, user="alice")
    assert disk.says(f"ls -d {' '.join(left)} 2>/dev/null; true", user="alice") == "", said.stdout + said.stderr
    assert disk.says("stat -c %s film.mkv; ls -d mine /tmp/alive", user="alice").split() == [
        str(4 * MB),
        "mine",
        "/tmp/alive",
    ]
    log = disk.says(f"{tool}tmpwarden log --json -n 50", user="alice")
    assert all(os.path.basename(path) in log for path in left), log

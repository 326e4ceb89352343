"""A server with one disk for /tmp and the home, full to the last byte, without journal and quarantine.

Alice's agent was killed four times and left 5 MB each; a film of hers lies beside them. The host is a container to the
kernel, where only a lease proves that somebody is dead: tests/journeys tells the same of sessions older than tmpwarden.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .host import Host

# In its own pid namespace nobody can say that no process outside uses a file: a doubt lets things go into quarantine
# only, and here no quarantine can be made.
pytestmark = [
    pytest.mark.hosts,
    pytest.mark.xfail(strict=True, reason="issue 28: a container's doubt lets nothing go for good on a full disk"),
]
MB = 1 << 20
PIP = "~/tw/bin/pip install -q --no-index --find-links /opt/wheels"
TOOL = 'PATH="$HOME/tw/bin:$PATH"; '
KILLED = "tmpwarden run --agent claude -- sh -c 'head -c 5M /dev/zero >$TMPDIR/left; kill -9 $PPID $$'"
FORGOTTEN = "rm -rf ~/.local/state/tmpwarden /tmp/tmpwarden-$(id -u)/q"
LEFT = "ls /tmp/tmpwarden-$(id -u)/*/left 2>/dev/null; true"
FILL = """
for round in 1 2 3 4 5 6 7 8 9; do  # ext4 gives back what it had set aside for writes that were not on the disk yet
  dd if=/dev/zero of=$HOME/download-$round bs=64K
  n=0; while echo x >$HOME/rest-$round-$n; do n=$((n + 1)); done
  sync
  echo x >/tmp/probe || exit 0
done 2>/dev/null
df /tmp "$HOME"
exit 1
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
        os.environ["SYSTEMD_NSPAWN_TMPFS_TMP"] = "0"
        try:
            self._start()
        finally:
            del os.environ["SYSTEMD_NSPAWN_TMPFS_TMP"]

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
    disk.run(f"python3 -m venv ~/tw && {PIP} tmpwarden", user="alice")
    for _ in range(4):
        disk.run(f"{TOOL}{KILLED}", user="alice", check=False)
    left = disk.says(LEFT, user="alice").split()
    assert len(left) == 4
    disk.run(f"{FORGOTTEN}; head -c 4M /dev/zero >~/film.mkv; sleep 61", user="alice")
    disk.run(FILL, user="alice")
    command = "tmpwarden clean --yes"
    if way == "doctor":
        told = json.loads(disk.run(f"{TOOL}tmpwarden doctor --json", user="alice", check=False).stdout)["data"]
        worst = next(each for each in told["diagnoses"] if each["status"] == "fail")
        assert worst["summary"].startswith("/tmp and /var/tmp (ext4 at /) is full"), worst
        command = worst["remedy"]
        assert "film" not in command and "download" not in command
    said = disk.run(TOOL + command, user="alice", check=False, answer="y\n")
    works = disk.run(WORKS, user="alice", check=False)
    assert works.returncode == 0, f"$ {command}\n{said.stdout}{said.stderr}{works.stderr}"
    assert disk.says(LEFT, user="alice") == "", said.stdout + said.stderr
    assert disk.says("stat -c %s ~/film.mkv", user="alice") == str(4 * MB)
    log = disk.says(f"{TOOL}tmpwarden log --json -n 50", user="alice")
    assert all(os.path.basename(os.path.dirname(path)) in log for path in left), log

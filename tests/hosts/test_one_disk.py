"""A server with one disk for /tmp and the home, full to the last byte, without journal and quarantine.

Alice's agent was killed four times and left 5 MB each; a film of hers lies beside them. To the kernel this host is a
container, from which nobody can say that no process outside uses them: here tmpwarden has to say so, and must print no
command that would not help. tests/sweep/test_whole_machine.py tells how one clean ends it on a kernel of its own.
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


def test_where_nobody_can_say_who_uses_it_a_person_is_asked_and_sent_in_no_circle(disk: OneDisk) -> None:
    disk.run(f"python3 -m venv ~/tw && {PIP} tmpwarden", user="alice")
    for _ in range(4):
        disk.run(f"{TOOL}{KILLED}", user="alice", check=False)
    left = disk.says(LEFT, user="alice").split()
    assert len(left) == 4
    disk.run(f"{FORGOTTEN}; head -c 4M /dev/zero >~/film.mkv; sleep 61", user="alice")
    disk.run(FILL, user="alice")
    for _ in range(2):
        told = json.loads(disk.run(f"{TOOL}tmpwarden doctor --json", user="alice", check=False).stdout)["data"]
        failing = [each for each in told["diagnoses"] if each["status"] == "fail"]
        assert failing[0]["summary"].startswith("/tmp and /var/tmp (ext4 at /) is full"), failing
        assert [each["remedy"] for each in failing if "tmpwarden clean" in each["remedy"]] == []
        said = disk.run(f"{TOOL}tmpwarden clean --yes", user="alice", check=False)
        for words in (failing[0]["detail"], said.stdout + said.stderr):
            assert "4 items, 20.0 MB, could not be checked here (processes outside this pid namespace" in words, words
            assert "Run tmpwarden on the host: this is a container" in words, words
            assert os.path.dirname(left[0]) in words or "and 1 more" in words, words
    assert disk.says(LEFT, user="alice").split() == left, "in doubt nothing goes for good"
    assert disk.says("stat -c %s ~/film.mkv", user="alice") == str(4 * MB)

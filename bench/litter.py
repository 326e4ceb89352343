"""The tree that everything is measured on: 63,370 inodes and 909 MB, as a sandboxed agent left them in three weeks."""

from __future__ import annotations

import os
import random
import uuid
from pathlib import Path

INODES = 63_370
_DIRS = 9_588  # of the inodes; as in the /tmp of the report that started this project
_BYTES = 909 << 20
_OLD_S = 9 * 86400


def build(root: Path, *, scale: float = 1.0, sessions_wanted: int = 60, size_bytes: int = _BYTES) -> int:
    """Fill `root` with `claude-<uid>/<project>/<session>/...`, all nine days old; how many inodes it holds."""
    dice = random.Random(63_370)
    top = root / f"claude-{os.geteuid()}"
    names = [str(uuid.UUID(int=dice.getrandbits(128), version=4)) for _ in range(sessions_wanted)]
    sessions = [top / f"-work-project-{number % 7}" / name for number, name in enumerate(names)]
    folders = [session / "tasks" for session in sessions]
    dirs_wanted, inodes_wanted = int(_DIRS * scale), int(INODES * scale)
    while len(folders) < max(len(sessions), dirs_wanted - len(sessions) - 8):
        folders.append(dice.choice(folders[-400:]) / f"d{len(folders)}")
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    count = sum(1 for _ in top.rglob("*")) + 1
    _files(folders, inodes_wanted - count, dice, int(size_bytes * scale))
    _age(top)
    return inodes_wanted


def _files(folders: list[Path], count: int, dice: random.Random, total: int) -> None:
    block = os.urandom(1 << 16)
    for number in range(count):
        folder = dice.choice(folders)
        size = min(len(block), int(dice.expovariate(count / total)))
        fd = os.open(folder / f"b{number:08x}.output", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(fd, block[:size])
        os.close(fd)


def _age(top: Path) -> None:
    then = os.stat(top).st_mtime - _OLD_S
    for folder, _, files in os.walk(top, topdown=False):
        for name in files:
            os.utime(os.path.join(folder, name), (then, then))
        os.utime(folder, (then, then))

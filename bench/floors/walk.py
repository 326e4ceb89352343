"""The floor of a walk in Python: a bare interpreter opens, lists and looks at everything, and adds it up."""

import os
import sys

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def walk(name: str, parent: int | None = None) -> tuple[int, int]:
    fd = os.open(name, _DIRECTORY, dir_fd=parent)
    status = os.fstat(fd)
    blocks, newest = status.st_blocks, status.st_mtime_ns
    below = []
    with os.scandir(fd) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
                continue
            status = entry.stat(follow_symlinks=False)
            blocks += status.st_blocks
            if status.st_mtime_ns > newest:
                newest = status.st_mtime_ns
    for child in below:
        more, date = walk(child, fd)
        blocks, newest = blocks + more, max(newest, date)
    os.close(fd)
    return blocks, newest


sys.setrecursionlimit(10_000)
print(*walk(sys.argv[1]))

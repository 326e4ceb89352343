"""Where a path leads when only root's links are followed."""

import os
import stat

_MOST_LINKS = 40


def resolve(path: str) -> tuple[str, str | None]:
    """Follow the links on the way that belong to root, as macOS has for /tmp. Anybody else's could lead anywhere."""
    if "\0" in path or not path:
        return path, "a path cannot hold a null character" if path else "its name is empty"
    waiting = os.path.abspath(path).split("/")[::-1]
    resolved, links = "/", 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            resolved = os.path.dirname(resolved)
            continue
        here = os.path.join(resolved, part)
        try:
            status = os.lstat(here)
        except FileNotFoundError:
            raise
        except OSError as error:
            return here, (error.strerror or "it cannot be looked at").lower()
        if not stat.S_ISLNK(status.st_mode):
            resolved = here
            continue
        links += 1
        if status.st_uid != 0 or links > _MOST_LINKS:
            return here, _link_refusal(here, status.st_uid, links)
        target = os.readlink(here)
        resolved = "/" if target.startswith("/") else resolved
        waiting += target.split("/")[::-1]
    return resolved, None


def _link_refusal(path: str, owner: int, links: int) -> str:
    from ...text import shown

    if links > _MOST_LINKS:
        return "too many symbolic links on the way"
    return f"{shown(path)} is a symbolic link of uid {owner}, and only root's links are followed"

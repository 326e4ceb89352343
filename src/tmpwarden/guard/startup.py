"""What start-up files of the shell say, worked out once for each state of a file. Hot path; only an allow asks.

Names and reasons are kept, never a text: what users write there may be secret.
"""

import posix
import time

from ..stamped import kept_document

MAX_BYTES = 1 << 20
_SETTLED_NS = 2_000_000_000  # a file that has just changed may change again within one tick of its clock


def facts_kept(paths: "list[str]", cache: str) -> "tuple[dict[str, str] | None, ...]":
    """For each file that is there what it says; None for one that cannot be read."""
    kept = kept_document(cache, MAX_BYTES) or {}
    all_facts: list[dict[str, str] | None] = []
    fresh = {}
    for path in paths:
        stamp = _stamp(path)
        if not stamp:
            continue
        if path in kept and kept[path][0] == stamp:
            all_facts.append(kept[path][1])
            fresh[path] = kept[path]
            continue
        facts = _facts_in(path)
        all_facts.append(facts)
        if facts is not None and time.time_ns() - max(stamp[:2]) > _SETTLED_NS:
            fresh[path] = [stamp, facts]
    if fresh != kept:
        _keep(fresh, cache)
    return tuple(all_facts)


def _stamp(path: str) -> "list[int]":
    """[] if nothing is there. The time of the last change counts too: nobody can set it."""
    try:
        seen = posix.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [0, 0, 0, 0]
    return [seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino]


def _facts_in(path: str) -> "dict[str, str] | None":
    from ..oskit.files.disk import startup_text
    from .decide.surroundings import facts_of

    text = startup_text(path)
    return None if text is None else facts_of(text)


def _keep(facts: "dict[str, list[object]]", cache: str) -> None:
    from marshal import dumps

    from ..errors import UnsafeScratch
    from ..oskit.files import atomic, own_dirs

    try:
        own_dirs.make_private_dir(cache.rpartition("/")[0])
        atomic.write(cache, dumps(facts))
    except (OSError, UnsafeScratch):
        pass  # a full disk: the next hook works it out again

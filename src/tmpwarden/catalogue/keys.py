"""Every key of config.toml but the guard's: its decoder, how it is written, what it is for. The one table of settings.

The reader, `config show | set`, the commented sample, the JSON schema for editors and shell completion grow from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from ..lazy_dataclass import dataclass
from ..text import parse_duration, parse_size, shown
from .process_rows import KINDS

_GLOB = frozenset("*?")


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def age(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError('must be a duration in quotes, such as "1h30m"')
    return parse_duration(value)


def wait(value: object) -> int:
    seconds = age(value)
    if seconds < 60:
        raise ValueError("must be at least 60s")
    return seconds


def max_age(value: object) -> int:
    seconds = age(value)
    if seconds < 3600:
        raise ValueError("must be at least 1h")
    return seconds


def day_or_more(value: object) -> int:
    seconds = age(value)
    if seconds < 86400:
        raise ValueError("must be at least 24h")
    return seconds


def percent(value: object) -> int:
    digits = value.removesuffix("%") if isinstance(value, str) else ""
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits) <= 100):
        raise ValueError('must be a percentage in quotes, such as "50%"')
    return int(digits)


def _texts(value: object, otherwise: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(otherwise)
    return tuple(value)


def patterns(value: object) -> tuple[str, ...]:
    texts = _texts(value, sentence := 'must be a list of patterns for names, such as ["*.pdf"]')
    if not all(item and "/" not in item for item in texts):
        raise ValueError(sentence)
    return texts


DESKTOP = "desktop"  # in place of a program: the desktop's own notices


def argv(value: object) -> tuple[str, ...]:
    if value == DESKTOP:
        return (DESKTOP,)
    texts = _texts(value, sentence := f'must be "{DESKTOP}", or a program and its arguments as a list')
    if not texts or any("\0" in item for item in texts):
        raise ValueError(sentence)
    return texts


def paths(value: object) -> tuple[str, ...]:
    value = _texts(value, "must be a list of paths")
    absolute = tuple(os.path.normpath(os.path.expanduser(item)) for item in value)
    if not all(os.path.isabs(path) and "\0" not in path for path in absolute):
        raise ValueError("must be absolute paths, or start with ~/")
    return absolute


def kept_paths(value: object) -> tuple[str, ...]:
    """Of a config file, where somebody may take them for patterns."""
    absolute = paths(value)
    if pattern := next((path for path in absolute if not _GLOB.isdisjoint(path) and not os.path.lexists(path)), None):
        raise ValueError(f"there is no {shown(pattern)}; patterns are not supported here, name the directory")
    return absolute


def size(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError('must be a size in quotes, such as "20G"')
    return parse_size(value)


def word_of(known: Collection[str]) -> Callable[[object], str]:
    """A decoder for one of these words."""

    def decode(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return value

    return decode


def each_of(known: Collection[str]) -> Callable[[object], tuple[str, ...]]:
    """A decoder for a list of these words."""
    one = word_of(known)

    def decode(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError(f"must be a list of {', '.join(known)}")
        return tuple(one(item) for item in value)

    return decode


def is_auto(value: object) -> bool:
    if value not in ("ask", "auto"):
        raise ValueError('must be "ask" or "auto"')
    return value == "auto"


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@dataclass(frozen=True, slots=True)
class Key:
    """One key: the field of Settings that it fills, and how people write it."""

    field: str
    decode: Callable[[object], Any]
    shape: str  # flag, age, share, size, word, words, paths, patterns or argv
    about: str
    words: tuple[str, ...] = ()
    example: str = ""  # as TOML, where the default is nothing that could be written


TABLES: dict[str, str] = {
    "keep": "Paths that are never removed. `tmpwarden keep PATH` keeps a list of its own; both count.",
    "periodic": "Automatic clean-up: by hooks, the timer, and servers that embed tmpwarden.",
    "teardown": "What happens when an orchestrator reports the end of a session.",
    "automatic": "Limits of automatic clean-up.",
    "macos": "What is not yet proven on enough Macs (docs/macos.md).",
    "pressure": "When a temp directory is nearly full, unused items are removed earlier.",
    "quarantine": "Where removed items are kept for `tmpwarden undo`.",
    "births": "Files that a session created directly in a temp directory and that only it has used.",
    "unknown": "Your files in temp directories that tmpwarden does not recognise. Off: they stay until you name them.",
    "orphans": "Processes that outlived their agent (`tmpwarden orphans`).",
    "brake": "Files that grow without limit (`tmpwarden brake`).",
    "run": "Limits of every `tmpwarden run` and of the shell functions; options take precedence.",
    "notify": "A notice, or a program to run, when a temp directory is still full after an automatic clean-up.",
    "worktrees": "Where `tmpwarden worktrees` looks besides agents' own places, and what the timer removes there.",
    "rescue": "Saving unique work before its directory is removed (`tmpwarden rescue`).",
}

_ACTIONS = ("warn", "stop", "end")

KEYS: dict[str, Key] = {
    "keep.paths": Key(
        "keep_paths", kept_paths, "paths", "Absolute paths, or ~/...", example='["~/keep-this", "/tmp/thesis-data"]'
    ),
    "periodic.enabled": Key(
        "periodic_enabled",
        flag,
        "flag",
        "Whether automatic clean-up runs at all: hooks, timer, servers, `clean --if-due`.",
    ),
    "periodic.every": Key("periodic_every_s", wait, "age", "How often, at most."),
    "periodic.max_age": Key(
        "periodic_max_age_s",
        max_age,
        "age",
        "Age limit for items without a known owner, in every clean; see below.",
    ),
    "teardown.enabled": Key("teardown_enabled", flag, "flag", "Remove what the session left behind, at once."),
    "automatic.max": Key(
        "automatic_max_percent", percent, "share", "At most this share of a temp directory in one run."
    ),
    "macos.remove": Key(
        "macos_remove",
        flag,
        "flag",
        "On macOS: whether hooks, timers and servers remove, too; without it only your own `clean` does.",
    ),
    "pressure.high": Key("pressure_high_percent", percent, "share", "Above this, items are removed earlier."),
    "pressure.low": Key("pressure_low_percent", percent, "share", "Until usage is down to this."),
    "quarantine.keep": Key("quarantine_s", age, "age", "How long `undo` can bring an item back."),
    "births.tier": Key(
        "births_auto",
        is_auto,
        "word",
        '"auto": they go 72 h after their session was found dead; "ask": only with `clean --all`.',
        words=("ask", "auto"),
    ),
    "unknown.max_age": Key(
        "unknown_max_age_s",
        day_or_more,
        "age",
        "Items that are not recognised and were unused for this long go into quarantine for 7 days.",
        example='"7d"',
    ),
    "orphans.end": Key(
        "orphans_end",
        each_of(KINDS),
        "words",
        "Kinds of processes that automatic clean-up may end.",
        words=tuple(KINDS),
    ),
    "orphans.after": Key("orphans_after_s", age, "age", "How long their session must have ended before."),
    "orphans.at_end": Key("orphans_at_end", flag, "flag", "End them as soon as their session ends."),
    "brake.ulimit": Key(
        "brake_ulimit_bytes",
        size,
        "size",
        "Largest file that an agent's command may write, where the agent reads a file before each command.",
        example='"50G"',
    ),
    "brake.max_file": Key("brake_max_file_bytes", size, "size", "Largest size of one file.", example='"20G"'),
    "brake.max_session": Key(
        "brake_max_session_bytes", size, "size", "Largest total size of one session.", example='"50G"'
    ),
    "brake.min_free": Key(
        "brake_min_free_percent", percent, "share", "Free space to keep on the disk.", example='"5%"'
    ),
    "brake.action": Key(
        "brake_action", word_of(_ACTIONS), "word", "What happens to a writer that exceeds a limit.", words=_ACTIONS
    ),
    "run.max_file": Key(
        "run_max_file_bytes", size, "size", "Largest size of a file that the command writes.", example='"10G"'
    ),
    "run.max_bytes": Key("run_max_bytes", size, "size", "Largest size of its temp directory.", example='"20G"'),
    "notify.command": Key(
        "notify_command",
        argv,
        "argv",
        '"desktop" for a notice on the desktop (notify-send, osascript); or program and arguments, no shell: '
        "{root}, {percent} and {message} are filled in.",
        example='"desktop"',
    ),
    "notify.at": Key("notify_at_percent", percent, "share", "Run it above this; at once, then once a day."),
    "worktrees.roots": Key(
        "worktree_roots", paths, "paths", "Directories to search for repositories.", example='["~/code"]'
    ),
    "worktrees.derived_only": Key(
        "worktrees_derived_only_s",
        day_or_more,
        "age",
        "Move what npm, pnpm, Python or cargo can create again to quarantine, in worktrees unused for this long.",
        example='"14d"',
    ),
    "rescue.git": Key("rescue_git", flag, "flag", "Save the git work of ended sessions, then remove them."),
    "rescue.files": Key("rescue_files", flag, "flag", "Save documents of sessions that end."),
    "rescue.keep": Key("rescue_keep_s", max_age, "age", "How long saved work is kept."),
    "rescue.max": Key("rescue_max_bytes", size, "size", "Largest total size of all saved work."),
    "rescue.max_file": Key("rescue_max_file_bytes", size, "size", "Largest file that is saved."),
    "rescue.patterns": Key(
        "rescue_patterns", patterns, "patterns", "More names to save, besides the built-in ones.", example='["*.ipynb"]'
    ),
}

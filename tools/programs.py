"""The rows of the guard's programs: read from guard/programs/*.toml, checked, and laid out as known.py holds them."""

from __future__ import annotations

import tomllib
from pathlib import Path

Named = tuple[tuple[str, tuple[str, ...]], ...]
Row = tuple[str, Named, Named]  # what plain arguments are, options by kind, what else is true

PLAIN = (
    *("deleted", "created", "written", "read", "any", "text", "copied", "moved", "linked"),
    *("first_written", "first_read", "pattern_then_read", "mode_then_written"),
)
OPTIONS = (
    *("path_written", "path_into", "path", "code", "path_entered", "path_read", "pattern_file", "pattern"),
    *("text", "glued", "bare"),
)
FACETS = (
    *("changes", "two_targets", "links", "linkless", "safe", "safe_valued", "safe_long", "reads", "in_place"),
    *("writes", "writes_commands", "spares", "writes_here", "writes_here_unless", "writes_here_only_with", "at_files"),
    *("runs", "before", "runner", "in_shell", "leaves", "other_root", "transparent", "shell", "user_shell", "code"),
    *("checks", "told_by", "told_only", "runs_files", "shows", "remote", "container", "real", "valued", "quiet"),
    *("uses_keys", "env"),
)


def rows(directory: Path) -> tuple[dict[str, int], tuple[Row, ...]]:
    """Where each name's row stands, and the rows. Raises ValueError with the file and the name of a bad one."""
    found: list[Row] = []
    names: dict[str, int] = {}
    for path in sorted(directory.glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["program"]:
            for name in entry["names"]:
                if name in names:
                    raise ValueError(f"{path.name}: {name} has a row already")
                names[name] = len(found)
            try:
                found.append(_row(entry))
            except ValueError as wrong:
                raise ValueError(f"{path.name}: {entry['names'][0]}: {wrong}") from None
    return dict(sorted(names.items())), tuple(found)


def _row(entry: dict[str, object]) -> Row:
    plain, options = entry.get("plain", ""), entry.get("options", {})
    facets = {key: _words(key, value) for key, value in entry.items() if key not in ("names", "plain", "options")}
    if plain and plain not in PLAIN:
        raise ValueError(f"plain = {plain!r} is not one of {', '.join(PLAIN)}")
    if unknown := [key for key in facets if key not in FACETS]:
        raise ValueError(f"{unknown[0]} is no key of a program")
    if not isinstance(options, dict) or (unknown := [kind for kind in options if kind not in OPTIONS]):
        raise ValueError(f"options.{unknown[0]} is not one of {', '.join(OPTIONS)}")
    spelled = [name for listed in options.values() for name in listed]
    if twice := [name for name in spelled if spelled.count(name) > 1]:
        raise ValueError(f"option {twice[0]} is named twice")
    by_kind = tuple((kind, tuple(options[kind])) for kind in OPTIONS if kind in options)
    return str(plain), by_kind, tuple((key, facets[key]) for key in FACETS if key in facets)


def _words(key: str, value: object) -> tuple[str, ...]:
    if value is True:
        return ()
    if isinstance(value, str) and value:
        return (value,)
    if isinstance(value, list) and all(isinstance(word, str) and word for word in value):
        return tuple(value)
    raise ValueError(f"{key} is true, a text or a list of texts")

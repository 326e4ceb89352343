"""A TMPDIR for the commands of agents whose hooks cannot set one, written into their own settings.

The value is static: one directory per agent, each entry of which is a unit of that agent.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import tomllib
from collections.abc import Iterator

from ..errors import BrokenSettings
from ..lazy_dataclass import dataclass, field
from ..oskit.files import places
from ..text import shown
from . import shells
from .edits import Edit, read, resolved
from .targets import Target

_SET_HEADER = re.compile(r"^\s*\[\s*shell_environment_policy\s*\.\s*set\s*\][ \t]*(?:#[^\n]*)?\r?\n", re.M)
_TMPDIR_LINE = re.compile(r"^\s*(?:export\s+)?TMPDIR\s*=", re.M)


class NotHere(Exception):
    """The settings cannot be changed safely, or would not help: why."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one agent's commands get their TMPDIR."""

    agent: str
    by: str  # hook, settings, shell
    directory: str = ""
    edits: tuple[Edit, ...] = ()
    remaining: tuple[str, ...] = field(default=())  # what a person must still do


def way_of(target: Target) -> Way:
    """By a hook where that can be done, by the agent's settings, else by a shell function."""
    by = target.facts["temp_by"]
    if by in ("env-file", "answer"):
        return Way(target.id, "hook")
    if by == "shell":
        return Way(target.id, "shell")
    directory = os.path.join(places.ours(places.temp_roots()[0]), target.id)
    try:
        path = resolved(os.path.join(target.home(), target.facts["temp_file"]))
        before = read(path)
    except BrokenSettings as error:
        return Way(target.id, "shell", remaining=(str(error),))
    try:
        text = (before or b"").decode()
        after = in_toml(text, directory) if by == "toml-set" else _in_dotenv(text, directory, path, before is None)
    except (NotHere, UnicodeDecodeError) as why:
        return Way(target.id, "shell", remaining=(f"{shown(path)}: {why}",))
    variables = _filtered(text) if by == "toml-set" else ()
    return Way(target.id, "settings", directory, (Edit(path, before, after.encode()),), variables)


def in_toml(text: str, directory: str) -> str:
    """Codex's config.toml with `[shell_environment_policy.set] TMPDIR`. Raises NotHere with the lines to paste."""
    base = shells.without_block(text)
    line = f"TMPDIR = {json.dumps(directory)}"
    paste = f"add to it: [shell_environment_policy.set] {line}"
    try:
        before = tomllib.loads(base)
    except tomllib.TOMLDecodeError as wrong:
        raise NotHere(f"it is not valid TOML ({wrong})") from None
    policy = before.get("shell_environment_policy", {})
    variables = policy.get("set", {}) if isinstance(policy, dict) else {}
    if not isinstance(variables, dict) or variables.get("TMPDIR", directory) != directory:
        raise NotHere(f"TMPDIR is already set there; {paste}")
    if "TMPDIR" in variables:
        return text
    header = _SET_HEADER.search(base)
    lines, at = ([line], header.end()) if header else (["[shell_environment_policy.set]", line], None)
    after = shells.with_block(base, lines, at)
    wanted = before | {"shell_environment_policy": {**policy, "set": {**variables, "TMPDIR": directory}}}
    try:
        is_right = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        is_right = False
    if not is_right:
        raise NotHere(_by_hand(variables, line) or f"it cannot be changed safely; {paste}")
    return after


def _by_hand(variables: dict[str, object], line: str) -> str:
    """TOML lets no table stand beside an inline one, or beside dotted keys, of the same name: what to write instead."""
    if not variables:
        return ""
    values = ", ".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in variables.items())
    return f"its `set` is written inline; replace it by: set = {{ {values}, {line} }}"


def _filtered(text: str) -> tuple[str, ...]:
    """`include_only` is applied after `set`."""
    policy = tomllib.loads(text).get("shell_environment_policy", {})
    patterns = policy.get("include_only", []) if isinstance(policy, dict) else []
    if not patterns or any(fnmatch.fnmatch("tmpdir", str(pattern).lower()) for pattern in patterns):
        return ()
    return ('Codex passes on only the variables that include_only names: add "TMPDIR" to it in config.toml.',)


def _in_dotenv(text: str, directory: str, path: str, is_new: bool) -> str:
    """The agent takes the first .env that it finds, and no other."""
    base = shells.without_block(text)
    if _TMPDIR_LINE.search(base):
        raise NotHere("TMPDIR is already set there")
    above = os.path.join(places.home(), ".env")
    if is_new and os.path.lexists(above):
        raise NotHere(f"it would hide {shown(above)}")
    hiding = next(_hiding(os.path.basename(os.path.dirname(path))), None)
    if hiding is not None:
        raise NotHere(f"{shown(hiding)} hides it")
    return shells.with_block(base, [f"TMPDIR={directory}"])


def _hiding(own_name: str) -> Iterator[str]:
    """Files that the agent would find first, started here."""
    here, home = os.getcwd(), places.home()
    while here not in (home, "/") and here:
        yield from (path for path in (f"{here}/{own_name}/.env", f"{here}/.env") if os.path.lexists(path))
        here = os.path.dirname(here)

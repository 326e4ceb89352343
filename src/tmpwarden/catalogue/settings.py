"""config.toml without the guard's part: every key with its default and where its value came from; and the keep list."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from types import MappingProxyType

from ..errors import BadConfig
from ..lazy_dataclass import dataclass, field
from ..oskit.files import places
from ..oskit.files.own_files import stranger
from ..text import nearest, shown
from ..toml_lines import line_of, lines_of
from . import keys, policy
from .files import dangling, read_text
from .keys import KEYS
from .overrides import Override

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ELSEWHERE = {"guard", "redirect"}  # guard/rules/config.py reads these parts of the same files
_PROTECTING = ("keep", "rows")  # what is misspelt there was meant to keep something
_LIMITING = ("quarantine", "rescue", "periodic", "automatic", "pressure")  # to hold a clean back, or let it wait longer
_ROW_AGES = ("grace", "min_age", "max_age")


@dataclass(frozen=True, slots=True)
class Settings:
    keep_paths: tuple[str, ...] = ()
    periodic_enabled: bool = True
    periodic_every_s: int = 3600
    periodic_max_age_s: int = 72 * 3600
    teardown_enabled: bool = True
    automatic_max_percent: int = 50
    pressure_high_percent: int = 80
    pressure_low_percent: int = 60
    quarantine_s: int = 24 * 3600
    unknown_max_age_s: int | None = None  # what no row knows goes into quarantine when nobody used it for so long
    births_auto: bool = False  # what sessions made by name in a temp root goes 72 h after they died
    orphans_end: tuple[str, ...] = ()  # kinds that an unattended run may end
    orphans_after_s: int = 12 * 3600
    orphans_at_end: bool = False
    brake_max_file_bytes: int | None = None
    brake_ulimit_bytes: int | None = None  # of each command that gets its TMPDIR from an env file of ours
    brake_max_session_bytes: int | None = None
    brake_min_free_percent: int | None = None
    brake_action: str = "warn"
    run_max_file_bytes: int | None = None
    run_max_bytes: int | None = None
    notify_command: tuple[str, ...] = ()
    notify_at_percent: int = 90
    worktree_roots: tuple[str, ...] = ()  # directories whose repositories are looked for
    worktrees_derived_only_s: int | None = (
        None  # what can be created again in worktrees unused for this long is removed by the timer
    )
    macos_remove: bool = False  # runs without a person, where they are not yet proven by our own CI
    rescue_git: bool = False
    rescue_files: bool = False
    rescue_keep_s: int = 30 * 86400
    rescue_max_bytes: int = 10 << 30
    rescue_max_file_bytes: int = 200 << 20
    rescue_patterns: tuple[str, ...] = ()  # beside the built-in ones
    rows: Mapping[str, Override] = field(default_factory=lambda: MappingProxyType({}))
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # "periodic.every" -> "file:line"
    warnings: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()  # "file:line" of what may protect something and could not be understood: all is kept
    # the same of a limit: an unattended run keeps all, and what waits for undo or was rescued waits on
    unread_limits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # those that were read, in order
    locks: tuple[str, ...] = ()  # keys and tables that users cannot weaken

    def origin(self, key: str) -> str:
        return self.origins.get(key, "default")

    def effective(self) -> tuple[tuple[str, object, str], ...]:
        """(key, value as a program reads it, where it came from) for `config show`."""
        known = [(name, getattr(self, key.field), self.origin(name)) for name, key in KEYS.items()]
        rows = [(f"rows.{key}", override, override.origin) for key, override in self.rows.items()]
        return (*known, *rows)


def config_files() -> tuple[str, ...]:
    """The files read when none is named; later ones win, lists are joined."""
    return (policy.SYSTEM, os.path.join(places.config_dir(), "config.toml"))


def load_settings(config_file: str | None = None) -> Settings:
    """The settings in force. A broken file that the user named is BadConfig; a broken automatic one is a warning."""
    reading = _Reading(is_named=config_file is not None)
    for path in config_files() if config_file is None else (policy.SYSTEM, config_file):
        _read_file(path, reading)
    keep_file = os.path.join(places.config_dir(), "keep")
    listed = read_keep_list(keep_file)
    kept = listed.paths
    reading.warnings += listed.warnings
    reading.unread += listed.unread
    values = reading.values
    values["keep_paths"] = (*values.get("keep_paths", ()), *kept)
    if kept and "keep.paths" not in reading.origins:
        reading.origins["keep.paths"] = keep_file
    _law_of_pressure(values, reading)
    return Settings(
        **values,
        rows=MappingProxyType(reading.rows),
        origins=MappingProxyType(reading.origins),
        warnings=tuple(reading.warnings),
        unread=tuple(reading.unread),
        unread_limits=(*reading.unread, *reading.unread_limits),
        files=tuple(reading.files),
        locks=reading.locks,
    )


@dataclass(slots=True)
class _Reading:
    is_named: bool  # by the user: then nothing else is read but what is locked
    path: str = ""
    lines: dict[str, int] = field(default_factory=dict)  # of every key in it
    values: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, Override] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    unread_limits: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    locks: tuple[str, ...] = ()

    @property
    def is_strict(self) -> bool:
        return self.is_named and self.path != policy.SYSTEM

    def where(self, table: str, key: str | None = None) -> str:
        return f"{self.path}:{line_of(f'{table}.{key}' if key else table, self.lines)}"

    def refuse(self, where: str, sentence: str, *, may_protect: bool = False, may_limit: bool = False) -> None:
        if self.is_strict:
            raise BadConfig(where, sentence)
        self.unread += [where] if may_protect else []
        self.unread_limits += [where] if may_limit else []
        self.warnings.append(f"{where}: {sentence}")


def _read_file(path: str, reading: _Reading) -> None:
    reading.path, reading.lines = path, {}
    text = ""
    if others := stranger(path):
        return reading.refuse(path, others, may_protect=True)
    try:
        text = read_text(path)
        data = _parsed(text)
    except FileNotFoundError:
        if reading.is_strict:
            raise BadConfig(path, "there is no such file") from None
        if link := dangling(path):
            reading.refuse(path, f"cannot be read: {shown(link)} is a link that leads nowhere", may_protect=True)
        return None
    except OSError as wrong:
        return reading.refuse(path, f"cannot be read: {wrong.strerror}", may_protect=True)
    except (UnicodeDecodeError, _NotToml) as wrong:
        line = re.search(r"at line (\d+)", str(wrong))
        where, may_protect = f"{path}:{line[1] if line else 1}", not text or "keep" in text or "rows" in text
        sentence = f"not TOML: {wrong}; the file is ignored"
        return reading.refuse(where, sentence, may_protect=may_protect, may_limit=True)
    except ValueError as wrong:
        return reading.refuse(path, f"{wrong}; the file is ignored", may_protect=True)
    reading.lines = lines_of(text)
    reading.files.append(path)
    policy_file = policy.hear(data, reading.locks, is_of_the_host=path == policy.SYSTEM, is_alone=not reading.is_named)
    reading.locks = policy_file.locks
    reading.warnings += [f"{reading.where(key)}: {sentence}" for key, sentence in policy_file.complaints]
    for table, content in policy_file.document.items():
        _read_table(table, content, reading)
    return None


class _NotToml(Exception):
    """Its text is the parser's."""


def _parsed(text: str) -> dict[str, Any]:
    import tomllib  # most machines have no config file

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as wrong:
        raise _NotToml(str(wrong)) from None


def _read_table(table: str, content: object, reading: _Reading) -> None:
    if table in _ELSEWHERE:
        return
    if not isinstance(content, dict) or (table != "rows" and not any(key.startswith(f"{table}.") for key in KEYS)):
        reading.warnings.append(f"{reading.where(table)}: {shown(table)} is not a known table; it is ignored")
        reading.unread += [reading.where(table)] if nearest(table.lower(), _PROTECTING) else []
        reading.unread_limits += [reading.where(table)] if nearest(table.lower(), _LIMITING) else []
        return
    for key, value in content.items():
        if table == "rows":
            _read_row(key, value, reading)
        elif f"{table}.{key}" not in KEYS:
            reading.warnings.append(f"{reading.where(table, key)}: {table}.{shown(key)} is not known; it is ignored")
            reading.unread += [reading.where(table, key)] if table in _PROTECTING else []
            reading.unread_limits += [reading.where(table, key)] if table in _LIMITING else []
        else:
            _read_value(table, key, value, reading)


def _read_value(table: str, key: str, value: object, reading: _Reading) -> None:
    known = KEYS[f"{table}.{key}"]
    where = reading.where(table, key)
    try:
        decoded = known.decode(value)
    except ValueError as wrong:
        sentence = f"{table}.{key}: {wrong}"
        return reading.refuse(where, sentence, may_protect=table == "keep", may_limit=table in _LIMITING)
    if isinstance(decoded, tuple) and known.shape != "argv":  # half a command is none
        decoded = (*reading.values.get(known.field, ()), *decoded)
    reading.values[known.field] = decoded
    reading.origins[f"{table}.{key}"] = where
    return None


def _read_row(key: str, table: object, reading: _Reading) -> None:
    where = reading.where("rows", key)
    if not isinstance(table, dict) or "." not in key:
        return reading.refuse(where, f'rows: write [rows."agent.row"] with enabled, tier or an age, not {shown(key)}')
    try:
        ages = tuple((age, keys.age(table[age])) for age in _ROW_AGES if age in table)
        enabled = keys.flag(table.get("enabled", True))
        if table.get("tier", "ask") != "ask":
            raise ValueError('tier can only be made stricter: tier = "ask"')
    except ValueError as wrong:
        return reading.refuse(where, f"rows.{key}: {wrong}", may_protect=True)
    for strange in table.keys() - {"enabled", "tier", *_ROW_AGES}:
        reading.warnings.append(f"{where}: rows.{key}.{shown(strange)} is not known; it is ignored")
        reading.unread.append(where)
    reading.rows[key] = Override(where, enabled, "tier" in table, ages)
    return None


def _law_of_pressure(values: dict[str, Any], reading: _Reading) -> None:
    high, low = values.get("pressure_high_percent", 80), values.get("pressure_low_percent", 60)
    if low >= high:
        origin = reading.origins.get("pressure.low") or reading.origins.get("pressure.high", "config.toml")
        reading.refuse(origin, f"pressure.low ({low}%) must be below pressure.high ({high}%); 80% and 60% are used")
        values.pop("pressure_high_percent", None)
        values.pop("pressure_low_percent", None)


@dataclass(slots=True)
class KeepList:
    paths: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # "file:line" of what may protect something and is not understood


def read_keep_list(path: str) -> KeepList:
    """The file `keep` beside config.toml: one JSON string a line, as `tmpwarden keep PATH` writes them. A broken
    line does not stop the others from counting."""
    listed = KeepList()
    if others := stranger(path):
        return KeepList((), [f"{path}: {others}"], [path])
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        if link := dangling(path):
            return KeepList((), [f"{path}: cannot be read: {link} is a link that leads nowhere"], [path])
        return listed
    except OSError as wrong:
        return KeepList((), [f"{path}: cannot be read: {wrong.strerror}"], [path])
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line) if line.strip() else None
            listed.paths += () if entry is None else keys.paths([entry])
        except ValueError:
            listed.warnings.append(f"{path}:{number}: is not a JSON string with an absolute path; it is ignored")
            listed.unread.append(f"{path}:{number}")
    return listed

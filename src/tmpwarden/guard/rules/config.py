"""`[guard]` and `[redirect]` of the TOML files, decoded and merged into Rules; each mistake with file, line, key."""

import os
import tomllib
from collections.abc import Callable, Iterator

from ...catalogue import policy
from ...lazy_dataclass import dataclass, replace
from ...model.hot import ALLOW, ASK, DENY, PASS
from ...oskit.files.atomic import at_once
from ...toml_lines import line_of, lines_of
from .decode import Table, prefix_rule, regex_rule, structured_rule
from .rule import SESSION, Rule, Rules

PRESETS_DIR = os.path.join(os.path.dirname(__file__), "presets")
DEFAULT_PRESET = "sandbox"
NO_PRESET = "none"
_LISTS = ("deny", "ask", "allow", "checks", "allow_checks", "arguments", "redirects", "files")
_SCALARS = {"preset": None, "on_error": (ASK, DENY, PASS), "default": (PASS, ASK, DENY)}
_REDIRECT_KEYS = ("tmp", "target")


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something wrong in a config file. `fatal` ones keep the file from coming into force."""

    file: str
    line: int
    key: str
    message: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}{': ' if self.key else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class Source:
    """One TOML file that was read, or could not be."""

    path: str
    name: str  # in the labels of its rules
    document: dict[str, object]
    lines: dict[str, int]
    mistakes: tuple[Mistake, ...] = ()

    def mistake(self, key: str, message: str, *, fatal: bool = True) -> Mistake:
        return Mistake(self.path, line_of(key, self.lines), key, message, fatal)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the files say together, the mistakes in them, and the rules file by file for `verify`."""

    rules: Rules
    mistakes: tuple[Mistake, ...]
    sources: tuple[Source, ...]

    @property
    def is_broken(self) -> bool:
        return any(mistake.fatal for mistake in self.mistakes)


def load(paths: tuple[str, ...], *, preset: str | None = None, temp_roots: tuple[str, ...] = ("/tmp",)) -> Loaded:
    """Presets first, then the files in order: lists concatenate, the last to set a scalar or `[redirect]` wins."""
    files, locked = _lawful([read(path, _name(path, paths)) for path in paths if os.path.exists(path)])
    names, mistakes = _presets(files) if preset is None else ((preset,), [])
    mistakes += locked
    sources = [*filter(None, (_preset_source(name) for name in names)), *files]
    rules, redirect, scalars = [], {}, {"on_error": ASK, "default": PASS}
    for source in sources:
        mistakes += source.mistakes
        guard = _table(source, "guard", mistakes)
        rules += list(_rules(source, guard, mistakes))
        for key in ("on_error", "default"):
            if key in guard:
                scalars[key] = _choice(source, guard, key, mistakes)
        if "redirect" in source.document:
            redirect = _redirect(source, mistakes, temp_roots)
    merged = Rules(
        tuple(rules),
        redirect_tmp=bool(redirect.get("tmp", False)),
        target=str(redirect.get("target", SESSION)),
        on_error=scalars["on_error"],
        default=scalars["default"],
    )
    return Loaded(merged, tuple(mistakes), tuple(sources))


def _lawful(files: list[Source]) -> tuple[list[Source], list[Mistake]]:
    """Without what users may not weaken; the host's own file is heard even where another one was named."""
    ours = next((source for source in files if source.path == policy.SYSTEM), None)
    if ours is None and os.path.exists(policy.SYSTEM):
        ours = read(policy.SYSTEM, os.path.basename(policy.SYSTEM))
        locks, _ = policy.locks_of(ours.document)
        files = [replace(ours, document=policy.only_locked(ours.document, locks), mistakes=()), *files]
    locks, wrong = policy.locks_of(ours.document) if ours else ((), "")
    lawful, mistakes = [], [ours.mistake(policy.TABLE, wrong, fatal=False)] if ours and wrong else []
    for source in files:
        if is_of_the_host(source.path):
            lawful.append(source)
            continue
        document, dropped = policy.allowed(source.document, locks)
        lawful.append(replace(source, document=document))
        mistakes += [
            source.mistake(key, policy.refusal(key).removeprefix(f"{key} "), fatal=False)
            for key in dropped
            if key.split(".")[0] in ("guard", "redirect")  # the others are told by whoever reads them
        ]
    return lawful, mistakes


def is_of_the_host(path: str) -> bool:
    return path.startswith(os.path.dirname(policy.SYSTEM) + "/")


def _name(path: str, paths: tuple[str, ...]) -> str:
    """The file's name if that is enough to tell it from the others."""
    name = os.path.basename(path)
    return path if sum(os.path.basename(other) == name and os.path.exists(other) for other in paths) > 1 else name


def read(path: str, name: str) -> Source:
    try:
        with open(path, "rb", opener=at_once) as file:
            text = file.read().decode()
        return Source(path, name, tomllib.loads(text), lines_of(text))
    except tomllib.TOMLDecodeError as error:
        line, message = _place_of(error, text)
        return Source(path, name, {}, {}, (Mistake(path, line, "", f"not TOML: {message}"),))
    except (OSError, UnicodeDecodeError) as error:
        return Source(path, name, {}, {}, (Mistake(path, 1, "", f"cannot be read: {error}"),))


def _place_of(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, str]:
    message, _, place = str(error).rpartition(" (at ")
    digits = "".join(c for c in place.partition(",")[0] if c.isdigit())
    return (int(digits) if digits else text.count("\n") + 1), message or str(error)


def preset_names() -> tuple[str, ...]:
    return tuple(sorted(name[:-5] for name in os.listdir(PRESETS_DIR) if name.endswith(".toml")))


def _preset_source(name: str) -> Source | None:
    return None if name == NO_PRESET else read(os.path.join(PRESETS_DIR, f"{name}.toml"), name)


def _presets(files: list[Source]) -> tuple[tuple[str, ...], list[Mistake]]:
    """The last file that sets `guard.preset` wins; nobody set it: the sandbox."""
    chosen, mistakes = (DEFAULT_PRESET,), []
    for source in files:
        guard = source.document.get("guard")
        if isinstance(guard, dict) and "preset" in guard:
            value = guard["preset"]
            names = tuple(value) if isinstance(value, list) else (value,)
            known = (*preset_names(), NO_PRESET)
            wrong = [name for name in names if name not in known]
            if wrong:
                choice = ", ".join(known)
                mistakes.append(source.mistake("guard.preset", f"there is no preset {wrong[0]!r}; there are {choice}"))
            else:
                chosen = names
    return chosen, mistakes


def _table(source: Source, key: str, mistakes: list[Mistake]) -> dict[str, object]:
    value = source.document.get(key, {})
    if not isinstance(value, dict):
        mistakes.append(source.mistake(key, "must be a table"))
        return {}
    if key == "guard":
        for name in value:
            if name not in _LISTS and name not in _SCALARS:
                known = ", ".join((*_SCALARS, *_LISTS))
                mistakes.append(source.mistake(f"guard.{name}", f"unknown key; known are {known}"))
    return value


def _choice(source: Source, guard: dict[str, object], key: str, mistakes: list[Mistake]) -> str:
    value, allowed = guard[key], _SCALARS[key] or ()
    if isinstance(value, str) and value in allowed:
        return value
    why = " (an allow needs a rule that names the command)" if value == ALLOW else ""
    mistakes.append(source.mistake(f"guard.{key}", f"{value!r} is none of {', '.join(allowed)}{why}"))
    return ASK


def _redirect(source: Source, mistakes: list[Mistake], temp_roots: tuple[str, ...]) -> dict[str, object]:
    table = _table(source, "redirect", mistakes)
    for key in table:
        if key not in _REDIRECT_KEYS:
            mistakes.append(source.mistake(f"redirect.{key}", "unknown key; known are tmp, target"))
    if not isinstance(table.get("tmp", False), bool):
        mistakes.append(source.mistake("redirect.tmp", "must be true or false"))
    target = table.get("target", SESSION)
    if target != SESSION and not _is_right_below(target, temp_roots):
        where = " or ".join(temp_roots)
        mistakes.append(
            source.mistake("redirect.target", f'must be "session" or a directory right under {where}, not {target!r}')
        )
    return table


def _is_right_below(target: object, temp_roots: tuple[str, ...]) -> bool:
    if not isinstance(target, str):
        return False
    parent, _, name = target.rpartition("/")
    return parent in temp_roots and name not in ("", ".", "..")


def _rules(source: Source, guard: dict[str, object], mistakes: list[Mistake]) -> Iterator[Rule]:
    for key in _LISTS:
        value = guard.get(key, [])
        if not isinstance(value, list):
            mistakes.append(source.mistake(f"guard.{key}", "must be a list"))
            continue
        for index, item in enumerate(value):
            where = f"guard.{key}[{index}]"
            wrong: list[tuple[str, str]] = []
            rule = _DECODERS[key](Table(item, f"{source.name}:{key}[{index}]", wrong))
            mistakes += [source.mistake(f"{where}.{inner}" if inner else where, words) for inner, words in wrong]
            if rule is not None and not wrong:
                yield rule


_DECODERS: dict[str, Callable[[Table], Rule | None]] = {
    "deny": lambda table: prefix_rule(table, DENY),
    "ask": lambda table: prefix_rule(table, ASK),
    "allow": lambda table: prefix_rule(table, ALLOW),
    "checks": lambda table: regex_rule(table, DENY),
    "allow_checks": lambda table: regex_rule(table, ALLOW),
    "arguments": lambda table: structured_rule(table, "arguments"),
    "redirects": lambda table: structured_rule(table, "redirects"),
    "files": lambda table: structured_rule(table, "files"),
}

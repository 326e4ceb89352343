"""`[guard]` and `[redirect]` of the TOML files: chosen, read, merged into Rules; each mistake with file, line, key."""

import json
import os
import tomllib
from collections.abc import Callable, Iterator

from ...catalogue import policy
from ...lazy_dataclass import dataclass, replace
from ...model.hot import ALLOW, ASK, DENY, PASS
from ...oskit.files.atomic import at_once
from ...oskit.files.own_files import stranger
from ...toml_lines import line_of, lines_of
from .decode import Row, Table, by_program, command_row, prefix_rule, regex_rule, structured_rule, tool_rule, wild_of
from .patterns import matches
from .rule import PROTECTED, SESSION, Rule, Rules


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


def read(path: str, name: str) -> Source:
    if not path.startswith(PRESETS_DIR) and (wrong := stranger(path)):
        return Source(path, name, {}, {}, (Mistake(path, 1, "", wrong),))
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


PRESETS_DIR = os.path.join(os.path.dirname(__file__), "presets")
DEFAULT_PRESET = "sandbox"
NO_PRESET = "none"


def preset_names() -> tuple[str, ...]:
    return tuple(sorted(name[:-5] for name in os.listdir(PRESETS_DIR) if name.endswith(".toml")))


def preset_sources(names: tuple[str, ...]) -> list[Source]:
    """The files behind these names, each once, behind those that it extends: `destructive` is all of its packs."""
    sources: dict[str, Source] = {}
    for name in names:
        _add(name, sources)
    return list(sources.values())


def _add(name: str, sources: dict[str, Source]) -> None:
    if name == NO_PRESET or name in sources:
        return
    source = read(os.path.join(PRESETS_DIR, f"{name}.toml"), name)
    pack = source.document.get("pack")
    if isinstance(pack, dict) and "labels" in pack:
        source = replace(source, name=str(pack["labels"]))  # its rules were in that pack before
    base = source.document.get("extends", [])
    for below in base if isinstance(base, list) else [base]:
        _add(str(below), sources)
    sources[name] = source


def chosen(files: list[Source]) -> tuple[tuple[str, ...], list[Mistake]]:
    """The last file that sets `guard.presets` (or `preset`) wins; nobody set it: the sandbox."""
    names, mistakes = (DEFAULT_PRESET,), []
    for source in files:
        guard = source.document.get("guard")
        keys = [key for key in ("presets", "preset") if isinstance(guard, dict) and key in guard]
        if not keys or not isinstance(guard, dict):
            continue
        value = guard[keys[0]]
        wanted = tuple(value) if isinstance(value, list) else (value,)
        known = (*preset_names(), NO_PRESET)
        wrong = [name for name in wanted if name not in known]
        where = f"guard.{keys[0]}"
        if len(keys) > 1:
            mistakes.append(source.mistake(where, "preset and presets mean the same; keep one of them"))
        elif wrong:
            choice = ", ".join(known)
            mistakes.append(source.mistake(where, f"unknown preset {wrong[0]!r}; there are {choice}"))
        else:
            names = wanted
    return names, mistakes


_LISTS = ("deny", "ask", "allow", "checks", "allow_checks", "arguments", "redirects", "files", "commands", "tools")
_NAMES = ("trusted", "protected", "off")  # lists of globs; of several files they are put together
_SCALARS = {
    "preset": None, "presets": None, "on_error": (ASK, DENY, PASS), "default": (PASS, ASK, DENY),
    "inside": (ALLOW, PASS), "outside": (ASK, DENY),
}  # fmt: skip
_NEVER = "never"
_PARTS = ("guard", "redirect")  # of the files, the tables that are read here
_REDIRECT_KEYS = ("own", "tmp", "target")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the files say together, the mistakes in them, and the rules file by file for `verify`."""

    rules: Rules
    mistakes: tuple[Mistake, ...]
    sources: tuple[Source, ...]
    has_locks: bool = False  # of the guard: users may not take away from what the host says

    @property
    def is_broken(self) -> bool:
        return any(mistake.fatal for mistake in self.mistakes)


def load(paths: tuple[str, ...], *, preset: str | None = None, temp_roots: tuple[str, ...] = ("/tmp",)) -> Loaded:
    """Presets first, then the files in order: lists concatenate, the last to set a scalar or `[redirect]` wins."""
    files, locked, locks = _lawful([read(path, _name(path, paths)) for path in paths if os.path.exists(path)])
    names, mistakes = chosen(files) if preset is None else (tuple(preset.split(",")), [])
    mistakes += locked
    sources = [*preset_sources(names), *files]
    rules: list[Rule] = []
    rows: list[Row] = []
    redirect, scalars = {}, {"on_error": ASK, "default": PASS, "inside": PASS, "outside": ""}
    never: tuple[str, ...] = ()
    lists: dict[str, tuple[str, ...]] = dict.fromkeys(_NAMES, ())
    for source in sources:
        mistakes += source.mistakes
        guard = _table(source, "guard", mistakes)
        rules += list(_rules(source, guard, mistakes))
        rows += list(_rows(source, guard, mistakes))
        for key in _NAMES:
            lists[key] += _globs(source, guard, key, mistakes)
        for key in ("on_error", "default", "inside", "outside"):
            if key == "inside" and key in guard and not _may_trust(source):
                mistakes.append(source.mistake("guard.inside", _NOT_HERE, fatal=False))
            elif key in guard:
                scalars[key] = _choice(source, guard, key, mistakes)
        never += _never(source, guard, mistakes)
        if "redirect" in source.document:
            redirect = _redirect(source, mistakes, temp_roots)
    if scalars["outside"]:
        rules = [rule for rule in rules if not _says_what_is_outside(rule)] + outside_rules(scalars["outside"])
    off = lists["off"]
    rows = [row for row in rows if not _is_off(str(row["label"]), off)]
    merged = Rules(
        tuple(rule for rule in rules if not _is_off(rule.label, off)),
        owns=bool(redirect.get("own", True)),
        redirect_tmp=bool(redirect.get("tmp", False)),
        target=str(redirect.get("target", SESSION)),
        on_error=scalars["on_error"],
        default=scalars["default"],
        rows=tuple(json.dumps(row) for row in rows),
        commands=by_program(rows),
        wild=wild_of(rows),
        trusted=lists["trusted"],
        protected=lists["protected"] or PROTECTED,
        trusts_inside=scalars["inside"] == ALLOW,
        never=tuple(dict.fromkeys(never)),
    )
    return Loaded(merged, tuple(mistakes), tuple(sources), any(lock.startswith(_PARTS) for lock in locks))


_NOT_HERE = "is heard from config.toml in the user's own directory alone, not from a preset, a pack or another file"
_OUTSIDE = ("@scratch", "@project", "@agent")
_IS_OUTSIDE = "This changes something outside the project and the session's temp files ([guard] outside)."


def _may_trust(source: Source) -> bool:
    """Only what the user wrote: the host, presets and files that programs put into guard.d may not."""
    if source.path.startswith(PRESETS_DIR) or is_of_the_host(source.path):
        return False
    return os.path.basename(os.path.dirname(source.path)) != "guard.d"


def outside_rules(decision: str) -> list[Rule]:
    """`[guard] outside`: whatever is written, removed or appended to anywhere else."""
    fields = {"operands": _OUTSIDE, "description": _IS_OUTSIDE, "alternative": "write to the project or to $TMPDIR"}
    return [
        Rule("arguments", decision, "guard:outside", patterns=("*",), test="any_outside", mode="write", **fields),  # type: ignore[arg-type]
        Rule("redirects", decision, "guard:outside", test="outside", mode="write", **fields),  # type: ignore[arg-type]
        Rule("files", decision, "guard:outside", test="outside", mode="write", **fields),  # type: ignore[arg-type]
    ]


def _says_what_is_outside(rule: Rule) -> bool:
    """A rule of a preset about all programs, which `outside` says instead."""
    is_general = rule.kind in ("redirects", "files") or rule.patterns == ("*",)
    is_of_preset = rule.label.partition(":")[0] in preset_names()
    return is_of_preset and is_general and rule.test in ("outside", "any_outside") and set(_OUTSIDE) <= {*rule.operands}


def _never(source: Source, guard: dict[str, object], mistakes: list[Mistake]) -> tuple[str, ...]:
    value = guard.get(_NEVER, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        mistakes.append(source.mistake(f"guard.{_NEVER}", "must be a list of paths"))
        return ()
    paths = []
    for index, path in enumerate(value):
        plain = path.rstrip("/")
        if not plain.startswith(("/", "~/")) or any(c in plain for c in "*?[") or "/../" in f"{plain}/":
            words = "must be one path, absolute or below ~, such as ~/.ssh; all below it is meant"
            mistakes.append(source.mistake(f"guard.{_NEVER}[{index}]", words))
        else:
            paths.append(plain)
    return tuple(paths)


def hosts_alone(loaded: Loaded) -> Loaded | None:
    """The host's files without any of a user's; None where they fix nothing, or are what is broken."""
    if not loaded.has_locks:
        return None
    alone = load((policy.SYSTEM, *_host_rules()))
    return None if alone.is_broken else alone


def _lawful(files: list[Source]) -> tuple[list[Source], list[Mistake], tuple[str, ...]]:
    """Without what users may not weaken; what the host has locked is heard even where another file was named."""
    ours = next((source for source in files if source.path == policy.SYSTEM), None)
    absent = ours is None and os.path.exists(policy.SYSTEM)
    if absent:
        ours = read(policy.SYSTEM, os.path.basename(policy.SYSTEM))
    locks, wrong = policy.locks_of(ours.document) if ours else ((), "")
    if absent and ours:
        named = {source.path for source in files}
        of_host = [ours, *(read(path, os.path.basename(path)) for path in _host_rules() if path not in named)]
        locked_parts = [(source, policy.only_locked(source.document, locks)) for source in of_host]
        files = [*(replace(source, document=part, mistakes=()) for source, part in locked_parts), *files]
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
            if key.startswith(_PARTS)  # the others are told by the code that reads them
        ]
    return lawful, mistakes, locks


def _host_rules() -> list[str]:
    directory = os.path.join(os.path.dirname(policy.SYSTEM), "guard.d")
    try:
        return [os.path.join(directory, name) for name in sorted(os.listdir(directory)) if name.endswith(".toml")]
    except OSError:
        return []


def is_of_the_host(path: str) -> bool:
    """Right there: /etc/tmpwarden/../home is somebody's."""
    return path == policy.SYSTEM or path in _host_rules()


def _name(path: str, paths: tuple[str, ...]) -> str:
    """The file's name if that is enough to tell it from the others."""
    name = os.path.basename(path)
    return path if sum(os.path.basename(other) == name and os.path.exists(other) for other in paths) > 1 else name


def _table(source: Source, key: str, mistakes: list[Mistake]) -> dict[str, object]:
    value = source.document.get(key, {})
    if not isinstance(value, dict):
        mistakes.append(source.mistake(key, "must be a table"))
        return {}
    if key == "guard":
        for name in value:
            if name not in _LISTS and name not in _SCALARS and name not in _NAMES and name != _NEVER:
                known = ", ".join((*_SCALARS, _NEVER, *_NAMES, *_LISTS))
                mistakes.append(source.mistake(f"guard.{name}", f"unknown key; known are {known}"))
    return value


def _choice(source: Source, guard: dict[str, object], key: str, mistakes: list[Mistake]) -> str:
    value, allowed = guard[key], _SCALARS[key] or ()
    if isinstance(value, str) and value in allowed:
        return value
    why = " (an allow rule must name the command)" if value == ALLOW else ""
    mistakes.append(source.mistake(f"guard.{key}", f"{value!r} is not one of {', '.join(allowed)}{why}"))
    return ASK


def _redirect(source: Source, mistakes: list[Mistake], temp_roots: tuple[str, ...]) -> dict[str, object]:
    table = _table(source, "redirect", mistakes)
    for key in table:
        if key not in _REDIRECT_KEYS:
            mistakes.append(source.mistake(f"redirect.{key}", f"unknown key; known are {', '.join(_REDIRECT_KEYS)}"))
    for key in ("own", "tmp"):
        if not isinstance(table.get(key, False), bool):
            mistakes.append(source.mistake(f"redirect.{key}", "must be true or false"))
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
    for key in _DECODERS:
        for table, where in _entries(source, guard, key, mistakes):
            rule = _DECODERS[key](table)
            mistakes += [source.mistake(f"{where}.{inner}" if inner else where, words) for inner, words in table.wrong]
            if rule is not None and not table.wrong:
                yield rule


def _rows(source: Source, guard: dict[str, object], mistakes: list[Mistake]) -> Iterator[Row]:
    for table, where in _entries(source, guard, "commands", mistakes):
        row = command_row(table)
        mistakes += [source.mistake(f"{where}.{inner}" if inner else where, words) for inner, words in table.wrong]
        if row is not None and not table.wrong:
            yield row


def _entries(
    source: Source, guard: dict[str, object], key: str, mistakes: list[Mistake]
) -> Iterator[tuple[Table, str]]:
    """Each entry of a list with its label, `git:force-push` where it has an id, and where it stands."""
    value = guard.get(key, [])
    if not isinstance(value, list):
        mistakes.append(source.mistake(f"guard.{key}", "must be a list"))
        return
    for index, item in enumerate(value):
        name = item.get("id") if isinstance(item, dict) else None
        yield Table(item, f"{source.name}:{name or f'{key}[{index}]'}", []), f"guard.{key}[{index}]"


def _globs(source: Source, guard: dict[str, object], key: str, mistakes: list[Mistake]) -> tuple[str, ...]:
    value = guard.get(key, [])
    if isinstance(value, list) and all(isinstance(one, str) and one.strip("*") for one in value):
        return tuple(value)
    mistakes.append(source.mistake(f"guard.{key}", "must be a list of names; * alone would be all of them"))
    return ()


def _is_off(label: str, off: tuple[str, ...]) -> bool:
    return any(matches(glob, label) for glob in off)


_DECODERS: dict[str, Callable[[Table], Rule | None]] = {
    "deny": lambda table: prefix_rule(table, DENY),
    "ask": lambda table: prefix_rule(table, ASK),
    "allow": lambda table: prefix_rule(table, ALLOW),
    "checks": lambda table: regex_rule(table, DENY),
    "allow_checks": lambda table: regex_rule(table, ALLOW),
    "arguments": lambda table: structured_rule(table, "arguments"),
    "redirects": lambda table: structured_rule(table, "redirects"),
    "files": lambda table: structured_rule(table, "files"),
    "tools": tool_rule,
}

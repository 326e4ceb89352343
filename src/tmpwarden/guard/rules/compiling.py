"""Compile the guard's config and the table of the first look. The slow half of `compiled`: when a source changed."""

import json
import os
from marshal import dumps

from ...errors import UnsafeScratch
from ...model.hot import ALLOW, PASS
from ...oskit.files import atomic, own_dirs
from ...stamped import stamp
from .. import first_look
from ..programs import known
from ..programs.arguments import OUTPUTS
from ..programs.known import NAMES
from ..programs.table import Program, program
from ..simulate.study import HANDLERS
from .config import PRESETS_DIR, Loaded, hosts_alone, load
from .patterns import matches
from .rule import InForce, Rule, Rules, document_of, rules_of

_WRITING = ("path_written", "path_into", "path", "code", "path_entered")
_CHANGING_MODES = ("write", "append", "delete")
_SPOKEN_FOR = (
    *("writes_here", "writes_here_unless", "writes_here_only_with"),
    *("runs", "shell", "user_shell", "code", "told_by", "remote", "reads", "writes", "spares", "in_place"),
)
_BY_NAME = ("any_named", "named")  # speak about paths that are written so, whatever the program


def first_table(rules: Rules, tmp_roots: tuple[str, ...] = ("/tmp",)) -> dict[str, object] | None:
    """None: a rule could speak about any command, so every call is evaluated in full."""
    if rules.trusts_inside or rules.never or rules.default != PASS or any(is_about_all(rule) for rule in rules.rules):
        return None
    names = {name for name in NAMES if _is_silent(name)}
    words = {name for name in NAMES if {"changes", "shell"} & program(name).facets.keys()}
    for rule in rules.rules:
        if rule.test in _BY_NAME:
            continue
        if rule.kind == "prefix" and len(rule.operands) > 1 and not _is_glob(rule.operands[1]):
            words.add(rule.operands[1])
        elif rule.kind in ("prefix", "arguments", "check"):
            patterns = rule.patterns
            if rule.kind != "arguments":
                patterns = rule.operands[:1] if rule.kind == "prefix" else (_program_of(rule.operands[0]),)
            names -= {name for name in names for pattern in patterns if pattern != "*" and matches(pattern, name)}
    silent = {name: _entry(program(name)) for name in sorted(names)}
    programs = {name: entry for name, entry in silent.items() if _stays(name, entry, rules)}
    roots = [root.rpartition("/")[2] for root in tmp_roots]
    return {"programs": programs, "words": sorted(words), "roots": roots, "named": _named(rules)}


def _stays(name: str, entry: tuple[tuple[str, ...], str, list[str]], rules: Rules) -> bool:
    """Can no row of `[[guard.commands]]` speak about what the first look would pass?"""
    quiet = entry[0]
    about = {at for pattern, rows in rules.commands.items() if matches(pattern, name) for at in rows}
    return not any(_may_speak(json.loads(rules.rows[at]), name, quiet) for at in about)


def _may_speak(row: dict[str, list[list[str]]], name: str, quiet: tuple[str, ...]) -> bool:
    if row.get("written") and all("$" in str(glob) for glob in row["written"]):
        return False  # a line with a dollar is never for the first look
    commands = [words for words in row["commands"] if any(matches(one, name) for one in words[0].split("|"))]
    seconds = [second for words in commands for second in (words[1].split("|") if len(words) > 1 else ["*"])]
    return not quiet or any(matches(second, one) for second in seconds for one in quiet)


def _named(rules: Rules) -> list[str]:
    """What must stand in a line, or in its directory, for a rule about names to speak."""
    fragments = set()
    for rule in rules.rules:
        if rule.test in _BY_NAME:
            fragments |= {_fragment(glob) for glob in rule.operands if glob[0] != "!"}
    return sorted(fragments)


def _fragment(glob: str) -> str:
    """The longest plain part of the last component that has one."""
    for part in reversed(glob.split("/")):
        longest: str = max(part.replace("?", "*").split("*"), key=len)
        if longest and longest != "~" and longest[0] != "@":
            return longest
    return ""


def is_about_all(rule: Rule) -> bool:
    """Could it speak about a command that writes nothing, whatever its name?"""
    if rule.test in _BY_NAME:
        return not all(_fragment(glob) for glob in rule.operands)
    if rule.kind == "check":
        return not _program_of(rule.operands[0])
    if rule.kind == "prefix":
        return _is_glob(rule.operands[0])
    return (
        rule.kind == "arguments"
        and "*" in rule.patterns
        and (rule.mode not in _CHANGING_MODES or rule.decision == ALLOW)
    )


def _program_of(regex: str) -> str:
    """The one program that an anchored regex speaks about, "" if it may be any: `curl .*` is about curl."""
    name = regex[: len(regex) - len(regex.lstrip("abcdefghijklmnopqrstuvwxyz0123456789-_"))]
    return name if regex[len(name) :][:1] in ("", " ") and "|" not in regex.replace("\\|", "") else ""


def _is_glob(word: str) -> bool:
    return "*" in word or "?" in word


def _is_silent(name: str) -> bool:
    """Neither writes nor runs anything that the guard reads, with options that it says so of aside."""
    known = program(name)
    if "quiet" in known.facets:
        return True
    if ":" in name or known.plain not in ("read", "text", "pattern_then_read"):
        return False
    return name not in HANDLERS and not any(facet in known.facets for facet in _SPOKEN_FOR)


def _entry(known: Program) -> tuple[tuple[str, ...], str, list[str]]:
    """The subcommands it is silent with (none: all), and the letters and names of options that write or run."""
    letters = [letter for letter, kind in known.shorts.items() if kind in _WRITING]
    options = [option.lstrip("-") for option, kind in known.longs.items() if kind in _WRITING]
    if known.plain in ("", "any"):
        letters.append("o")
        options += sorted(OUTPUTS)
    return known.values("quiet"), "".join(letters), options


_ALONE = "only the preset sandbox is used"
_HOSTS = "only the host's rules are used"


def compile_rules(files: tuple[str, ...], cache: str, *, last_good: dict[str, object] | None) -> InForce:
    """Read every source; the result is written to `cache` and comes into force unless a source is broken."""
    presets_there = [os.path.join(PRESETS_DIR, name) for name in os.listdir(PRESETS_DIR)]
    seen = {str(row[0]): row for row in stamp((*files, *presets_there))}  # before reading: changed then is stale
    loaded = load(files)
    presets = tuple(source.path for source in loaded.sources if source.path.startswith(PRESETS_DIR))
    stamps = [seen[path] for path in (*presets, *files)]
    complaint = complaint_about(
        loaded, has_last_good=last_good is not None and _ALONE not in str(last_good["complaint"])
    )
    rules = loaded.rules
    if loaded.is_broken:
        fixed = hosts_alone(loaded)  # a policy that came since holds, however long a user's file stays broken
        rules = fixed.rules if fixed else rules_of(last_good) if last_good is not None else load(()).rules
    try:
        own_dirs.make_private_dir(os.path.dirname(cache))
        atomic.write(cache, dumps(document_of(rules, stamp=stamps, presets=presets, complaint=complaint)))
        _write_first(rules, stamps, files, os.path.dirname(os.path.dirname(cache)))
    except (OSError, UnsafeScratch):
        pass  # a full disk: the next hook compiles again
    return InForce(rules, complaint)


def _write_first(rules: Rules, seen: list[list[object]], files: tuple[str, ...], state_dir: str) -> None:
    """What the first look goes by. It is stale when a rule, a row or the code that made it is another."""
    table = first_table(rules) or {}
    config = os.path.dirname(files[1]) if len(files) > 1 else ""
    code = [module.__file__ for module in (known, first_look) if module.__file__]
    stamps = [*seen, *stamp((f"{config}/guard.d", *code))]
    atomic.write(first_look.path_of(state_dir), dumps({"stamp": stamps, "config": config, **table}))


def complaint_about(loaded: Loaded, *, has_last_good: bool) -> str:
    """One sentence about a broken config, "" about a good one."""
    fatal = [mistake for mistake in loaded.mistakes if mistake.fatal]
    if not fatal:
        return ""
    more = f" (and {len(fatal) - 1} more)" if len(fatal) > 1 else ""
    instead = _HOSTS if hosts_alone(loaded) else "the last valid one is still used" if has_last_good else _ALONE
    return f"the guard's config is broken, {instead}: {fatal[0]}{more} (`tmpwarden guard verify`)"

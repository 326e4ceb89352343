"""What is wrong, or surely not meant, in the guard's config: rules that never speak, denies that silence an allow."""

import os
from collections.abc import Iterator

from ...agent_facts import FACTS
from ...model.hot import ALLOW, ASK, DENY
from ..nouns.analysis import Simple
from .compiled import cache_path, config_files
from .compiling import complaint_about, is_about_all
from .config import Loaded, Mistake, Source, load
from .patterns import YES, is_match, is_prefix
from .regex_table import why_never
from .rule import Rule

_SHELLS = {name for facts in FACTS.values() for name, kind in facts["tools"].items() if kind == "shell"}
_SAMPLES = ("{0} {1}/x", "{0} -r {1}/x", "{0} -rf {1}/x", "{0} -f {1}/x", "{0} {1}/x {1}/y")
_SAMPLE_ROOT = "/tmp/tmpwarden-1000/0123abcd"


def verify(paths: tuple[str, ...], *, preset: str | None = None, temp_roots: tuple[str, ...] = ("/tmp",)) -> Loaded:
    """The config with every mistake in it, those that only deserve a look last."""
    loaded = load(paths, preset=preset, temp_roots=temp_roots)
    hints = tuple(_placed(loaded, rule, words) for rule, words in _remarks(loaded.rules.rules))
    return Loaded(loaded.rules, (*loaded.mistakes, *hints), loaded.sources)


def _placed(loaded: Loaded, rule: Rule, words: str) -> Mistake:
    name, _, key = rule.label.rpartition(":")
    source = next((one for one in loaded.sources if one.name == name), Source(name, name, {}, {}))
    return source.mistake(f"guard.{key}", words, fatal=False)


def _remarks(rules: tuple[Rule, ...]) -> Iterator[tuple[Rule, str]]:
    for at, rule in enumerate(rules):
        if words := _why_it_never_matches(rule, rules[:at], rules):
            yield rule, words
        if is_about_all(rule):
            yield rule, "could apply to any command, so every call is evaluated in full"
        if rule.decision == DENY:
            for allow in [one for one in rules if one.decision == ALLOW and one.test == "all_inside"]:
                if allow.kind == "arguments" and _shadows(rule, allow):
                    yield rule, f"this deny shadows the scoped allow {allow.label}: deny comes first"


def _why_it_never_matches(rule: Rule, before: tuple[Rule, ...], rules: tuple[Rule, ...]) -> str:
    for other in before:
        if _condition(other) == _condition(rule) and other.decision == rule.decision:
            return f"can never match: {other.label} says the same and comes first"
    if rule.kind == "prefix":
        for other in rules:
            if other is not rule and _comes_first(other, rule) and _covers(other.operands, rule.operands):
                return f"can never match: {other.decision} {other.label} ({' '.join(other.operands)}) comes first"
    if rule.kind == "tools" and (shells := [name for name in rule.patterns if name in _SHELLS]):
        return f"can never match: {shells[0]} is judged by its commands, not by its name"
    if rule.kind == "check" and (words := why_never(rule.operands[0])):
        return words
    if rule.kind == "arguments" and rule.mode == "append":
        return "can never match: arguments are not opened for appending; mode belongs to redirects"
    return ""


def _condition(rule: Rule) -> tuple[object, ...]:
    return (rule.kind, rule.patterns, rule.test, rule.operands, rule.mode)


def _comes_first(other: Rule, rule: Rule) -> bool:
    """Prefixes are asked deny, ask, allow; within one list a shorter one speaks for the longer."""
    order = (DENY, ASK, ALLOW)
    if other.kind != "prefix":
        return False
    if other.decision == rule.decision:
        return other.operands != rule.operands
    return order.index(other.decision) < order.index(rule.decision)


def _covers(shorter: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    return is_prefix(shorter, Simple(tuple(longer), name=longer[0].rpartition("/")[2])) == YES


def _shadows(deny: Rule, allow: Rule) -> bool:
    names = [name for name in allow.patterns if "*" not in name and "?" not in name]
    if deny.kind == "prefix":
        return any(_covers(deny.operands, (name,)) or _covers(deny.operands, (name, "-rf", "x")) for name in names)
    if deny.kind == "check":
        texts = [sample.format(name, _SAMPLE_ROOT) for name in names for sample in _SAMPLES]
        return any(is_match(deny, text) for text in texts)
    if deny.kind != "arguments" or not any(deny.names(name) for name in names):
        return False
    if deny.test == "any_outside":
        return not set(allow.operands) <= set(deny.operands)
    return deny.test == "all_inside" and bool(set(allow.operands) & set(deny.operands))


def complaint_now(config_dir: str, state_dir: str) -> str:
    """One sentence about what is broken in the files, "" if nothing is, or if there are none."""
    files = tuple(path for path in config_files(config_dir) if os.path.exists(path))
    if not files:
        return ""
    return complaint_about(load(files), has_last_good=os.path.exists(cache_path(state_dir)))

"""One entry of a `[guard]` list -> one Rule or row, or the sentences that say what is wrong with it."""

import json
import re
import shlex

from ...agent_facts import FACTS
from ...catalogue.names import power, sre, why_costly
from ...model.hot import ALLOW, ASK, DENY
from ...oskit.files import places
from ..programs.table import has
from .patterns import BY_TABLE
from .regex_table import NoTable, table_of
from .rule import Rule

_LONG, _SHORT = 4096, 1024  # characters: quadratic and cubic then stay below a third of a second
_SHORT_FROM = 3  # open repeats


def prepared(regex: str) -> tuple[str, ...]:
    """The operands of a check: for `re` with the longest text that it may see, or with its table. Raises ValueError."""
    try:
        tree = sre.parse(regex, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regex: {error}") from error
    costly = why_costly(tree)
    if not costly:
        return regex, str(_LONG if power(tree) < _SHORT_FROM else _SHORT)
    try:
        return regex, BY_TABLE, json.dumps(table_of(regex))
    except NoTable as why:
        raise ValueError(f"can take very long: it {costly.partition(',')[0]}, and it {why}") from why


def first_words(regex: str) -> tuple[str, ...]:
    """Every plain word in a regex: `(cp|mv) .*` speaks of cp and mv."""
    return tuple(re.findall(r"(?<![\w/.-])[a-z][a-z0-9_]*(?![\w-])", regex.replace("\\b", " ").replace("\\s", " ")))


_OURS = (
    *("~/.config/tmpwarden", "~/.local/state/tmpwarden", "~/.local/share/tmpwarden"),
    *("/etc/tmpwarden", "/usr/local/lib/tmpwarden"),
)
_ABOVE_OURS = ("~/.config", "~/.local", "~/.local/state", "~/.local/share")


def spelled(operands: tuple[str, ...]) -> tuple[str, ...]:
    """The operands with both words replaced by the globs of every agent that we know."""
    spellings: list[str] = []
    for operand in operands:
        spellings += _WORDS[operand]() if operand in _WORDS else [operand]
    return tuple(dict.fromkeys(spellings))


def _settings() -> list[str]:
    ours = [*_OURS, places.config_dir(), places.state_dir(), places.data_dir()]
    return [*(glob for facts in FACTS.values() for glob in facts["guarded"]), *_with_below(ours)]


def _agents() -> list[str]:
    homes = [path for facts in FACTS.values() for path in facts["own"] if path[0] == "~"]
    return [*_settings(), *_ABOVE_OURS, *_with_below(homes)]


def _with_below(paths: list[str]) -> list[str]:
    return [glob for path in paths for glob in (path, f"{path}/*")]


_WORDS = {"@settings": _settings, "@agents": _agents}


_TESTS = {
    "arguments": ("all_inside", "any_outside", "all_match", "any_match", "any_named"),
    "redirects": ("outside", "inside", "glob", "named"),
    "files": ("outside", "inside", "glob", "named"),
}
_ROOT_TESTS = ("all_inside", "any_outside", "outside", "inside")
_MODES = ("read", "write", "overwrite", "append", "delete", "any")
PROOF = ("id", "matches", "spares")  # what a rule of a pack is called, and lines that show what it means
TOKENS = ("@scratch", "@project", "@agent", "@tmp", ".", "~")


class Table:
    """An entry, its label, and where its mistakes go: (key within the entry, sentence)."""

    def __init__(self, item: object, label: str, wrong: list[tuple[str, str]]) -> None:
        self.item = item
        self.label = label
        self.wrong = wrong

    def fail(self, key: str, message: str) -> None:
        self.wrong.append((key, message))

    def fields(self, known: tuple[str, ...], shorthand: str = "") -> dict[str, object]:
        """The entry as a table; a plain string stands for its one needed key."""
        if isinstance(self.item, str) and shorthand:
            return {shorthand: self.item}
        if not isinstance(self.item, dict):
            self.fail("", "must be a table" + (" or a string" if shorthand else ""))
            return {}
        for key in self.item:
            if key not in known:
                self.fail(key, f"unknown key; known are {', '.join(known)}")
        return self.item

    def text(self, fields: dict[str, object], key: str, *, needed: bool = False) -> str:
        value = fields.get(key, "")
        if not isinstance(self.item, str | dict):
            return ""  # said already
        if not isinstance(value, str) or (needed and not value.strip()):
            self.fail(key if key in fields else "", f"{key} must be a string" + (" that is not empty" * needed))
            return ""
        return value

    def texts(self, fields: dict[str, object], key: str) -> tuple[str, ...]:
        value = fields.get(key)
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str) and one for one in values):
            self.fail(key, "must be a list of strings")
            return ()
        return tuple(str(one) for one in values)


def prefix_rule(table: Table, decision: str) -> Rule | None:
    fields = table.fields(("prefix", "description", "alternative"), "prefix")
    prefix = table.text(fields, "prefix", needed=True)
    try:
        words = shlex.split(prefix)
    except ValueError as error:
        table.fail("prefix", f"cannot be split into words: {error}")
        return None
    if not words:
        return None
    if decision == ALLOW and words[0].strip("*") == "":
        table.fail("prefix", "an allow must name its command")
    return _worded(table, fields, Rule("prefix", decision, table.label, operands=tuple(words)))


def regex_rule(table: Table, decision: str) -> Rule | None:
    fields = table.fields(("test", "decision", "description", "alternative"), "test")
    regex = table.text(fields, "test", needed=True)
    operands: tuple[str, ...] = ()
    try:
        operands = prepared(regex)
    except ValueError as refused:
        table.fail("test", str(refused))
    if operands and decision == ALLOW:
        named = [word for word in first_words(regex) if has(word, "two_targets")]
        if named:
            table.fail(
                "test", f"{named[0]} has two targets and a regex confines one; write [[guard.arguments]] instead"
            )
    if decision != ALLOW and "decision" in fields:
        decision = _decision(table, fields, (DENY, ASK))
    return _worded(table, fields, Rule("check", decision, table.label, operands=operands))


def structured_rule(table: Table, kind: str) -> Rule | None:
    tests = _TESTS[kind]
    own = ("command",) if kind == "arguments" else ()
    fields = table.fields((*own, *tests, "mode", "decision", "description", "alternative", "mentions", *PROOF))
    if table.wrong and not fields:
        return None
    present = [test for test in tests if test in fields]
    if len(present) != 1:
        table.fail(
            "", f"needs exactly one of {', '.join(tests)}" + (f", has {' and '.join(present)}" if present else "")
        )
        return None
    operands = table.texts(fields, present[0])
    operands = spelled(operands)
    if present[0] in _ROOT_TESTS:
        _check_roots(table, present[0], operands)
    rule = Rule(
        kind,
        _decision(table, fields, (ALLOW, ASK, DENY)),
        table.label,
        patterns=_patterns(table, fields) if kind == "arguments" else (),
        test=present[0],
        operands=operands,
        mode=_mode(table, fields),
        mentions=table.texts(fields, "mentions") if "mentions" in fields else (),
    )
    if rule.mentions and rule.decision == ALLOW:
        table.fail("mentions", "an allow says what may be done, not what must be mentioned")
    return _worded(table, fields, rule)


def tool_rule(table: Table) -> Rule | None:
    fields = table.fields(("id", "tool", "decision", "description", "alternative"))
    if table.wrong and not fields:
        return None
    names = table.text(fields, "tool", needed=True)
    rule = Rule(
        "tools",
        _decision(table, fields, (ALLOW, ASK, DENY)),
        table.label,
        patterns=tuple(part.strip() for part in names.split("|") if part.strip()),
    )
    if rule.decision == ALLOW and "*" in rule.patterns:
        table.fail("tool", "an allow must name its tools")
    return _worded(table, fields, rule)


def _worded(table: Table, fields: dict[str, object], rule: Rule) -> Rule:
    rule.description = table.text(fields, "description")
    rule.alternative = table.text(fields, "alternative")
    return rule


def _decision(table: Table, fields: dict[str, object], allowed: tuple[str, ...]) -> str:
    value = fields.get("decision")
    if isinstance(value, str) and value in allowed:
        return value
    table.fail("decision" if "decision" in fields else "", f"decision must be one of {', '.join(allowed)}")
    return ASK


def _mode(table: Table, fields: dict[str, object]) -> str:
    value = fields.get("mode", "any")
    if isinstance(value, str) and value in _MODES:
        return value
    table.fail("mode", f"must be one of {', '.join(_MODES)}")
    return "any"


def _patterns(table: Table, fields: dict[str, object]) -> tuple[str, ...]:
    command = table.text(fields, "command", needed=True)
    patterns = tuple(part.strip() for part in command.split("|") if part.strip())
    for pattern in patterns:
        if "/" in pattern or " " in pattern:
            table.fail("command", f"{pattern!r} can never match: a command's name has no slash and no blank")
    return patterns


def _check_roots(table: Table, key: str, roots: tuple[str, ...]) -> None:
    for index, root in enumerate(roots):
        head = root.partition("/")[0]
        if head.startswith("@") and head not in TOKENS:
            table.fail(f"{key}[{index}]", f"there is no {head}; there are {', '.join(TOKENS[:4])}")
        elif not root.startswith("/") and head not in TOKENS:
            table.fail(f"{key}[{index}]", f"{root!r} must be absolute, or start with one of {' '.join(TOKENS)}")
        elif root.startswith("/") and not root.strip("/"):
            table.fail(f"{key}[{index}]", "everything is inside /")


Row = dict[str, object]
CHECKS = ("lease", "unfiltered", "everything", "many", "two-names", "set-outside")  # decide/command_rules.py
_LISTS = ("options", "unless", "words", "spared", "text", "written", "context", "spoiled_by")
_TEXTS = ("description", "alternative")
_PROOFS = ("matches", "spares")
_KNOWN = ("id", "command", "decision", "check", "valued", "here", "there", *_LISTS, *_TEXTS, *_PROOFS)


def command_row(table: Table) -> Row | None:
    """`commands` holds one list of words for each spelling; keys that say nothing are left out."""
    fields = table.fields(_KNOWN)
    if not fields:
        return None
    row: Row = {
        "label": table.label,
        "commands": _commands(table, fields),
        "decision": _ask_or_deny(table, fields),
    }
    for key in _LISTS:
        if key in fields:
            row[key] = list(table.texts(fields, key))
    for key in ("valued", "check", *_TEXTS):
        if key in fields:
            row[key] = table.text(fields, key)
    for key in _PROOFS:
        if key in fields:
            table.texts(fields, key)
    if row.get("check", "") not in ("", *CHECKS):
        table.fail("check", f"unknown check {row['check']!r}; there are {', '.join(CHECKS)}")
    for key in ("here", "there"):
        if fields.get(key, False) not in (True, False):
            table.fail(key, "must be true or false")
        elif fields.get(key):
            row[key] = True
    return row


def programs_of(row: Row) -> tuple[str, ...]:
    """The names (or globs of names) that a row is about."""
    commands = row["commands"]
    assert isinstance(commands, list)
    return tuple(dict.fromkeys(name for words in commands for name in words[0].split("|")))


def by_program(rows: list[Row]) -> dict[str, list[int]]:
    """Which rows are about which program."""
    numbers: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        for name in programs_of(row):
            numbers.setdefault(name, []).append(at)
    return numbers


def wild_of(rows: list[Row]) -> tuple[str, ...]:
    """The globs among the names."""
    return tuple(name for name in by_program(rows) if "*" in name or "?" in name)


def _commands(table: Table, fields: dict[str, object]) -> list[list[str]]:
    """`docker|podman volume rm|prune`: words, each with its spellings; a list where the words differ in number."""
    commands = [text.split() for text in table.texts(fields, "command")] if "command" in fields else []
    if not commands:
        table.fail("", "needs a command")
    for words in commands:
        if any(name in ("", "*") or "/" in name for name in words[0].split("|")):
            table.fail("command", f"{words[0]!r} must name programs, without a directory")
    return commands


def _ask_or_deny(table: Table, fields: dict[str, object]) -> str:
    value = fields.get("decision", ASK)
    if value in (ASK, DENY):
        return str(value)
    table.fail("decision", f"must be {ASK} or {DENY}; what runs freely is said by [[guard.arguments]]")
    return ASK

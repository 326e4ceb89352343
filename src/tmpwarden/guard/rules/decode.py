"""One entry of a `[guard]` list -> one Rule, or the sentences that say what is wrong with it."""

import shlex

from ...model.hot import ALLOW, ASK, DENY
from ..programs.table import has
from .own_places import spelled
from .regexes import first_words, prepared
from .rule import Rule

_TESTS = {
    "arguments": ("all_inside", "any_outside", "all_match", "any_match", "any_named"),
    "redirects": ("outside", "glob", "named"),
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
            self.fail(key if key in fields else "", f"{key} must be a string" + (" with something in it" * needed))
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
    fields = table.fields((*own, *tests, "mode", "decision", "description", "alternative", *PROOF))
    if table.wrong and not fields:
        return None
    given = [test for test in tests if test in fields]
    if len(given) != 1:
        table.fail("", f"needs exactly one of {', '.join(tests)}" + (f", has {' and '.join(given)}" if given else ""))
        return None
    operands = table.texts(fields, given[0])
    operands = spelled(operands)
    if given[0] in _ROOT_TESTS:
        _check_roots(table, given[0], operands)
    rule = Rule(
        kind,
        _decision(table, fields, (ALLOW, ASK, DENY)),
        table.label,
        patterns=_patterns(table, fields) if kind == "arguments" else (),
        test=given[0],
        operands=operands,
        mode=_mode(table, fields),
    )
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

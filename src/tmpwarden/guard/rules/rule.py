"""The rules in force, as the hot path holds them: plain tuples, read from one compiled file."""

from ...small_json import decode_object
from .patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SESSION = "session"
_ROW = ("kind", "decision", "label", "patterns", "test", "operands", "mode", "description", "alternative", "mentions")
_KEPT = (
    *("owns", "redirect_tmp", "target", "on_error", "default", "rows", "commands", "wild", "trusted", "protected"),
    *("trusts_inside", "never"),
)
SCHEMA = 7  # raise it when a row means something else: what was compiled before is compiled anew
PROTECTED = ("main", "master", "trunk", "develop", "production", "prod", "staging", "release*", "gh-pages")


class Rule:
    """One rule of `[guard]`. `kind` is the list it stands in; `operands` are words, roots, globs or one regex."""

    __slots__ = (
        "alternative",
        "decision",
        "description",
        "kind",
        "label",
        "mentions",
        "mode",
        "operands",
        "patterns",
        "test",
    )

    def __init__(
        self,
        kind: str,
        decision: str,
        label: str,
        patterns: "tuple[str, ...]" = (),
        test: str = "",
        operands: "tuple[str, ...]" = (),
        mode: str = "any",
        description: str = "",
        alternative: str = "",
        mentions: "tuple[str, ...]" = (),
    ) -> None:
        self.kind = kind  # "prefix", "check", "arguments", "redirects", "files" or "tools"
        self.decision = decision
        self.label = label  # where it was written: "sandbox:arguments[0]"
        self.patterns = patterns  # arguments, tools: the globs of the name
        self.test = test  # arguments: all_inside any_outside all_match any_match; redirects, files: outside glob inside
        self.operands = operands
        self.mode = mode
        self.description = description
        self.alternative = alternative
        self.mentions = mentions  # only where one of these words stands in what the call says

    def names(self, name: str) -> bool:
        """Is this rule about the command of that name?"""
        if name in self.patterns:
            return True
        for pattern in self.patterns:  # noqa: SIM110 - asked of every rule for every command
            if ("*" in pattern or "?" in pattern) and matches(pattern, name):
                return True
        return False

    def row(self) -> "list[object]":
        """As it lies in the compiled file."""
        return [getattr(self, name) for name in _ROW]


class Rules:
    """All of it: `[redirect]` and `[guard]` of every file, merged."""

    __slots__ = (
        "_met", "commands", "default", "never", "on_error", "owns", "protected", "redirect_tmp", "rows", "rules",
        "target", "trusted", "trusts_inside", "wild",
    )  # fmt: skip

    def __init__(
        self,
        rules: "tuple[Rule, ...]" = (),
        *,
        owns: bool = True,
        redirect_tmp: bool = False,
        target: str = SESSION,
        on_error: str = "ask",
        default: str = "pass",
        rows: "tuple[str, ...]" = (),
        commands: "dict[str, list[int]] | None" = None,
        wild: "tuple[str, ...]" = (),
        trusted: "tuple[str, ...]" = (),
        protected: "tuple[str, ...]" = PROTECTED,
        trusts_inside: bool = False,
        never: "tuple[str, ...]" = (),
    ) -> None:
        self.rules = rules
        self.owns = owns  # fresh names in a temp root that a call states belong to its session
        self.redirect_tmp = redirect_tmp  # literal /tmp words are led into the scratch
        self.target = target  # "session", or the shared directory that stands in for the session's scratch
        self.on_error = on_error  # what is said about what cannot be understood
        self.default = default
        self.rows = rows  # `[[guard.commands]]`, each as JSON: nobody takes one apart until its program is met
        self.commands = commands or {}  # program -> the rows about it
        self.wild = wild  # those of `commands` that are globs
        self._met: dict[str, list[dict[str, object]]] = {}
        self.trusted = trusted  # contexts, profiles and hosts that are there to be broken
        self.protected = protected  # branches that nobody forces
        self.trusts_inside = trusts_inside  # inside = "allow": what stays in the project runs without a question
        self.never = never  # what nothing may name or read, nor anything below it

    def scratch(self, of_session: str | None) -> str | None:
        """Where temp files go: the session's own scratch, or the shared one that the config names; None: nowhere."""
        return of_session if of_session is None or self.target == SESSION else self.target

    def command_rows(self, name: "str | None") -> "list[dict[str, object]]":
        """The rows about a program: most lines never need them, so they are taken apart only here, and once."""
        if name is None or not self.commands:
            return []
        rows_of_name = self._met.get(name)
        if rows_of_name is None:
            numbers = set(self.commands.get(name, ()))
            for pattern in self.wild:
                if matches(pattern, name):
                    numbers.update(self.commands[pattern])
            rows = [decode_object(self.rows[at]) for at in sorted(numbers)]
            rows_of_name = self._met[name] = [row for row in rows if row is not None]
        return rows_of_name

    def rules_about_tools(self) -> "list[Rule]":
        return [rule for rule in self.rules if rule.kind == "tools"]

    def of(self, kind: str, decision: str) -> "list[Rule]":
        return [rule for rule in self.rules if rule.kind == kind and rule.decision == decision]


class InForce:
    """The rules to go by, and what is wrong with the config, if anything."""

    __slots__ = ("complaint", "rules")

    def __init__(self, rules: Rules, complaint: str = "") -> None:
        self.rules = rules
        self.complaint = complaint


def document_of(rules: Rules, *, stamp: object, presets: "tuple[str, ...]", complaint: str) -> "dict[str, object]":
    return {
        "schema": SCHEMA,
        "stamp": stamp,
        "presets": list(presets),
        "complaint": complaint,
        "rules": [rule.row() for rule in rules.rules],
        **{name: getattr(rules, name) for name in _KEPT},
    }


def rules_of(document: "dict[str, Any]") -> Rules:
    return Rules(tuple([Rule(*row) for row in document["rules"]]), **{name: document[name] for name in _KEPT})

"""The merged rules as they lie in the compiled file, there and back. Hot path."""

from .rule import Rule, Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEPT = (
    *("owns", "redirect_tmp", "target", "on_error", "default", "rows", "commands", "wild", "trusted", "protected"),
)
SCHEMA = 5  # raise it when a row means something else: what was compiled before is compiled anew


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

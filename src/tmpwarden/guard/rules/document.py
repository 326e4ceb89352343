"""The merged rules as they lie in the compiled file, there and back. Hot path."""

from .rule import Rules, from_row

SCHEMA = 4  # raise it when a row means something else: what was compiled before is compiled anew


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
        "owns": rules.owns,
        "redirect_tmp": rules.redirect_tmp,
        "target": rules.target,
        "on_error": rules.on_error,
        "default": rules.default,
        "rows": list(rules.rows),
        "commands": rules.commands,
        "wild": list(rules.wild),
        "trusted": list(rules.trusted),
        "protected": list(rules.protected),
    }


def rules_of(document: "dict[str, object]") -> Rules:
    rows = document["rules"]
    assert isinstance(rows, list)
    return Rules(
        tuple([from_row(row) for row in rows]),
        owns=document["owns"] is True,
        redirect_tmp=document["redirect_tmp"] is True,
        target=str(document["target"]),
        on_error=str(document["on_error"]),
        default=str(document["default"]),
        rows=tuple(document["rows"]),  # type: ignore[arg-type]
        commands=document["commands"],  # type: ignore[arg-type]
        wild=tuple(document["wild"]),  # type: ignore[arg-type]
        trusted=tuple(document["trusted"]),  # type: ignore[arg-type]
        protected=tuple(document["protected"]),  # type: ignore[arg-type]
    )

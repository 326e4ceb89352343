"""The word on one simple command, and the rule that spoke. Hot path."""


class Judged:
    """The word on one simple command, and the rule that spoke."""

    __slots__ = ("reason", "rule", "verdict")

    def __init__(self, verdict: str, rule: str = "", reason: str = "") -> None:
        self.verdict = verdict
        self.rule = rule
        self.reason = reason

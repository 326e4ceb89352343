"""What a run tells at its end: the line of each journey, and what this machine could not prove.

`--told FILE` appends the same lines to a file, for `.ci/run`: `JOURNEY ...`, `RED ...`, `NOT PROVEN HERE: ...`.
"""

from pathlib import Path

import pytest

from support.skips import reason_of

NOT_PROVEN = "NOT PROVEN HERE: "


class Told:
    """Hears every report, also those of xdist's workers, and prints once."""

    def __init__(self, file: str | None) -> None:
        self._file = Path(file) if file else None
        self._lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        line = _line(report)
        if line and line not in self._lines:
            self._lines.append(line)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._lines:
            return
        terminalreporter.section("told")
        for line in sorted(self._lines):
            terminalreporter.line(line)
        if self._file is not None:
            with self._file.open("a") as file:
                file.writelines(f"{line}\n" for line in sorted(self._lines))


def _line(report: pytest.TestReport) -> str:
    given = dict(report.user_properties)
    red = getattr(report, "wasxfail", None)
    if report.skipped and red is None:
        why = reason_of(report)
        return why if why.startswith(NOT_PROVEN) else ""
    story = given.get("story")
    if story is None or report.when != "call":
        return ""
    if red is not None:
        return f"RED      {story} [{red.removeprefix('reason: ')}]" if report.skipped else ""
    return f"JOURNEY  {given.get('journey', story)}" if report.passed else f"FAILED   {story}"

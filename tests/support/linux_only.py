"""Which tests need Linux. On a Mac they are skipped; all others run there.

`linux_only.toml` lists them. With TRIED in the environment, in a simulated Mac (mac_world.py), what is listed runs as
well, and an entry of which nothing fails there is red (tests/oskit/test_linux_only.py does so with the guard's tests).
"""

import os
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

LISTED = Path(__file__).with_name("linux_only.toml")
TRIED = "LINUX_ONLY_TRIED"


@cache
def rows() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads(LISTED.read_text())["linux"])


@cache
def _entries() -> dict[str, str]:
    """File, test, or test with its parameters -> why it needs Linux."""
    return {entry: row["why"] for row in rows() for entry in row["tests"]}


@cache
def _words() -> dict[str, str]:
    """A word in the name of a test with its parameters -> why."""
    return {word: row["why"] for row in rows() for word in row.get("words", ())}


def entry_of(nodeid: str) -> str | None:
    test = nodeid.removeprefix("tests/")
    found = [one for one in (test, test.partition("[")[0], test.partition("::")[0]) if one in _entries()]
    return found[0] if found else next((word for word in _words() if word in test), None)


def mark(config: pytest.Config, items: list[pytest.Item]) -> None:
    if sys.platform == "linux":
        return
    for item in items:
        if entry := entry_of(item.nodeid):
            why = {**_words(), **_entries()}[entry]
            is_tried = TRIED in os.environ
            left_out = pytest.mark.skip(reason=f"this machine is no Linux: {why}")
            item.add_marker(pytest.mark.xfail(strict=False, reason=why) if is_tried else left_out)
    if TRIED in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Tried())


class _Tried:
    """Turns the run red where all of an entry passes."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        entry = entry_of(report.nodeid) if hasattr(report, "wasxfail") else None
        if entry is not None:
            (self.passed if report.passed else self.failed).add(entry)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.passed - self.failed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for entry in sorted(self.passed - self.failed):
            terminalreporter.line(f"listed in linux_only.toml, and all of it passes without Linux: {entry}")

"""Why a test is skipped says what is missing, and CI accepts only what it cannot have (`--accept-skips`)."""

import os
import re
from pathlib import Path

import pytest

KINDS = {
    "root": re.compile(r"needs root\b"),
    "programs": re.compile(r"needs the program \S"),
    "proof": re.compile(r"NOT PROVEN HERE: "),  # support/told.py tells it, and `make release-check` fails
    "machine": re.compile(r"this (machine|kernel|file system) "),
}

_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
needs_two_cores = pytest.mark.skipif(_CORES < 2, reason="this machine has one core only")


class Skips:
    """A plugin that turns the run red when a test was skipped for a reason that nobody accepted."""

    def __init__(self, accepted: str) -> None:
        names = [name for name in accepted.split(",") if name]
        unknown = set(names) - set(KINDS)
        if unknown:
            raise pytest.UsageError(f"--accept-skips: {', '.join(sorted(unknown))} is not one of {', '.join(KINDS)}")
        self._accepted = [KINDS[name] for name in names]
        self._refused: dict[str, int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        why = reason_of(report)
        if not any(kind.match(why) for kind in self._accepted):
            said = f"{report.nodeid}: {why}"
            self._refused[said] = self._refused.get(said, 0) + 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._refused and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._refused:
            terminalreporter.section("skipped for a reason that is not accepted here")
            for said in self._refused:
                terminalreporter.line(said)


def reason_of(report: pytest.TestReport) -> str:
    where = report.longrepr
    why = where[2] if isinstance(where, tuple) else str(where)
    return why.removeprefix("Skipped: ")


def leave_out_unless_asked(marker: str, below: Path, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Naming the directory is not asking: what lies there takes minutes and root's rights."""
    if marker not in config.option.markexpr.replace(f"not {marker}", ""):
        here = [item for item in items if item.path.is_relative_to(below)]
        config.hook.pytest_deselected(items=here)
        items[:] = [item for item in items if item not in here]

"""Every example of every row as a real entry: found as its row, taken if it may go, kept if it may not."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tmpwarden.catalogue.load import load
from tmpwarden.catalogue.planting import Planted, directory_of, plant
from tmpwarden.model.sweep import Claim, Kind, Reason, Request, Thresholds, Tier
from tmpwarden.sweep import compose

ROWS = load(dirs=()).rows
YEAR_NS = 365 * 86400 * 10**9


def gone_pid() -> int:
    """The pid of a process that has ended."""
    return (
        subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True).stdout
        and _last_pid()
    )


def _last_pid() -> int:
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


@dataclass(frozen=True)
class Garden:
    """One temp root for each row, so that no row's entry hides another's; one home for all."""

    roots: tuple[str, ...]
    home: str
    planted: tuple[Planted, ...]

    def request(self, *, ask: bool = False) -> Request:
        return Request(roots=self.roots, home=self.home, thresholds=Thresholds(take_ask=ask))

    def of_tier(self, tier: Tier) -> list[Planted]:
        return [each for each in self.planted if each.is_match and each.row.tier is tier]


def later() -> int:
    return time.time_ns() + YEAR_NS


@pytest.fixture
def garden(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Garden]:
    home = own_world / "home"
    for kind in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.delenv(f"XDG_{kind}_HOME")
    planted: list[Planted] = []
    roots = []
    pid = _last_pid()
    for row in ROWS:
        root = own_world / "tmp" / row.key
        root.mkdir()
        roots.append(str(root))
        planted += plant(row, str(root), str(home), gone_pid=pid)
    monkeypatch.setenv("XDG_STATE_HOME", str(own_world / "state"))
    yield Garden(tuple(roots), str(home), tuple(planted))

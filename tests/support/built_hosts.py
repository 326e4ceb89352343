"""What tests on real hosts share: whether this machine can boot one, and the wheels that are taken there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hosts.host import build
from support.own_machine import REPOSITORY

BASE = Path(os.environ.get("TMPWARDEN_HOSTS", "/var/tmp/tmpwarden-hosts"))  # kept: the next run boots in seconds


def refuse_without(needed: Sequence[str]) -> None:
    """Somebody asked for these tests: where they cannot run they fail, and do not skip."""
    missing = [name for name in needed if not shutil.which(name)]
    if os.geteuid() != 0 or missing:
        pytest.fail(f"needs root and {', '.join(missing or needed)}")


def built(needed: Sequence[str]) -> Path:
    """The directory in which hosts are booted, once somebody has asked for them and this machine can."""
    refuse_without(needed)
    build(BASE)
    return BASE


def wheels_in(directory: Path) -> Path:
    """This working tree and what it needs; hosts have no network."""
    directory.mkdir(exist_ok=True)
    for old in directory.glob("tmpwarden-*.whl"):
        old.unlink()
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(directory), str(REPOSITORY)]
    subprocess.run(argv, check=True)
    return directory

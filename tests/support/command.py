"""The command, as a child process or as a call: what it said."""

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support import forked
from tmpwarden.cli.main import main

LATER = Path(__file__).parent / "later.py"
AHEAD = str(Path(__file__).parent / "ahead.py")  # any Python program, its whole clock moved
WHOLE_MACHINE = str(Path(__file__).parent / "whole_machine.py")  # the same, in a pid namespace that it takes for all


def tmpwarden(
    *args: str, stdin: str = "", env: Mapping[str, str] | None = None, later_s: float = 0
) -> "subprocess.CompletedProcess[str]":
    """Run it, `later_s` seconds from now if asked: the clock is an argument of main()."""
    start = [str(LATER)] if later_s else ["-m", "tmpwarden"]
    return forked.run(
        [sys.executable, *start, *args],
        input=stdin,
        env={**os.environ, **(env or {}), "LATER_S": str(later_s)},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=120,
        check=False,
    )


def answer(*args: str, later_s: float = 0) -> tuple[int, Any]:
    """(exit status, envelope) of a call in this process, which saves the start of an interpreter."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main([*args, "--json"], now_ns=lambda: time.time_ns() + int(later_s * 1e9))
    return status, json.loads(out.getvalue())


def data(*args: str, later_s: float = 0) -> Any:
    """`data` of a call that must succeed."""
    status, envelope = answer(*args, later_s=later_s)
    assert status == 0, envelope
    return envelope["data"]

"""The command as a child process, with this interpreter; what it said."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LATER = Path(__file__).parent / "later.py"


def tmpwarden(
    *args: str, stdin: str = "", env: Mapping[str, str] | None = None, later_s: float = 0
) -> "subprocess.CompletedProcess[str]":
    """Run it, `later_s` seconds from now if asked: the clock is an argument of main()."""
    start = [str(LATER)] if later_s else ["-m", "tmpwarden"]
    return subprocess.run(
        [sys.executable, *start, *args],
        input=stdin,
        env={**os.environ, **(env or {}), "LATER_S": str(later_s)},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=120,
        check=False,
    )


def data(*args: str, later_s: float = 0) -> Any:
    """`data` of a call that must succeed."""
    result = tmpwarden(*args, "--json", later_s=later_s)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)["data"]

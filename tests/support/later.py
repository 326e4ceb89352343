"""The command, run with a clock that is ahead by $LATER_S seconds: ctime cannot be set, so documentation runs later."""

import os
import sys
import time

from tmpwarden.cli.main import main

_AHEAD_NS = int(float(os.environ.get("LATER_S", "0")) * 1e9)  # read once: a child for another user has no such thing


def now_ns() -> int:
    return time.time_ns() + _AHEAD_NS


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], now_ns=now_ns))

"""Run a Python program with a clock that is ahead: `python ahead.py SECONDS (SCRIPT | -m MODULE) ARGUMENTS...`.

A ctime cannot be set back, and no variable of ours moves the clock; so the clock of the whole program is moved from
outside, before it has read it. What it forks runs ahead as well. The kernel's own stamps stay true.
"""

import sys
import time


def move(seconds: float) -> None:
    """From now on time.time and time.time_ns are `seconds` ahead in this process."""
    seconds_of, nanoseconds_of = time.time, time.time_ns
    time.time = lambda: seconds_of() + seconds
    time.time_ns = lambda: nanoseconds_of() + int(seconds * 1e9)


def run(words: list[str]) -> None:
    """As the interpreter itself would: __main__ is the program, sys.argv its words."""
    import runpy

    if words[0] == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    move(float(sys.argv[1]))
    if sys.path[0] == __file__.rpartition("/")[0]:
        del sys.path[0]  # this directory is no part of the program
    run(sys.argv[2:])

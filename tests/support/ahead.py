"""Run a Python program with a clock that is ahead: `python ahead.py SECONDS (SCRIPT | -m MODULE) ARGUMENTS...`.

A ctime cannot be set back, and no variable of ours moves the clock; so the clock of the whole program is moved from
outside, before it has read it. What it forks runs ahead as well. The kernel's own stamps stay true.
"""

import sys
import time

_ahead_s = 0.0


def move(seconds: float) -> None:
    """From now on time.time and time.time_ns are `seconds` ahead in this process: for all who read them after the first
    move, which therefore comes before anybody has kept the functions themselves."""
    global _ahead_s
    if time.time.__module__ == "time":
        seconds_of, nanoseconds_of = time.time, time.time_ns
        time.time = lambda: seconds_of() + _ahead_s
        time.time_ns = lambda: nanoseconds_of() + int(_ahead_s * 1e9)
    _ahead_s = seconds


def run(words: list[str]) -> None:
    """As the interpreter itself would: __main__ is the program, sys.argv its words."""
    if words[0] == "-m":
        import runpy

        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        run_script(words[0])


def run_script(path: str) -> None:
    """runpy would not tell a script its loader."""
    loader = type(__loader__)("__main__", path)  # type: ignore[name-defined]
    sys.modules["__main__"] = main = type(sys)("__main__")
    main.__file__, main.__loader__ = path, loader
    exec(compile(loader.get_data(path), path, "exec"), main.__dict__)


if __name__ == "__main__":
    move(float(sys.argv[1]))
    if sys.path[0] == __file__.rpartition("/")[0]:
        del sys.path[0]  # this directory is no part of the program
    run(sys.argv[2:])

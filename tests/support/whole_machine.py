"""Run a Python program to which this pid namespace is the machine: `python whole_machine.py AHEAD_S SCRIPT WORDS...`.

Real agents run in a pid namespace of their own, so that nobody else's processes are near. To the kernel it is one of
many, and from inside one "nobody uses this" is never known. Here nothing outside descends from it or has its files,
which a test knows and the program cannot: it is told, and the clock goes ahead as in ahead.py.
"""

import os
import sys

import ahead

from tmpwarden.oskit.system.linux import machine

if __name__ == "__main__":
    machine.INITIAL_PID_NAMESPACE = os.readlink("/proc/self/ns/pid")
    ahead.move(float(sys.argv[1]))
    ahead.run(sys.argv[2:])

"""A signal reaches the process that was judged or nobody, also when its number is used again in the same moment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tmpwarden

# Runs in a pid namespace of its own, in which we may say which number comes next.
REUSE = r"""
import os, signal, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
from tmpwarden.oskit.proc import grip, procs

window = sys.argv[2]
first = subprocess.Popen(["sleep", "60"])
start = procs.start_ticks(first.pid)
while procs.start_ticks(os.getpid()) is not None and time.clock_gettime(time.CLOCK_BOOTTIME) * 100 < start + 2:
    pass  # the kernel counts starts in hundredths of a second
successors = []

def strike(name):
    if name != window or successors:
        return
    first.kill()
    first.wait()
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(first.pid - 1))
    successors.append(subprocess.Popen(["sleep", "61"]))

grip._race_window = strike
held = grip.take_hold(first.pid, start)
assert successors and successors[0].pid == first.pid, "the number was not used again"
if held is not None:
    held.send(signal.SIGKILL)
    successors[0].wait(10)
print("gripped" if held else "refused", "alive" if successors[0].poll() is None else "dead")
successors[0].kill()
"""


@pytest.mark.parametrize("window", ["judged, not yet gripped", "gripped, not yet compared"])
def test_a_number_that_is_used_again_is_not_signalled(tmp_path: Path, window: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to make a pid namespace")
    source = str(Path(tmpwarden.__file__).parents[1])
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-I", "-c", REUSE, source, window],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["refused", "alive"], done.stderr

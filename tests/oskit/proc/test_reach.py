"""Asking whether a path can be touched, from where a program happens to be."""

import subprocess
import sys
from pathlib import Path

ASK = """
import os, sys
from tmpwarden.oskit.proc.mountinfo import Mount
from tmpwarden.oskit.proc.reach import Reach
os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])
reach = Reach(None)
reach.risky["/srv/elsewhere"] = Mount(1, 0, "0:1", "/", "/srv/elsewhere", "rw", "nfs4")
print(reach.frozen("/tmp"))
"""


def test_a_program_without_a_working_directory_can_ask_beside_a_network_mount(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "gone")], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("None\n", "")

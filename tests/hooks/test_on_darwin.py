"""On a Mac, too, what every tool call starts loads no ctypes: that alone costs 3 ms."""

import json
import subprocess
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN

PAYLOAD = {
    "session_id": "s",
    "cwd": "/",
    "tool_name": "Bash",
    "tool_use_id": "t",
    "tool_input": {"command": "mktemp /tmp/x.XXXX; echo hi > /tmp/x"},
}
AS_ON_A_MAC = f"""
import sys
sys.platform = "darwin"
sys.argv[0] = {str(RUN)!r}
sys.path[0:0] = [{str(RUN.parent)!r}]
loader = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", sys.argv[0])
exec(loader.get_code("__main__"), {{"__name__": "__main__", "__file__": sys.argv[0], "__loader__": loader}})
"""


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
@pytest.mark.parametrize("guarded", [True, False])
def test_a_hook_around_a_tool_call_loads_no_ctypes(event: str, guarded: bool, own_world: Path) -> None:
    if guarded:
        config = own_world / "config" / "tmpwarden" / "config.toml"
        config.parent.mkdir()
        config.write_text('[guard]\npresets = ["sandbox", "destructive"]\n[redirect]\ntmp = true\nown = true\n')
    argv = [PYTHON, "-I", "-S", "-X", "importtime", "-c", AS_ON_A_MAC, "claude", event]
    for _ in range(2):  # the first call compiles modules and rules
        done = subprocess.run(argv, input=json.dumps(PAYLOAD).encode(), capture_output=True, check=True)
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert loaded & {"ctypes", "_ctypes"} == set()

"""Names in /tmp with the real Claude Code: owned by default, led with `tmp = true`; its files are found both ways."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.harness import TMPWARDEN, bash, run_claude, tool_results
from support.bases import base_for_all

pytestmark = pytest.mark.clients
INSTALL = f"{TMPWARDEN} install claude --guard"
CONFIG = "~/.config/tmpwarden"
LEADING = f"{INSTALL} && mkdir -p {CONFIG} && printf '[redirect]\\ntmp = true\\n' > {CONFIG}/config.toml"
WAYS = pytest.mark.parametrize("way", [INSTALL, LEADING], ids=["owned", "led"])
USE = "import json; print('got', json.load(open('/tmp/data.json')))"
SCRATCH = r"/tmp/tmpwarden-1000/[0-9a-f]{8}"


def call(tool: str, **given: str) -> dict[str, object]:
    return {"tool": tool, "input": given | ({"description": "look"} if tool == "Bash" else {})}


def script(*calls: dict[str, object], **more: list[dict[str, object]]) -> str:
    return json.dumps({"scripts": {"main": [*calls, {"text": "done"}], **more}})


@pytest.fixture
def shared() -> Iterator[Path]:
    with base_for_all() as base:
        base.chmod(0o777)
        yield base


@WAYS
def test_the_second_call_finds_what_the_first_one_wrote(way: str) -> None:
    result = run_claude(bash("echo first-call > /tmp/note.txt", "cat /tmp/note.txt; rm /tmp/note.txt"), "--pre", way)
    told = tool_results(result)
    assert re.search(r"first-call\\*n?", told.rpartition("cat /tmp/note.txt")[2])
    assert "No such file" not in told
    assert bool(re.search(rf"/tmp/note.txt is {SCRATCH}/note.txt", told)) == (way == LEADING)


@WAYS
def test_a_script_that_claude_wrote_opens_the_data_that_claude_wrote(way: str) -> None:
    result = run_claude(
        script(
            call("Write", file_path="/tmp/data.json", content='{"answer": 42}'),
            call("Write", file_path="/tmp/use.py", content=USE),
            call("Bash", command="python3 /tmp/use.py"),
            call("Edit", file_path="/tmp/data.json", old_string="42", new_string="43"),
            call("Bash", command="python3 /tmp/use.py"),
        ),
        "--pre", way,
    )  # fmt: skip
    told = tool_results(result)
    assert "got {'answer': 42}" in told
    assert "got {'answer': 43}" in told


@WAYS
def test_a_subagent_and_its_session_see_the_same_file(way: str) -> None:
    ask = {"description": "look", "prompt": "SCRIPT:sub please", "subagent_type": "general-purpose"}
    sub = [call("Bash", command="cat /tmp/shared.txt; echo from-sub > /tmp/back.txt"), {"text": "done"}]
    result = run_claude(
        script(
            call("Bash", command="echo from-main > /tmp/shared.txt"),
            {"tool": "Agent", "input": ask},
            call("Bash", command="sleep 6"),  # it runs beside its session
            call("Bash", command="cat /tmp/back.txt"),
            sub=sub,
        ),
        "--pre", way,
    )  # fmt: skip
    told = tool_results(result)
    assert "from-main" in told
    assert "from-sub" in told
    assert "No such file" not in told


def test_what_claude_made_by_name_is_its_own_and_stays_after_it() -> None:
    clean = f"sleep 63; {TMPWARDEN} clean --yes; ls -A /tmp | sed 's/^/left: /'"
    clean += f"; {TMPWARDEN} why --json /tmp/one.txt /tmp/three.json /tmp/hostname | tr -d ' '"
    result = run_claude(
        script(
            call("Bash", command="echo x > /tmp/one.txt && cp /etc/hostname /tmp/"),
            call("Write", file_path="/tmp/three.json", content="{}"),
        ),
        "--pre", f"echo mine > /tmp/user.txt && {INSTALL}", "--post", clean, "--settle", "2",
    )  # fmt: skip
    said = result["post"]
    assert isinstance(said, dict)
    for name in ("one.txt", "three.json", "hostname"):
        assert f"left: {name}" in said["out"], said
    assert said["out"].count('"owned":true') == 3, said
    assert "left: user.txt" in said["out"]


@WAYS
def test_a_resumed_claude_finds_what_it_had_made_by_name(shared: Path, way: str) -> None:
    home, temp, work = (shared / name for name in ("home", "tmp", "work"))
    clean = f"{TMPWARDEN} clean --yes"
    first = run_claude(bash("echo kept > /tmp/note.txt"), "--pre", way, "--post", clean, "--settle", "2",
                       "--work", str(work), home=home, tmp=temp)  # fmt: skip
    assert first["rc"] == 0
    again = run_claude(bash("cat /tmp/note.txt"), "--work", str(work), "--", "--continue", home=home, tmp=temp)
    assert "kept" in tool_results(again).rpartition("cat /tmp/note.txt")[2]

"""The guard inside the real Claude Code, in its manual permission mode: it grants what it should, and nothing else."""

import json
import re
import shlex

import pytest

from clients.harness import PLUGIN, TMPWARDEN, bash, run_claude, tool_results

pytestmark = pytest.mark.clients
INSTALL = f"{TMPWARDEN} install claude --guard"
MANUAL = ("--mode", "default", "--pre", INSTALL)
NOT_GRANTED = re.compile(
    r"requires approval|haven't granted|requested permission|Allowing runs the command", re.IGNORECASE
)
SCRATCH = r"/tmp/tmpwarden-1000/[0-9a-f]{8}"


def script(*calls: dict[str, object]) -> str:
    return json.dumps({"scripts": {"main": [*calls, {"text": "done"}]}})


def test_a_download_to_tmp_is_still_asked_about() -> None:
    result = run_claude(bash("curl -o /tmp/x http://127.0.0.1:1/"), *MANUAL)
    assert NOT_GRANTED.search(tool_results(result))


def test_removing_inside_the_scratch_is_not_asked_about() -> None:
    """`tmp = true`: what is led there is free."""
    commands = ("mkdir -p /tmp/build/out && touch /tmp/build/out/f", "rm -rf /tmp/build && mkdir /tmp/proof")
    config = "mkdir -p ~/.config/tmpwarden && printf '[redirect]\\ntmp = true\\n' > ~/.config/tmpwarden/config.toml"
    result = run_claude(bash(*commands), "--mode", "default", "--pre", f"{INSTALL} && {config}", "--settle", "0")
    assert not NOT_GRANTED.search(tool_results(result))
    written = json.dumps([result["remained"], result["seen_then_gone"]])
    assert re.search(rf"{SCRATCH}/build", written)
    assert re.search(r"/proof", written)
    assert not re.search(r'"/tmp/(build|proof)', written)


LED = "mkdir -p ~/.config/tmpwarden && printf '[redirect]\\ntmp = true\\n' > ~/.config/tmpwarden/config.toml"


def test_read_follows_a_name_that_was_led_and_a_look_into_tmp_is_told_where_it_is() -> None:
    """Sessions of this version have no Grep and no Glob: they are told to use grep and find."""
    calls = (
        {"tool": "Bash", "input": {"command": "echo needle > /tmp/led.txt", "description": "write"}},
        {"tool": "Read", "input": {"file_path": "/tmp/led.txt"}},
        {"tool": "Bash", "input": {"command": "ls /tmp", "description": "look"}},
    )
    result = run_claude(script(*calls), "--pre", f"{LED} && {INSTALL}", "--mode", "bypassPermissions", "--settle", "0")
    asked = [request for request in result["requests"] if request.get("script") == "main"]
    told = [str(one["content"]) for request in asked for one in request.get("tool_results", ())]
    assert len(told) == len(calls), told
    assert "needle" in told[1], told
    assert "led.txt" not in told[2], told  # the real /tmp has no such name
    assert re.search(rf"{SCRATCH}/led.txt", json.dumps(asked[-1])), json.dumps(asked[-1])[-3000:]


def test_without_the_guard_the_same_removal_is_asked_about() -> None:
    assert NOT_GRANTED.search(tool_results(run_claude(bash("rm -rf /tmp/build"), "--mode", "default")))


def test_removing_outside_is_asked_about_also_when_everything_is_bypassed() -> None:
    result = run_claude(bash("rm -rf /home/agent/other"), "--pre", INSTALL)
    assert NOT_GRANTED.search(tool_results(result)) or "outside the scratch" in tool_results(result)


def test_a_file_written_to_tmp_can_be_edited_within_the_turn() -> None:
    """Claude checks an Edit before any hook sees it, so a Write is never led."""
    result = run_claude(
        script(
            {"tool": "Write", "input": {"file_path": "/tmp/a", "content": "one\n"}},
            {"tool": "Edit", "input": {"file_path": "/tmp/a", "old_string": "one", "new_string": "two"}},
            {"tool": "Bash", "input": {"command": "cat /tmp/a", "description": "look"}},
        ),
        "--pre", INSTALL,
    )  # fmt: skip
    told = tool_results(result)
    assert "does not exist" not in told
    assert re.search(r"two\\*n?", told)


# An MCP server that has one tool and writes down each call of it.
SERVER = r"""
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    known = {
        "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "pond", "version": "1"}},
        "tools/list": {"tools": [{"name": "fish", "description": "fish", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "a fish was caught"}]},
    }
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": known.get(asked["method"], {})}), flush=True)
"""
RULES = '[[guard.tools]]\ntool = "WebFetch|mcp__pond__*"\ndecision = "deny"\ndescription = "No fishing here."\n'
CONFIGURED = f"mkdir -p ~/.config/tmpwarden && printf %s {shlex.quote(RULES)} > ~/.config/tmpwarden/config.toml"
CALLS = {
    "WebFetch": {"tool": "WebFetch", "input": {"url": "http://127.0.0.1:1/", "prompt": "look"}},
    "mcp": {"tool": "mcp__pond__fish", "input": {}},
}


@pytest.mark.parametrize("with_plugin", [False, True], ids=["", "plugin"])
@pytest.mark.parametrize("tool", CALLS)
def test_a_rule_about_a_tool_that_is_no_shell_and_no_file_tool_speaks(tool: str, with_plugin: bool) -> None:
    """With the plugin on as without: it has no hook before tool calls, the install has."""
    servers = {"mcpServers": {"pond": {"command": "/usr/bin/python3", "args": ["-c", SERVER]}}}
    plugin = ("--plugin-dir", str(PLUGIN)) if with_plugin else ()
    words = ("--", "--mcp-config", json.dumps(servers), "--strict-mcp-config", "--")
    told = {}
    for name, before in (("ruled", f"{CONFIGURED} && {INSTALL}"), ("free", INSTALL)):
        result = run_claude(script(CALLS[tool]), *plugin, "--pre", before, *words)
        told[name] = tool_results(result)
    assert "No fishing here." in told["ruled"]
    assert "No fishing here." not in told["free"]
    assert tool != "mcp" or ("a fish was caught" in told["free"] and "a fish was caught" not in told["ruled"])

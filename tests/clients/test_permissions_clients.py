"""Real agents with our hooks in ask their user for what they ask without us, no more and no less."""

import functools
import json
import re

import pytest

from clients.harness import BREAK, PLUGIN, bash, heard, install, plain_run, run_agent, run_claude

pytestmark = pytest.mark.clients
OTHERS = ("codex", "gemini", "copilot", "opencode", "qwen")


@pytest.mark.parametrize("command", ["touch made-without-asking", "ls"])
def test_claude_asks_for_the_same_permissions_with_us(command: str) -> None:
    def outcome(*options: str) -> str:
        result = run_claude(bash(command), "--mode", "default", *options)
        return json.dumps(result["result"]["permission_denials"])  # type: ignore[index]

    def shape(text: str) -> str:
        return re.sub(r"toolu_\w+", "*", text)

    plain = shape(outcome())
    assert shape(outcome("--plugin-dir", str(PLUGIN))) == plain
    assert shape(outcome("--pre", install("claude", "--guard"))) == plain
    assert shape(outcome("--pre", f"{install('claude')} && {BREAK}")) == plain


# What leaves each agent its own questions: in a run without a person they are answered with no.
STRICT = {
    "codex": lambda argv: [word for word in argv if word != "--dangerously-bypass-approvals-and-sandbox"],
    "gemini": lambda argv: [word for word in argv if word != "--yolo"],
    "copilot": lambda argv: [word for word in argv if not word.startswith("--allow-all")],
    "opencode": list,
    "qwen": lambda argv: [word for word in argv if word != "--yolo"],
}
ASKING = {"opencode": """sed -i 's/"bash": "allow"/"bash": "ask"/' ~/.config/opencode/opencode.json"""}


def asked(agent: str, setup: str) -> tuple[object, ...]:
    """What the user hears, whether the command ran all the same, and what the model is told about it."""
    argv = plain_run(agent)["argv"]
    assert isinstance(argv, list)
    result = run_agent(
        agent, "--cmd", "touch made-without-asking", "--argv", "\x1f".join(STRICT[agent](argv)),
        setup=f"{ASKING.get(agent, 'true')} && {setup}",
    )  # fmt: skip
    made = [entry["path"] for entry in result["work"] if "made-without" in entry["path"]]  # type: ignore[attr-defined]
    told = [str(request.get("last")) for request in result["model"] if request.get("tool")]  # type: ignore[attr-defined]
    changing = r"[0-9a-f-]{36}|\w+_[0-9a-f-]{8,}|Chunk ID: \w+|\d+(\.\d+)?"
    return *heard(result), made, re.sub(changing, "*", "".join(told[-1:]))  # Gemini does not even offer its shell then


@functools.cache
def asked_without_us(agent: str) -> tuple[object, ...]:
    return asked(agent, "true")


@pytest.mark.parametrize("how", ["hooks", "guard", "broken"])
@pytest.mark.parametrize("agent", OTHERS)
def test_an_agent_asks_for_the_same_permissions_with_us(agent: str, how: str) -> None:
    setup = {"hooks": install(agent), "guard": install(agent, "--guard"), "broken": f"{install(agent)} && {BREAK}"}[how]
    assert asked(agent, setup) == asked_without_us(agent)

"""Of everyday commands, also of those that were written without a look at the rules, at most one in fifty is asked
about, and none is denied. Inline code is judged by what it does, and never earns an allow."""

from pathlib import Path

import pytest

from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import ToolCall
from tmpwarden.oskit.files.disk import Disk

CASES = Path(__file__).parent / "cases"
SCRATCH = "/tmp/tmpwarden-1000/0a1b2c3d"


def commands(name: str) -> list[str]:
    lines = (CASES / name).read_text().splitlines()
    return [line.replace("\\n", "\n").replace("\\t", "\t") for line in lines if line and not line.startswith("# ")]


@pytest.mark.parametrize("preset", ["sandbox", "claude"])
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("everyday.txt", 250),
        ("everyday_of_teams.txt", 100),
        ("everyday_of_stack.txt", 370),
        ("everyday_of_seven.txt", 720),
        ("everyday_of_sessions.txt", 245),
        ("everyday_of_others.txt", 150),
        ("everyday_afterwards.txt", 95),
        ("everyday_of_fifth.txt", 300),
        ("everyday_of_sixth.txt", 160),
        ("everyday_of_seventh.txt", 180),
        ("everyday_of_eighth.txt", 95),
        ("everyday_of_ninth.txt", 165),
    ],
)
def test_at_most_two_in_a_hundred_everyday_commands_are_asked_about(
    tmp_path: Path, preset: str, name: str, least: int
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "src" / "main.py").write_text("print(1)\n")
    context = context_with(
        scratch=SCRATCH, project=str(tmp_path), cwd=str(tmp_path), home="/home/u", uid=1000, look=Disk().look,
        variables={"TMPDIR": SCRATCH}, own=("/tmp/claude-1000", "/home/u/.claude"), is_plain=Disk().is_plain,
        owns=lambda path: True,
    )  # fmt: skip
    rules = load((), preset=preset).rules
    lines = commands(name)
    said = {line: evaluate(ToolCall("claude", "shell", command=line), rules, context) for line in lines}
    asked = [(line, decision.reason) for line, decision in said.items() if decision.verdict in ("ask", "deny")]
    assert len(lines) >= least
    assert len(asked) <= max(2, len(lines) * 0.02), asked
    assert not any(decision.verdict == "deny" for decision in said.values())


@pytest.mark.parametrize(
    "command",
    [
        'python3 -c "print(1)"',
        "python3 - <<'E'\nopen('a', 'w')\nE",
        'node -e "console.log(1)"',
        "awk '{print > \"out/a\"}' f",
        "echo 'print(1)' > x.py; python3 x.py",
    ],
)
def test_code_that_was_only_looked_at_earns_no_allow(tmp_path: Path, command: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[guard]\nallow = ["python3", "node", "awk", "echo"]\n[[guard.redirects]]\nmode = "write"\n'
                      'glob = ["*"]\ndecision = "allow"\n')  # fmt: skip
    project = str(tmp_path / "project")
    context = context_with(
        scratch=SCRATCH, project=project, cwd=project, home="/home/u", uid=1000, look=Disk().look,
        variables={"TMPDIR": SCRATCH},
    )  # fmt: skip
    loaded = load((str(config),))
    assert not loaded.is_broken, loaded.mistakes
    assert evaluate(ToolCall("claude", "shell", command=command), loaded.rules, context).verdict == "pass"
    assert evaluate(ToolCall("claude", "shell", command="awk '{print $1}' f"), loaded.rules, context).verdict == "allow"

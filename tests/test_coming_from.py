"""docs/coming-from.md: every new line runs as it stands there, in a world of its own."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import tmpwarden
from support import console
from tmpwarden.catalogue.settings import load_settings

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"
ROWS = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and not line.startswith("| before")]
CELLS = [re.split(r"(?<!\\)\|", line)[1:4] for line in ROWS]
LINES = {f"{number}: {each}": each for number, (_, new, _) in enumerate(CELLS) for each in re.findall("`([^`]+)`", new)}
BESIDE = sorted({each for _, _, words in CELLS for each in re.findall(r"`(tmpwarden [^`]+)`", words)})
FENCEPOST = "import: [claude]\ndeny:\n  - prefix: curl\n    description: no network\n"
CRON = re.compile(r"(?:[\d*]+ ){5}")


def of(start: str) -> list[str]:
    return [each for each in LINES if LINES[each].startswith(start)]


def test_every_row_has_a_new_line_and_each_is_of_a_kind_that_is_run() -> None:
    assert len(LINES) >= len(CELLS) > 40
    kinds = ("tmpwarden ", "[", "tmpwarden.", "with tmpwarden.", "0 * * * * tmpwarden ")
    assert [each for each in LINES.values() if not each.startswith(kinds)] == []


def ran(command: str, world: Path) -> "subprocess.CompletedProcess[str]":
    """`install` only shows what it would do: the schedulers are the machine's."""
    command = command.replace("/tmp", str(world / "tmp"))
    if command.startswith("tmpwarden install"):
        command += " --dry-run"
    env = console.environment(world)
    done = subprocess.run(
        ["sh", "-c", command], cwd=world / "home", env=env, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("line", [*of("tmpwarden "), *of("0 * * * * "), *BESIDE])
def test_a_command_runs(own_world: Path, line: str) -> None:
    command = CRON.sub("", LINES.get(line, line))
    (own_world / "home" / ".claude").mkdir()
    (own_world / "home" / ".claude" / "fencepost.yaml").write_text(FENCEPOST)
    (own_world / "tmp" / "moat-aws-1234567890").mkdir(mode=0o700)
    with console.litter(own_world):
        done = ran(command, own_world)
    if "no systemd, launchd or cron" in done.stderr:
        return  # a machine of tests: tests/setup/test_timer.py has all three
    asks = command == "tmpwarden clean --agent moat"
    allowed = {4} if asks else {0, 2} if "doctor" in command or "import" in command else {0}
    assert done.returncode in allowed, (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("line", of("["))
def test_a_setting_is_understood_without_a_word(own_world: Path, line: str) -> None:
    header, _, rest = LINES[line].partition("] ")
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(mode=0o700)
    config.write_text(f"{header}]\n{rest}\n")
    settings = load_settings()
    assert (settings.warnings, settings.unread) == ((), ())
    (own_world / "home").mkdir(exist_ok=True)
    for command in ("tmpwarden guard verify", "tmpwarden clean --dry-run"):
        done = subprocess.run(
            ["sh", "-c", command], env=_environment(own_world), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done


def _environment(world: Path) -> dict[str, str]:
    tools = world / "bin"
    return console.environment(world) if not tools.exists() else {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


@pytest.mark.parametrize("line", [*of("tmpwarden."), *of("with ")])
def test_an_expression_of_python_runs(own_world: Path, line: str) -> None:
    exec(LINES[line], {"tmpwarden": tmpwarden})

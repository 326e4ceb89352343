"""`tmpwarden agents`: the table, one agent, and a file on trial."""

import json
from pathlib import Path

import pytest

from support.command import data, tmpwarden
from tmpwarden.catalogue.load import BUILT_IN, load

ACME = """\
schema = 1
[agent]
id = "acme"
name = "Acme"
[[litter]]
id = "run"
in = "{tmp}"
name = "acme-run-(?P<pid>[0-9]+)"
kind = "dir"
tier = "ask"
worth = "some"
owner = "pid-in-name"
why = "one run"
seen = ["acme#1"]
matches = ["acme-run-4711"]
spares = ["acme-run-x"]
[[litter]]
id = "chats"
in = "{home}/.acme"
name = "chats"
kind = "dir"
tier = "never"
worth = "some"
owner = "none"
why = "chats"
seen = ["acme#2"]
matches = ["chats"]
spares = ["chats.bak"]
"""


def test_the_table_has_a_line_for_every_agent() -> None:
    lines = tmpwarden("agents").stdout.splitlines()
    assert lines[0].split() == ["AGENT", "ROWS", "AUTO", "ASK", "NEVER", "VERIFIED", "NAME"]
    assert [line.split()[0] for line in lines[1:]] == [agent.id for agent in load(dirs=()).agents]
    claude = next(line for line in lines if line.startswith("claude "))
    assert "2.1.325" in claude


def test_programs_get_counts_by_tier() -> None:
    claude = next(agent for agent in data("agents")["agents"] if agent["id"] == "claude")
    assert claude["rows"] == sum(claude["tiers"].values()) > 30


def test_one_agent_is_shown_with_every_row_and_what_was_fixed_upstream() -> None:
    said = tmpwarden("agents", "show", "claude").stdout
    assert "fixed upstream in 2.1.7, older files remain" in said
    assert "{tmp}/claude-[0-9a-f]{4}-cwd" in said
    row = next(row for row in data("agents", "show", "claude")["litter"] if row["id"] == "cwd-marker")
    assert (row["tier"], row["worth"], row["max_age_s"], row["seen"][0]) == (
        "auto",
        "none",
        60,
        "anthropics/claude-code#8856",
    )


def test_an_unknown_agent_is_exit_3_with_the_nearest_name() -> None:
    result = tmpwarden("agents", "show", "cluade")
    assert result.returncode == 3
    assert "did you mean claude?" in result.stderr


def test_a_good_file_passes_its_trial(own_world: Path) -> None:
    (own_world / "acme.toml").write_text(ACME)
    result = tmpwarden("agents", "try", str(own_world / "acme.toml"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "acme.run: ask, 1 example taken, 1 kept",
        "acme.chats: never, 0 examples taken, 2 kept",
        "Every check passed. To use it, copy it to ~/.config/tmpwarden/agents.d.",
    ]


def test_a_trial_touches_nothing_of_the_users(own_world: Path) -> None:
    """Also when the user has just what the file's examples are called."""
    (own_world / "acme.toml").write_text(ACME)
    (own_world / "tmp" / "acme-run-4711").mkdir()
    (own_world / "home" / ".acme" / "chats").mkdir(parents=True)
    before = sorted(own_world.rglob("*"))
    assert tmpwarden("agents", "try", str(own_world / "acme.toml")).returncode == 0
    assert [path for path in sorted(own_world.rglob("*")) if "tmpwarden-try-" not in str(path)] == before


def test_a_row_that_another_agent_claims_fails_its_trial(own_world: Path) -> None:
    greedy = ACME.replace("acme-run-(?P<pid>[0-9]+)", "claude-4711-cwd").replace('"dir"', '"file"', 1)
    greedy = greedy.replace("acme-run-4711", "claude-4711-cwd").replace('"pid-in-name"', '"none"', 1)
    (own_world / "acme.toml").write_text(greedy)
    result = tmpwarden("agents", "try", str(own_world / "acme.toml"), "--json")
    answer = json.loads(result.stdout)
    assert result.returncode == 3 and answer["error"]["code"] == "bad-config"
    assert "was found as claude.cwd-marker" in answer["data"]["complaints"][0]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('tier = "ask"', 'tier = "auto"', "acme.toml:5: row run, key verified: a row of tier auto needs it"),
        ('kind = "dir"', 'kind = "folder"', "acme.toml:9: row run, key kind: must be one of"),
        ("schema = 1", "schema = ", "acme.toml:1: not TOML"),
    ],
)
def test_a_file_that_breaks_a_law_is_refused_by_line(own_world: Path, before: str, after: str, said: str) -> None:
    (own_world / "acme.toml").write_text(ACME.replace(before, after, 1))
    result = tmpwarden("agents", "try", str(own_world / "acme.toml"))
    assert result.returncode == 3
    assert said in result.stderr


def test_a_missing_file_is_exit_3() -> None:
    assert tmpwarden("agents", "try", "/nowhere/acme.toml").returncode == 3


def test_a_file_of_the_package_may_do_what_built_in_files_may() -> None:
    result = tmpwarden("agents", "try", f"{BUILT_IN}/opencode.toml")
    assert result.returncode == 0, result.stderr


def test_a_broken_drop_in_is_a_warning(own_world: Path) -> None:
    drop_ins = own_world / "config" / "tmpwarden" / "agents.d"
    drop_ins.mkdir(parents=True)
    (drop_ins / "acme.toml").write_text("schema = 1\n[agent\n")
    result = tmpwarden("agents")
    assert result.returncode == 0
    assert f"{drop_ins}/acme.toml:2: not TOML" in result.stderr

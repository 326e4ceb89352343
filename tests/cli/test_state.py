"""`scan --state`: what agents keep in the home, each file once, and what is lost when it goes. Nothing is removed."""

import os
from pathlib import Path

import pytest

from support.command import data, tmpwarden
from support.litter import snapshot
from tmpwarden.catalogue import state_rows
from tmpwarden.catalogue.files import BUILT_IN

SIX = ("claude", "codex", "copilot", "gemini", "opencode", "qwen")
SESSION = "5e551011-0000-4000-8000-000000000001"


@pytest.fixture
def home(own_world: Path) -> Path:
    return Path(os.environ["HOME"])


def write(path: Path, size: int, *, days_old: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    if days_old:
        seconds = path.stat().st_mtime - days_old * 86400
        os.utime(path, (seconds, seconds))


def told() -> dict[str, dict[str, object]]:
    return {f"{each['agent']}.{each['id']}": each for each in data("scan", "--state")["state"]}


def test_kinds_are_told_with_size_age_and_what_the_last_week_added(home: Path) -> None:
    write(home / ".claude" / "projects" / "-p" / f"{SESSION}.jsonl", 100_000, days_old=40)
    write(home / ".claude" / "projects" / "-p" / f"{SESSION[:-1]}2.jsonl", 50_000)
    write(home / ".claude" / "projects" / "-p" / "memory" / "MEMORY.md", 10)
    found = told()
    transcripts = found["claude.transcripts"]
    assert transcripts["files"] == 2
    assert int(str(transcripts["bytes"])) >= 150_000 > int(str(transcripts["week_bytes"])) >= 50_000
    assert int(str(transcripts["oldest_seconds"])) >= 40 * 86400 - 60
    assert transcripts["command"] == "cleanupPeriodDays in ~/.claude/settings.json"
    assert found["claude.memory"]["files"] == 1
    shown = " ".join(tmpwarden("scan", "--state").stdout.split())
    assert "sessions can no longer be resumed" in shown and "never removes any of it" in shown


def test_nothing_is_removed_and_only_the_agent_that_was_asked_for_is_told(home: Path) -> None:
    write(home / ".codex" / "sessions" / "2026" / "a.jsonl", 1000)
    write(home / ".qwen" / "projects" / "a.jsonl", 1000)
    before = snapshot(home)
    assert set(told()) == {"codex.transcripts", "qwen.transcripts"}
    assert [each["agent"] for each in data("scan", "--state", "--agent", "qwen")["state"]] == ["qwen"]
    assert snapshot(home) == before


def test_each_file_counts_once_and_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    write(home / ".claude" / "debug" / "a.txt", 100_000)
    os.link(home / ".claude" / "debug" / "a.txt", home / ".claude" / "debug" / "b.txt")
    write(tmp_path / "elsewhere" / "big", 1_000_000)
    (home / ".claude" / "debug" / "link").symlink_to(tmp_path / "elsewhere")
    logs = told()["claude.logs"]
    assert int(str(logs["bytes"])) < 200_000


def test_what_the_home_holds_beside_is_not_looked_at(home: Path) -> None:
    write(home / "books" / "ledger.db", 1000)
    write(home / ".claude.json", 10)
    assert set(told()) == {"claude.config"}


@pytest.mark.parametrize("agent", SIX)
def test_every_file_in_an_agents_own_directory_belongs_to_one_kind(agent: str) -> None:
    mine = [row for row in state_rows.rows() if row.agent == agent]
    places = {row.place for row in mine if row.place != "{home}"}
    for place in places:
        rows = [row for row in mine if row.place == place]
        if len(rows) > 1:
            assert rows[-1].paths == ("*",), f"{place}: the last row takes what the others leave"
        sorter = state_rows.Sorter(rows)
        for row in rows[:-1]:
            for path in row.paths:
                name = path.replace("*", "x1")
                assert sorter.row_of(name) is not None and sorter.row_of(f"{name}/deep/er") is sorter.row_of(name)
                assert sorter.row_of(name) in rows[: rows.index(row) + 1]
    assert Path(BUILT_IN, f"{agent}.toml").is_file() and len({row.id for row in mine}) == len(mine)


def test_a_star_takes_one_component() -> None:
    row = next(row for row in state_rows.rows() if row.key == "claude.memory")
    sorter = state_rows.Sorter([row])
    assert sorter.row_of("projects/-p/memory/MEMORY.md") is row
    assert sorter.row_of("projects/-p/x/memory/MEMORY.md") is None
    assert sorter.row_of("projects/-p/memory2") is None

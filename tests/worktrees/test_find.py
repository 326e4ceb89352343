"""Worktrees are found where the catalogue says, and through the repositories met there."""

import json
import os
import time
from pathlib import Path

import pytest

from support.command import answer, data
from support.repos import git
from tmpwarden.catalogue import worktrees as catalogue
from tmpwarden.catalogue.fields import Reading
from tmpwarden.cli.main import main as main_command
from worktrees import shapes


@pytest.fixture
def home(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No root is named, so that places in the home count."""
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    monkeypatch.chdir(own_world)
    return own_world / "home"


def listed(*arguments: str, later_s: float = 0) -> dict[str, str | None]:
    trees = data("worktrees", *arguments, later_s=later_s)["worktrees"]
    return {each["path"]: each["made_by"] for each in trees}


def known_to_claude(home: Path, project: Path) -> None:
    (home / ".claude.json").write_text(json.dumps({"projects": {str(project): {}}, "other": [1, "/nowhere"]}))


def test_worktrees_of_known_projects_and_in_known_places_are_found(home: Path, tmp_path: Path) -> None:
    main = shapes.project(tmp_path)
    known_to_claude(home, main)
    git(main, "worktree", "add", "-q", "-b", "a", str(main / ".claude" / "worktrees" / "a"))
    git(main, "worktree", "add", "-q", "-b", "b", str(home / ".codex" / "worktrees" / "1a2b" / "project"))
    git(main, "worktree", "add", "-q", "-b", "c", str(tmp_path / "mine"))
    git(home, "clone", "-q", str(main), ".t3/worktrees/x")
    (home / ".t3" / "worktrees" / "empty").mkdir()
    assert listed() == {
        str(main / ".claude" / "worktrees" / "a"): "claude.project-worktrees",
        str(home / ".codex" / "worktrees" / "1a2b" / "project"): "codex.worktrees",
        str(home / ".t3" / "worktrees" / "x"): "orchestrators.t3",
        str(tmp_path / "mine"): None,
    }


def test_projects_that_geminis_own_list_names_are_looked_at(home: Path, tmp_path: Path) -> None:
    main = shapes.project(tmp_path)
    (home / ".gemini").mkdir()
    (home / ".gemini" / "projects.json").write_text(json.dumps({"projects": {str(main): "project"}}))
    git(main, "worktree", "add", "-q", "-b", "a", str(main / ".gemini" / "worktrees" / "a"))
    assert listed() == {str(main / ".gemini" / "worktrees" / "a"): "gemini.worktrees"}


def test_the_repository_one_stands_in_counts(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = shapes.plain(tmp_path)
    assert listed() == {}
    monkeypatch.chdir(tmp_path / "project")
    assert listed() == {str(tree): None}


def test_who_stands_in_a_directory_that_is_gone_sees_the_others(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = shapes.project(tmp_path)
    known_to_claude(home, main)
    git(main, "worktree", "add", "-q", "-b", "a", str(main / ".claude" / "worktrees" / "a"))
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert list(listed()) == [str(main / ".claude" / "worktrees" / "a")]


def test_vibe_kanbans_worktrees_in_a_temp_root_are_found(own_world: Path, tmp_path: Path) -> None:
    main = shapes.project(tmp_path)
    tree = own_world / "tmp" / "vibe-kanban" / "worktrees" / "x"
    git(main, "worktree", "add", "-q", "-b", "x", str(tree))
    assert listed() == {str(tree): "orchestrators.vibe-kanban"}


def test_a_link_in_a_known_place_is_not_followed(home: Path, tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    (home / ".t3").mkdir()
    (home / ".t3" / "worktrees").symlink_to(tree.parent)
    (home / ".grok" / "worktrees").mkdir(parents=True)
    (home / ".grok" / "worktrees" / "x").symlink_to(tree)
    assert listed() == {}


def test_what_changed_within_the_hour_and_what_no_agent_made_is_left_unless_it_is_named(
    home: Path, tmp_path: Path
) -> None:
    main = shapes.project(tmp_path)
    known_to_claude(home, main)
    made, mine = main / ".claude" / "worktrees" / "a", tmp_path / "mine"
    git(main, "worktree", "add", "-q", "-b", "a", str(made))
    git(main, "worktree", "add", "-q", "-b", "b", str(mine))
    assert data("worktrees", "clean", "-y")["removed"] == []
    data("worktrees", "clean", "-y", later_s=3700)
    assert (made.exists(), mine.exists()) == (False, True)
    data("worktrees", "clean", "-y", str(mine))
    assert not mine.exists()


def test_nothing_is_written_into_a_repository_by_looking(home: Path, tmp_path: Path) -> None:
    tree = shapes.squash_merged(tmp_path)
    before = {path: path.lstat().st_mtime_ns for path in (tmp_path / "project" / ".git").rglob("*")}
    data("worktrees", "proof", str(tree))
    assert {path: path.lstat().st_mtime_ns for path in (tmp_path / "project" / ".git").rglob("*")} == before
    assert [name for name in os.listdir(os.environ["XDG_STATE_HOME"] + "/tmpwarden") if "objects" in name] == []


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"id": "x", "in": ["/abs"], "why": "w", "seen": ["s"]}, "in"),
        ({"id": "x", "in": ["{home}/../x"], "why": "w", "seen": ["s"]}, "in"),
        ({"id": "x", "in": ["{project}/x"], "why": "w", "seen": ["s"]}, "projects"),
        ({"id": "x", "in": ["{home}/x"], "why": "w"}, "seen"),
        ({"id": "x", "why": "w", "seen": ["s"]}, "in"),
        ({"id": "x", "in": ["{home}/x"], "why": "w", "seen": ["s"], "tier": "auto"}, "tier"),
    ],
)
def test_a_row_that_says_nothing_sensible_is_told(table: dict[str, object], key: str) -> None:
    reading = Reading("", "x.toml", builtin=False, trusted=False)
    catalogue.decode([table], "x", reading)
    assert len(reading.complaints) == 1
    assert f"key {key}:" in reading.complaints[0]


def test_every_built_in_row_is_read() -> None:
    assert {row.agent for row in catalogue.rows()} >= {"claude", "codex", "cline", "quadwork", "opencode"}
    names = {row.id for row in catalogue.rows() if row.agent == "orchestrators"}
    assert names >= {"vibe-kanban", "claude-squad", "conductor", "t3", "grok", "gastown"}


def tree_at(main: Path, path: Path) -> str:
    git(main, "worktree", "add", "-q", "-b", f"b{len(git(main, 'worktree', 'list'))}", str(path))
    return str(path)


@pytest.mark.parametrize(
    ("place", "row"),
    [
        ("{main}/.claude/worktrees/a", "claude.project-worktrees"),
        ("{main}/.worktrees/a", "orchestrators.in-repository"),
        ("{main}/.loom/worktrees/a", "orchestrators.in-repository"),
        ("{main}/.afk-worktrees/a", "orchestrators.in-repository"),
        ("{main}/.gemini/worktrees/a", "gemini.worktrees"),
        ("{main}/.qwen/worktrees/agent-1a2b3c4", "qwen.worktrees"),
        ("{home}/.qwen/arena/5e55/worktrees/a", "qwen.worktrees"),
        ("{main}.worktrees/a", "orchestrators.beside-repository"),
        ("{home}/.claude/worktrees/a", "claude.home-worktrees"),
        ("{home}/.code/working/project/branches/a", "orchestrators.code"),
        ("{home}/.openclaw/worktrees/1e59/a", "openclaw.worktrees"),
    ],
)
def test_a_place_of_an_agent_is_known_though_no_settings_name_the_project(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, row: str
) -> None:
    main = shapes.project(tmp_path)
    monkeypatch.chdir(main)
    tree = tree_at(main, Path(place.format(main=main, home=home)))
    assert listed() == {tree: row}
    told = data("worktrees", "clean", "-y", later_s=3700)
    assert [each["path"] for each in told["removed"]] == [tree]


def test_what_the_list_calls_nothing_to_lose_clean_offers(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = shapes.project(tmp_path)
    monkeypatch.chdir(main)
    paths = [tree_at(main, tmp_path / "mine"), tree_at(main, main / ".worktrees" / "a"), tree_at(main, main / "b")]
    (tmp_path / "mine" / "new").write_text("work")
    for later_s in (10, 3700, 73 * 3600):
        trees = data("worktrees", later_s=later_s)["worktrees"]
        assert len(trees) == len(paths)
        offered = data("worktrees", "clean", "--dry-run", later_s=later_s)["removed"]
        nothing_to_lose = {each["path"] for each in trees if each["reason"] == "nothing-to-lose"}
        assert {each["path"] for each in offered} == nothing_to_lose
    assert nothing_to_lose == set(paths[1:])


def test_who_cleans_without_a_question_is_told_what_stayed_and_why(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = shapes.project(tmp_path)
    monkeypatch.chdir(main)
    kept, _ = (tree_at(main, main / ".worktrees" / name) for name in ("a", "b"))
    (Path(kept) / "new").write_text("work")
    assert main_command(["worktrees", "clean", "-y"], now_ns=lambda: time.time_ns() + 3700 * 10**9) == 0
    assert f"Kept {kept}: 1 untracked file: new" in capsys.readouterr().out


def test_repositories_below_the_roots_of_the_settings_are_found(home: Path, tmp_path: Path, own_world: Path) -> None:
    main = shapes.project(tmp_path / "code" / "client")
    tree = tree_at(main, main / ".worktrees" / "a")
    shapes.project(tmp_path / "code" / "node_modules" / "package")
    (tmp_path / "code" / "link").symlink_to(tmp_path)
    assert listed() == {}
    config = own_world / "config" / "tmpwarden"
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text(f'[worktrees]\nroots = ["{tmp_path}/code"]\n')
    assert listed() == {tree: "orchestrators.in-repository"}
    told = data("worktrees", "clean", "-y", later_s=3700)
    assert [each["path"] for each in told["removed"]] == [tree]


def test_a_search_for_repositories_is_bounded_and_says_so(
    home: Path, tmp_path: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code" / "a" / "b").mkdir(parents=True)
    config = own_world / "config" / "tmpwarden"
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text(f'[worktrees]\nroots = ["{tmp_path}/code"]\n')
    monkeypatch.setattr("tmpwarden.repos.worktrees.survey._MOST_DIRECTORIES", 2)
    _, envelope = answer("worktrees")
    assert any("only 2 directories" in warning for warning in envelope["warnings"])

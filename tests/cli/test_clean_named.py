"""`clean PATH...`: what a person names is judged by the same laws, asked about, quarantined, and can be undone."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from support import planted
from support.command import answer, data, tmpwarden
from support.holding import process
from support.litter import snapshot
from support.mounts import bind, needs_root, tmpfs
from support.terminal import on_a_terminal
from tmpwarden.sweep.weigh import consent


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def orch(root: Path, name: str = "orch-1a2b") -> Path:
    unit = root / name
    (unit / "logs").mkdir(parents=True)
    (unit / "logs" / "out").write_text("output\n" * 100)
    return unit


def reason_kept(*words: str) -> str:
    (kept,) = data("clean", "--yes", *words)["kept"]
    return str(kept["reason"])


def test_what_no_row_knows_goes_when_it_is_named_and_comes_back_with_undo(root: Path) -> None:
    unit = orch(root)
    before = snapshot(unit)
    assert tmpwarden("clean", "--yes").returncode == 0
    assert unit.exists(), "unnamed it stays"
    found = data("clean", "--yes", str(unit))
    assert [(each["path"], each["undoable"], each["reason"]) for each in found["removed"]] == [
        (str(unit), True, "named-by-you")
    ]
    assert not unit.exists()
    assert tmpwarden("undo").returncode == 0
    assert snapshot(unit) == before


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("/etc"), os.mkfifo])
def test_files_directories_links_and_pipes_can_be_named(root: Path, make: object) -> None:
    make(root / "thing")  # type: ignore[operator]
    assert len(data("clean", "--yes", str(root / "thing"))["removed"]) == 1
    assert not os.path.lexists(root / "thing")
    assert os.path.isdir("/etc")


def test_a_quoted_glob_takes_what_matches_and_nothing_else(root: Path) -> None:
    units = [orch(root, f"orch-{number:04x}") for number in range(5)]
    spared = [orch(root, name) for name in ("orchard", ".orch-1", "my-orch-1")]
    found = data("clean", "--yes", f"{root}/orch-*")
    assert sorted(each["path"] for each in found["removed"]) == sorted(map(str, units))
    assert all(unit.exists() for unit in spared)


def test_relative_words_and_globs_mean_the_directory_one_stands_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orch(root, "orch-1")
    orch(root, "other")
    monkeypatch.chdir(root.parent)
    assert len(data("clean", "--yes", "tmp/orch-*", "./tmp/other")["removed"]) == 2


def test_it_asks_and_no_is_no(root: Path) -> None:
    unit = orch(root)
    words = [sys.executable, "-m", "tmpwarden", "clean", str(unit)]
    _, said = on_a_terminal(words, answer="n", env=dict(os.environ))
    assert "Remove 1 item" in said
    assert unit.exists()
    assert tmpwarden("clean", str(unit)).returncode == 4, "no terminal, no yes"
    assert unit.exists()


def test_somebody_who_uses_it_keeps_it(root: Path) -> None:
    unit = orch(root)
    with process("", cwd=unit):
        assert reason_kept(str(unit)) == "working-directory"
    with process("import sys; f = open(sys.argv[1])", str(unit / "logs" / "out")):
        assert reason_kept(f"{root}/orch-*") == "open-file"
    assert unit.exists()


def test_the_keep_list_git_work_and_min_age_hold_for_what_is_named(root: Path) -> None:
    unit = orch(root)
    assert tmpwarden("keep", str(unit)).returncode == 0
    assert reason_kept(str(unit)) == "keep-list"
    clone = root / "clone"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    (clone / "work.py").write_text("mine\n")
    assert reason_kept(str(clone)) in ("git-work", "protected-path")
    young = orch(root, "young")
    assert reason_kept("--min-age", "1h", str(young)) == "too-young"
    assert unit.exists() and clone.exists() and young.exists()


def test_a_live_session_is_not_taken_by_its_path(root: Path) -> None:
    with process("") as agent:
        unit = planted.session(root)
        with process("", env={"PATH": "/bin", "CLAUDE_CODE_SESSION_ID": unit.name}):
            assert reason_kept(str(unit)) == "session-in-environment"
        assert agent.poll() is None
    assert unit.exists()


def test_a_directory_of_sessions_means_each_session_in_it(root: Path) -> None:
    first, second = planted.session(root), planted.session(root)
    container = root / f"claude-{os.geteuid()}"
    with process("", cwd=second):
        found = data("clean", "--yes", str(container))
    assert [each["path"] for each in found["removed"]] == [str(first)]
    assert [each["path"] for each in found["kept"]] == [str(second)]


def test_young_markers_go_when_they_are_named(root: Path) -> None:
    markers = planted.markers(root, 5)
    assert len(data("clean", "--yes", f"{root}/claude-*-cwd")["removed"]) == 5
    assert not any(marker.exists() for marker in markers)


def test_what_has_only_the_name_of_litter_can_be_named_too(root: Path) -> None:
    (root / "claude-1a2b-cwd").write_bytes(b"\0" * 100_000)
    found = data("clean", "--yes", str(root / "claude-1a2b-cwd"))
    assert [(each["agent"], each["undoable"]) for each in found["removed"]] == [("named", True)]


def test_a_temp_root_of_somebody_inside_keeps_the_whole(root: Path) -> None:
    """Sessions there have owners that nobody asked: no lease below a directory without rows is read."""
    unit = orch(root)
    (unit / f"tmpwarden-{os.geteuid()}" / "0a1b2c3d").mkdir(parents=True)
    assert reason_kept(str(unit)) == "never"


def refused(*words: str) -> tuple[int, str]:
    status, envelope = answer("clean", "--yes", *words)
    return status, envelope["error"]["message"]


def test_what_may_not_be_named_is_refused_with_a_sentence(root: Path, own_world: Path) -> None:
    unit = planted.session(root)
    outside = own_world / "home" / "notes"
    outside.write_text("mine")
    (root / "way-out").symlink_to(own_world / "home")
    for words, sentence in (
        ((str(outside),), "is outside the temp roots"),
        ((str(root / "way-out" / "notes"),), "is outside the temp roots"),
        ((f"{root}/../home/no*",), "is outside the temp roots"),
        ((str(root),), "is a temp root"),
        ((str(own_world),), "is in"),
        (("/",), "is in"),
        ((str(unit / "tasks"),), "is removed or kept as a whole"),
        (("",), "cannot be empty"),
    ):
        status, message = refused(*words)
        assert (status, sentence in message) == (3, True), (words, status, message)
    assert outside.read_text() == "mine"
    assert unit.exists()


def test_a_pattern_that_takes_in_what_is_never_removed_takes_nothing(root: Path) -> None:
    unit = orch(root)
    quarantine = root / f"tmpwarden-{os.geteuid()}" / "q"
    quarantine.mkdir(parents=True, mode=0o700)
    status, message = refused(f"{root}/orch-*", f"{root}/tmpwarden-{os.geteuid()}/*")
    assert (status, "is never removed" in message) == (3, True)
    assert unit.exists()


def test_no_match_is_five(root: Path) -> None:
    assert refused(str(root / "missing"))[0] == 5
    status, message = refused(f"{root}/orch-*")
    assert (status, message) == (5, f"nothing matches {root}/orch-*")


@needs_root
def test_another_users_is_seven_and_names_them_and_a_pattern_leaves_them_out(root: Path) -> None:
    theirs, ours = orch(root, "orch-1"), orch(root, "orch-2")
    os.chown(theirs, pwd.getpwnam("nobody").pw_uid, 0)
    status, message = refused(str(theirs))
    assert (status, "belongs to nobody" in message) == (7, True)
    status, envelope = answer("clean", "--yes", f"{root}/orch-*")
    assert (status, theirs.exists(), ours.exists()) == (0, True, False)
    assert "1 match" in envelope["warnings"][0]
    assert refused(f"{root}/orch-*")[0] == 7


@needs_root
def test_another_file_system_below_the_root_is_refused(root: Path, tmp_path: Path) -> None:
    with tmpfs(root / "mnt") as point:
        (point / "file").touch()
        assert "another file system" in refused(str(point / "file"))[1]
    (tmp_path / "b").mkdir()
    with bind(tmp_path / "b", root / "bound"):
        assert reason_kept(str(root / "bound")) in ("mount-point", "mount-source")


@pytest.mark.parametrize(
    "option", [("--older-than", "1h"), ("--agent", "claude"), ("--budget", "1G"), ("--if-due", "1h"), ("--all-users",)]
)
def test_options_that_choose_otherwise_do_not_go_with_a_path(root: Path, option: tuple[str, ...]) -> None:
    status, message = refused(*option, str(root / "x"))
    assert (status, option[0] in message) == (3, True)


def test_a_word_about_one_thing_is_no_consent_to_the_backlog(root: Path, own_world: Path) -> None:
    data("clean", "--yes", str(orch(root)))
    state = str(own_world / "state" / "tmpwarden")
    assert not consent.Consent.read(state, 0).given
    assert consent.last_clean_ns(state) is None


def test_the_same_thing_named_twice_or_with_what_holds_it_goes_once(root: Path) -> None:
    unit = orch(root)
    found = data("clean", "--yes", str(unit), f"{root}/orch-*", str(unit / "logs"))
    assert [each["path"] for each in found["removed"]] == [str(unit)]


def test_a_preview_names_the_same(root: Path) -> None:
    unit = orch(root)
    found = data("clean", "--dry-run", str(unit))
    assert (found["effect"], [each["path"] for each in found["removed"]]) == ("would_delete", [str(unit)])
    assert unit.exists()


def test_one_path_that_cannot_be_judged_does_not_stop_the_others(root: Path, tmp_path: Path) -> None:
    units = [orch(root, "orch-0001"), orch(root, "orch-0002")]
    (tmp_path / "elsewhere").mkdir()
    said = tmpwarden("clean", "--yes", str(units[0]), str(tmp_path / "elsewhere"), str(units[1]))
    assert said.returncode == 2, said.stderr
    assert not units[0].exists() and not units[1].exists()
    assert "outside the temp roots" in said.stderr and "the others were judged" in said.stderr
    assert (tmp_path / "elsewhere").is_dir()


def test_if_no_path_can_be_judged_it_is_the_error_of_the_first(root: Path, tmp_path: Path) -> None:
    assert tmpwarden("clean", "--yes", str(root / "none"), str(root / "no")).returncode == 5


@pytest.mark.parametrize("name", [".git", ".codex", ".agents"])
def test_an_empty_mount_target_of_a_dead_sandbox_goes_by_name_alone(root: Path, name: str) -> None:
    """openai/codex#31599: they break `go build` and the like below /tmp."""
    (root / name).mkdir()
    assert tmpwarden("clean", "--all", "--yes", "--older-than", "1h").returncode == 0
    assert (root / name).is_dir()
    assert tmpwarden("clean", "--yes", str(root / name)).returncode == 0
    assert not (root / name).exists()


def test_one_with_anything_in_it_is_never_removed(root: Path) -> None:
    (root / ".codex").mkdir()
    (root / ".codex" / "auth.json").touch()
    assert tmpwarden("clean", "--yes", str(root / ".codex")).returncode == 3
    assert (root / ".codex" / "auth.json").exists()

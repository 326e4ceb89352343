"""A dead session with git work goes when it was saved first, and only then; what was saved is told once."""

import json
import os
import shutil
from pathlib import Path

import pytest

from hooks.calling import hook, said
from support.command import data
from support.litter import later
from support.repos import git
from support.users import SESSION, leased_scratch
from tmpwarden.lifecycle.teardown import teardown
from tmpwarden.model.terms import Reason
from tmpwarden.repos.rescue import notice, store
from tmpwarden.sweep.compose import clean
from worktrees import shapes


def configure(world: Path, text: str) -> None:
    (world / "config" / "tmpwarden").mkdir(exist_ok=True)
    (world / "config" / "tmpwarden" / "config.toml").write_text(f"[rescue]\n{text}\n")


@pytest.fixture
def unit(own_world: Path, tmp_path: Path) -> Path:
    """The scratch of a dead session with a clone that has an unpushed commit, and a report."""
    unit = leased_scratch(own_world / "tmp")
    shutil.copytree(shapes.clone_with_commits(tmp_path), unit / "clone", symlinks=True)
    (unit / "report.pdf").write_text("x")
    return unit


def kept(unit: Path, hours: float) -> list[Reason]:
    return [each.reason for each in clean(now_ns=later(hours)).kept if each.finding.path == str(unit)]


def test_without_the_setting_git_work_keeps_its_unit_for_ever(unit: Path) -> None:
    assert kept(unit, 1000) == [Reason.GIT_WORK]
    assert store.everything() == []


def test_with_it_the_unit_goes_after_72_hours_and_not_before(own_world: Path, unit: Path, tmp_path: Path) -> None:
    configure(own_world, "git = true")
    head = git(unit / "clone", "rev-parse", "HEAD")
    assert kept(unit, 71) == [Reason.GIT_WORK]
    result = clean(now_ns=later(73))
    assert not unit.exists()
    (saved,) = store.everything()
    assert any(saved.id in warning for warning in result.warnings)
    assert (saved.path, saved.session) == (str(unit), SESSION)
    shutil.rmtree(tmp_path / "clone")
    data("rescue", "restore", saved.id, "--to", str(tmp_path / "new"))
    assert git(tmp_path / "new" / "clone", "rev-parse", "HEAD") == head


@pytest.mark.parametrize("harm", ["too big", "uninspectable", "changed while it was taken"])
def test_what_cannot_be_saved_stays_where_it_is(
    own_world: Path, unit: Path, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(own_world, 'git = true\nmax_file = "1K"')
    if harm == "too big":
        (unit / "clone" / "big").write_bytes(b"x" * 5000)
    elif harm == "uninspectable":
        git(unit / "clone", "config", "core.fsmonitor", "true")
    else:
        monkeypatch.setattr(
            "tmpwarden.sweep.take.act._race_window", lambda _: _break_what_lies_in_quarantine(own_world)
        )
    before = shapes.hashes(unit) if harm != "changed while it was taken" else None
    result = clean(now_ns=later(100))
    assert unit.exists()
    assert store.everything() == []
    assert before is None or shapes.hashes(unit) == before
    told_reasons = [each.reason for each in result.kept] + [each.reason for each in result.spared]
    assert set(told_reasons) & {Reason.GIT_WORK, Reason.GIT_UNCLEAR}


def _break_what_lies_in_quarantine(world: Path) -> None:
    for config in (world / "tmp" / f"tmpwarden-{os.geteuid()}" / "q").glob("*/clone/.git/config"):
        config.write_text("[core]\n\tfsmonitor = true\n")


def test_a_run_that_dies_before_it_has_saved_everything_loses_nothing(
    own_world: Path, unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it took waits in quarantine, where it would expire; the next run gives it back."""
    configure(own_world, "git = true")
    before = shapes.hashes(unit)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("tmpwarden.repos.rescue.save.save", die)
        assert clean(now_ns=later(100)).stopped == "interrupted"
    assert not unit.exists()
    configure(own_world, "git = false")
    clean(now_ns=later(100))
    assert shapes.hashes(unit) == before


def test_teardown_by_name_does_not_make_git_work_go(own_world: Path, unit: Path) -> None:
    configure(own_world, "git = true")
    teardown(SESSION, wait=True, now_ns=later(100))
    assert unit.exists()


def test_files_of_an_ended_session_are_saved_and_told_once(own_world: Path) -> None:
    configure(own_world, "files = true")
    unit = leased_scratch(own_world / "tmp")
    for name in ("report.pdf", "plot.png", "core.bin"):
        (unit / name).write_text("x")
    teardown(SESSION, wait=True)
    assert not unit.exists()
    (saved,) = store.everything()
    assert {file.path for file in saved.files} == {"report.pdf", "plot.png"}
    words = json.dumps(said(hook("claude", "SessionStart", start("another"))))
    assert "2 files saved: " in words
    assert saved.id in words
    assert "files saved" not in json.dumps(said(hook("claude", "SessionStart", start("third"))))


def test_a_session_that_lost_its_scratch_is_told_what_was_rescued(own_world: Path, unit: Path) -> None:
    configure(own_world, "git = true\nfiles = true")
    env_file = {"CLAUDE_ENV_FILE": str(own_world / "env")}
    mine = json.dumps(said(hook("claude", "SessionStart", start("mine"), env=env_file)))
    scratch = Path(mine.partition("$TMPDIR (")[2].partition(")")[0])
    (scratch / "report.pdf").write_text("x")
    data("rescue", "--session", "mine")
    shutil.rmtree(scratch)
    again = json.dumps(said(hook("claude", "SessionStart", start("mine", "resume"), env=env_file)))
    assert "The temp directory that this session had earlier was removed" in again
    assert "Rescued from it: 1 file saved: report.pdf" in again


def start(session: str, source: str = "startup") -> dict[str, str]:
    return {"session_id": session, "hook_event_name": "SessionStart", "source": source, "cwd": "/"}


def test_a_sentence_that_waits_is_short_and_taken_once(own_world: Path) -> None:
    (own_world / "data" / "tmpwarden" / "rescue").mkdir(parents=True, mode=0o700)
    Path(notice.path()).write_text("x" * 5000)
    assert len(notice.take()) <= 400
    assert notice.take() == ""

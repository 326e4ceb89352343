"""What is not ours survives install, upgrade and uninstall: others' hooks, moved files, a crontab we cannot read."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.mounts import needs_root
from tmpwarden.errors import PermissionDenied, SetupFailed
from tmpwarden.lifecycle import timers
from tmpwarden.setup import apply, runtime, schedulers, timer

TICK = ["/usr/bin/python3", "/x/tmpwarden/lifecycle/tick.py"]


@pytest.fixture(autouse=True)
def small_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    monkeypatch.setattr(runtime, "_sources", lambda: iter([("hooks/run.py", b"")]))  # of 500 files; nobody runs them


def answering(code: int, out: str, err: str, calls: list[list[str]]) -> schedulers.AskScheduler:
    def call(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        calls.append(list(argv))
        return subprocess.CompletedProcess(argv, code, out, err)

    return call


def settings(home: Path, text: str = '{"model": "opus"}') -> Path:
    path = home / "settings.json"
    home.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("again", [apply.install, apply.uninstall])
def test_a_hook_that_somebody_put_into_our_group_stays(again: object, own_world: Path) -> None:
    path = settings(own_world / "home" / ".claude")
    apply.install("claude")
    document = json.loads(path.read_text())
    (group,) = document["hooks"]["PostToolUse"]
    group["hooks"].append({"type": "command", "command": "theirs"})
    path.write_text(json.dumps(document))
    again("claude")  # type: ignore[operator]
    groups = json.loads(path.read_text())["hooks"]["PostToolUse"]
    assert {"matcher": group["matcher"], "hooks": [{"type": "command", "command": "theirs"}]} in groups


def test_settings_that_we_no_longer_look_at_lose_only_our_part(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "work"))
    path = settings(tmp_path / "work")
    apply.install("claude")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"added": "later"}))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    apply.uninstall("claude")
    assert json.loads(path.read_text()) == {"model": "opus", "added": "later"}


@pytest.mark.parametrize("was_there", [True, False])
def test_settings_that_became_a_link_stay_one(was_there: bool, own_world: Path, tmp_path: Path) -> None:
    path = own_world / "home" / ".claude" / "settings.json"
    if was_there:
        settings(path.parent)
    apply.install("claude")
    shutil.move(path, tmp_path / "dotfile.json")
    path.symlink_to(tmp_path / "dotfile.json")
    apply.uninstall("claude")
    assert path.is_symlink()
    assert "tmpwarden" not in path.read_text()


def test_what_an_agent_writes_while_we_copy_ourselves_is_not_lost(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings(own_world / "home" / ".claude")
    monkeypatch.setattr(runtime, "put", lambda _: path.write_text('{"permissions": ["new"]}'))
    apply.install("claude")
    assert json.loads(path.read_text())["permissions"] == ["new"]


def test_what_an_agent_writes_at_the_last_moment_stops_us(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = settings(own_world / "home" / ".claude")
    backed_up = apply.record._back_up

    def strike(name: str, content: bytes | None) -> str | None:
        path.write_text('{"permissions": ["new"]}')
        return backed_up(name, content)

    monkeypatch.setattr(apply.record, "_back_up", strike)
    with pytest.raises(SetupFailed, match="another program"):
        apply.install("claude")
    assert path.read_text() == '{"permissions": ["new"]}'


def test_a_crontab_that_cannot_be_read_is_not_replaced(own_world: Path) -> None:
    calls: list[list[str]] = []
    with pytest.raises(SetupFailed, match="timed out"):
        timer.install(kind="cron", call=answering(1, "", "timed out after 60 seconds", calls))
    assert calls == [["crontab", "-l"]]


def test_no_crontab_is_an_empty_one(own_world: Path) -> None:
    calls: list[list[str]] = []
    with pytest.raises(SetupFailed, match=r"crontab\.new"):  # the same answer to the write
        timer.install(kind="cron", call=answering(1, "", "no crontab for me", calls))
    assert [argv[1:2] == ["-l"] for argv in calls] == [True, False, True]  # read, written, looked at again


def test_a_draft_of_a_killed_install_is_no_obstacle(own_world: Path) -> None:
    draft = Path(apply.record.directory()) / "crontab.new"
    draft.parent.mkdir(parents=True)
    draft.write_text("half")
    calls: list[list[str]] = []
    timer.install(kind="cron", call=answering(0, "", "", calls))
    assert calls[-1] == ["crontab", str(draft)]


@pytest.mark.parametrize("line", ["# my # tmpwarden", "1 1 * * * a\x0cb\x85c\r", "2 2 * * * caf\udce9 \\%d"])
def test_every_line_of_the_users_crontab_stays_to_the_byte(line: str) -> None:
    with_us = timers.crontab(f"{line}\n\n", TICK, {})
    assert with_us.startswith(f"{line}\n\n17 ")
    assert timers.crontab(with_us, None, {}) == f"{line}\n\n"


def test_the_scheduler_is_heard_to_the_byte() -> None:
    said = schedulers.ask_scheduler(["printf", r"caf\351\r\n"])
    assert said.stdout.encode("utf-8", "surrogateescape") == b"caf\xe9\r\n"


def test_a_file_that_stood_where_the_timers_goes_comes_back(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = own_world / "config" / "systemd" / "user" / "tmpwarden.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\nDescription=mine\n")
    monkeypatch.setattr(timer, "TMPFILES", str(own_world / "tmpfiles.conf"))
    call = answering(0, "", "", [])
    timer.install(kind="systemd", call=call)
    timer.install(kind="systemd", call=call)
    timer.uninstall(call=call)
    assert unit.read_text() == "[Unit]\nDescription=mine\n"
    assert not (unit.parent / "tmpwarden.timer").exists()


@needs_root
def test_root_does_not_make_another_users_settings_its_own(own_world: Path) -> None:
    path = settings(own_world / "home" / ".claude")
    os.chown(path, 65534, 65534)
    with pytest.raises(PermissionDenied) as told:
        apply.install("claude")
    assert "uid 65534" in told.value.hint
    assert (path.stat().st_uid, path.read_text()) == (65534, '{"model": "opus"}')


def test_an_escape_that_is_no_character_leaves_the_file_text(own_world: Path) -> None:
    path = settings(own_world / "home" / ".claude", '{"prompt": "\\ud83d"}')
    apply.install("claude")
    assert json.loads(path.read_bytes().decode())["prompt"] == "\ud83d"

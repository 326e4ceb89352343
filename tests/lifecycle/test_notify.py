"""`[notify] command`: told once when a root is full, again a day later, never by a shell, never for ever."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.command import tmpwarden
from tmpwarden.catalogue.settings import load_settings
from tmpwarden.lifecycle import notify
from tmpwarden.lifecycle.background import clear_the_dead

_DAY_NS = 24 * 3600 * 10**9


@pytest.fixture
def heard(own_world: Path) -> Path:
    """A config whose command writes down what it was told; every root is above the threshold of 1 %."""
    said = own_world / "said"
    code = "import os, sys; open(sys.argv[1], 'a').write(repr((sys.argv[2:], os.environ['TMPWARDEN_ROOT'])) + chr(10))"
    command = [sys.executable, "-c", code, str(said), "{percent}", "{root} $(id) `id`", "{message}"]
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir()
    config.write_text(f'[notify]\nat = "1%"\ncommand = {json.dumps(command)}\n')
    return said


def at_once(work: Callable[[], object]) -> None:
    work()


def test_it_is_told_once_and_again_after_a_day(heard: Path, own_world: Path) -> None:
    settings, now = load_settings(), time.time_ns()
    root = str(own_world / "tmp")
    assert notify.tell_if_full(settings, start=at_once, now_ns=now) == (root,)
    assert notify.tell_if_full(settings, start=at_once, now_ns=now + _DAY_NS - 1) == ()
    assert notify.tell_if_full(settings, start=at_once, now_ns=now + _DAY_NS) == (root,)
    lines = [eval(line) for line in heard.read_text().splitlines()]
    assert len(lines) == 2
    (percent, second, message), told_root = lines[0]
    assert (percent.isdigit(), told_root) == (True, root)
    assert second == f"{root} $(id) `id`"
    assert message.startswith(f"{root} is {percent}% full")


def test_below_the_threshold_nobody_is_called(heard: Path, own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.write_text(config.read_text().replace('"1%"', '"100%"'))
    assert notify.tell_if_full(load_settings(), start=at_once) == ()
    assert not heard.exists()


def test_an_unattended_clean_tells_it_and_waits_for_nobody(heard: Path, own_world: Path) -> None:
    clear_the_dead()
    end = time.monotonic() + 60
    while not heard.exists() or not heard.read_text():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_program_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, own_world: Path) -> None:
    monkeypatch.setattr(notify, "_LIMIT_S", 0.2)
    mark = own_world / "pid"
    code = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    notify._call((sys.executable, "-c", code), {"root": "/tmp", "percent": "91", "message": "full"})
    if mark.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.read_text()), 0)


def test_a_command_of_the_host_is_replaced_and_not_continued(own_world: Path, tmp_path: Path) -> None:
    from tmpwarden.catalogue import settings as module

    reading = module._Reading(is_named=False)
    for number, command in enumerate((["first", "a"], ["second"])):
        path = tmp_path / f"{number}.toml"
        path.write_text(f"[notify]\ncommand = {json.dumps(command)}\n")
        module._read_file(str(path), reading)
    assert reading.values["notify_command"] == ("second",)


def test_the_desktop_is_told_also_where_cron_names_no_session_bus(
    heard: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = own_world / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$DBUS_SESSION_BUS_ADDRESS" "$@" > {own_world}/noticed\n')
    program.chmod(0o755)
    (own_world / "bus").touch()
    monkeypatch.setenv("PATH", f"{own_world}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(own_world))
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    assert tmpwarden("config", "set", "notify.command", "desktop").returncode == 0
    notify.tell_if_full(load_settings(), start=at_once)
    bus, name, title, message, _ = (own_world / "noticed").read_text().split("|")
    assert (bus, name, title) == (f"unix:path={own_world}/bus", "--app-name=tmpwarden", "tmpwarden")
    assert message.startswith(f"{own_world / 'tmp'} is ") and "`tmpwarden doctor` says what to do" in message
    assert not heard.exists()

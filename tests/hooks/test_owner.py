"""Whose process a session is, where asking the system takes too long for a tool call (macOS: 3 ms)."""

import os
from pathlib import Path

import pytest

from tmpwarden.hooks.events.hook_call import HookCall, is_second
from tmpwarden.oskit import system
from tmpwarden.oskit.proc import procs


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system.hot, "TELLS_PROCESSES", False)


def call(notes: Path, kind: str) -> HookCall:
    return HookCall(
        arguments=["codex"], event=kind, kind=kind, session="s-1", payload={}, environ={}, notes=str(notes),
    )  # fmt: skip


def test_the_start_passes_shells_over_and_later_calls_ask_nobody(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = own_world / "state" / "tmpwarden" / "hooks"
    shell = procs.Process(os.getppid(), 4711, 1, "-zsh")
    agent = procs.Process(4711, 1, 1, "node")
    monkeypatch.setattr(procs, "process", {shell.pid: shell, agent.pid: agent}.get)
    assert not is_second(call(notes, "start"))

    def nobody(pid: int) -> None:
        raise AssertionError("a tool call waits for this")

    monkeypatch.setattr(procs, "process", nobody)
    assert call(notes, "before").owner_pid == 4711
    assert not is_second(call(notes, "after"))

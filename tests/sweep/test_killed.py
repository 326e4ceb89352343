"""kill -9 at every single change that clean makes: each unit stays whole in place, whole in quarantine, or is gone."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from support.litter import claude_session, cwd_markers, later, snapshot
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.journal import entries, open_intents, restorable
from tmpwarden.sweep.store.undo import undo

CHANGES = ("rename", "unlink", "rmdir", "write", "mkdir", "chmod")
DAYS_LATER = later(100)


def in_child(work: Callable[[], object], kill_at: int) -> bool:
    """Run `work` in a forked child that kills itself right before its `kill_at`-th change; whether it was killed."""
    pid = os.fork()
    if pid == 0:
        left = [kill_at]

        def deadly(call: Callable[..., object]) -> Callable[..., object]:
            def changed(*args: object, **words: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*args, **words)

            return changed

        for name in CHANGES:
            setattr(os, name, deadly(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)], ids=["every third", "every"])
@pytest.mark.parametrize("keeps", [True, False], ids=["quarantine", "no quarantine"])
def test_every_moment_of_death_leaves_units_whole_or_gone(own_world: Path, keeps: bool, step: int) -> None:
    root = own_world / "tmp"
    request = Request(quarantine=keeps)
    state = str(own_world / "state" / "tmpwarden")
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text('[quarantine]\nkeep = "30d"\n')
    for kill_at in range(1 if keeps else 2, 400, step):
        units = [claude_session(root, files=2), claude_session(root, files=2, slug="-b")]
        units[1].chmod(0o500)
        markers = cwd_markers(root, 3)
        before = [snapshot(unit) for unit in units]
        was_killed = in_child(lambda: clean(request, now_ns=DAYS_LATER), kill_at)
        quarantine = root / f"tmpwarden-{os.geteuid()}" / "q"
        waiting = [p for p in quarantine.iterdir() if p.suffix == ".k"] if quarantine.exists() else []
        for unit, shape in zip(units, before, strict=True):
            if unit.exists():  # its root's mode is the next run's, if death came between chmod and rename
                assert snapshot_without_mode(unit) == drop_mode(shape)
            elif keeps:
                assert any(snapshot(p) == shape or snapshot_without_mode(p) == drop_mode(shape) for p in waiting)
        clean(request, now_ns=DAYS_LATER)
        assert not any(path.exists() for path in (*units, *markers))
        assert open_intents(state) == []
        told = {entry["path"] for entry in entries(state) if entry["t"] == "receipt"}
        assert {str(unit) for unit in units} <= told, "log tells of what a killed run took"
        if keeps:
            for token in list(restorable(state)):
                undo(token)
            assert [snapshot(unit) for unit in units] == before
        for unit in filter(Path.exists, units):
            unit.chmod(0o700)  # not everybody is root, who could empty it as it is
            shutil.rmtree(unit)
        assert [p for p in quarantine.iterdir() if p.suffix != ".k"] == []
        if not was_killed:
            assert kill_at > 10
            return
    raise AssertionError("the run never came to its end")


def drop_mode(shape: dict[str, tuple[int, int, int, bytes]]) -> dict[str, tuple[int, int, bytes]]:
    return {name: fields[1:] for name, fields in shape.items()}


def snapshot_without_mode(path: Path) -> dict[str, tuple[int, int, bytes]]:
    return drop_mode(snapshot(path))

"""A command that fills the disk between two hourly looks is noticed after the next tool call."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.calling import hook, said, wait_for_jobs
from hooks.test_session import SESSION, payload, put_off
from processes.leftovers import carrying, program
from processes.test_brake import FILLS, MB
from support.mounts import tmpfs
from tmpwarden.hooks import notebook
from tmpwarden.leases.scratch import open_scratch


@pytest.fixture
def small_root(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    with tmpfs(own_world / "small", "256m") as path:
        monkeypatch.setenv("TMPWARDEN_ROOTS", str(path))
        yield path


def config(text: str) -> None:
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_limit_that_is_passed_between_two_looks_is_applied_after_the_next_call(
    own_world: Path, tmp_path: Path, small_root: Path
) -> None:
    config('[brake]\nmax_file = "4M"\naction = "end"\n')
    put_off(own_world)
    open_scratch(str(small_root), "claude", SESSION, pid=os.getpid())
    said(hook("claude", "PostToolUse", payload("PostToolUse")))
    notes = str(own_world / "state" / "tmpwarden" / "hooks")
    notebook.note_room(notes, str(small_root), 4 * MB)  # as a look notes it where this limit is set
    wait_for_jobs(own_world)
    path = small_root / "out.log"
    with program(tmp_path, ["node", "fill.py", str(path), "30"], carrying(SESSION), FILLS) as writer:
        while path.stat().st_size < 28 * MB:
            assert writer.is_alive(for_s=0.01)
        said(hook("claude", "PostToolUse", payload("PostToolUse")))
        assert not writer.is_alive(for_s=60)
    wait_for_jobs(own_world)
    answer = said(hook("claude", "PostToolUse", payload("PostToolUse")))
    assert f"ended {writer.pid}: over max_file 4.0 MB" in str(answer["systemMessage"])


def test_a_call_that_loses_no_room_looks_at_nothing(own_world: Path, small_root: Path) -> None:
    notes = str(own_world / "state" / "tmpwarden" / "hooks")
    environ = {b"TMPWARDEN_ROOTS": os.fsencode(small_root)}
    assert not notebook.is_filling(notes, environ)
    notebook.note_room(notes, str(small_root), 4 * MB)
    assert not notebook.is_filling(notes, environ)
    (small_root / "big").write_bytes(b"x" * 5 * MB)
    assert notebook.is_filling(notes, environ)
    notebook.note_room(notes, str(small_root), 4 * MB)
    assert not notebook.is_filling(notes, environ)

"""Files for the caller: they outlive the run, their cleanup command runs as it stands, and they go when it is time."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import tmpwarden
from support.examples import examples
from support.program import Programs
from tmpwarden.errors import BadArgument
from tmpwarden.session.envelope import expiry_s

ODD_NAMES = [
    "two words.txt",
    "it's",
    'a "quote"',
    "new\nline",
    "-rf",
    "$HOME `id` $(id)",
    "\\",
    "*",
    "ü\u2028.txt",
    ";#&|",
]
NEXT_RUN = 'import tmpwarden\nwith tmpwarden.session("mycli"): pass'


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_cleanup_command_removes_exactly_this_file_in_sh(own_world: Path, name: str) -> None:
    with tmpwarden.session("mycli", tmp=own_world / "tmp") as s:
        path, other = s.hand_over(name), s.hand_over("other")
        data = json.loads(s.envelope())["data"]
    assert data["output_file"] == path
    subprocess.run(["sh", "-c", data["cleanup"]["command"]], check=True, cwd=own_world)
    assert not os.path.exists(path)
    assert os.path.exists(other)


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(min_size=1, max_size=60))
def test_any_name_is_either_refused_or_told_and_removable(own_world: Path, name: str) -> None:
    with tmpwarden.session("mycli", tmp=own_world / "tmp") as s:
        try:
            path = s.hand_over(name)
        except BadArgument:
            assert "/" in name or "\0" in name or name in (".", "..") or len(os.fsencode(name)) > 255
            return
        data = json.loads(s.envelope())["data"]
        assert data["output_file"] == path
    subprocess.run(["sh", "-c", data["cleanup"]["command"]], check=True)
    assert not os.path.exists(path)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "a\0b", "x" * 256, "\udcff"])
def test_what_is_no_file_name_is_refused(own_world: Path, name: str) -> None:
    with tmpwarden.session("mycli", tmp=own_world / "tmp") as s:
        for deed in (s.hand_over, s.file, s.dir):
            with pytest.raises(BadArgument):
                deed(name)
        assert os.listdir(s.path) == []


def test_several_files_are_all_named_and_the_first_also_alone(own_world: Path) -> None:
    with tmpwarden.session("mycli", tmp=own_world / "tmp") as s:
        paths = [s.hand_over("same name", keep="5m"), s.hand_over("same name", keep=60), s.hand_over("other", keep=1)]
        answer = json.loads(s.envelope({"rows": 3}))
    assert len(set(paths)) == 3
    assert [one["path"] for one in answer["data"]["output_files"]] == paths
    assert [one["cleanup"]["auto_cleanup_after_seconds"] for one in answer["data"]["output_files"]] == [300, 60, 1]
    assert answer["data"]["output_file"] == paths[0]
    assert answer["data"]["cleanup"] == answer["data"]["output_files"][0]["cleanup"]
    assert answer["data"]["rows"] == 3
    assert answer["meta"]["session_tmp_dir"] == s.path


def test_without_hand_overs_the_response_has_none_of_these_keys(own_world: Path) -> None:
    with tmpwarden.session("mycli", tmp=own_world / "tmp") as s:
        answer = json.loads(s.envelope({"rows": 3}, warnings=["slow"], meta={"version": "1"}))
        failed = json.loads(s.envelope(error=BadArgument("no")))
        sentence = json.loads(s.envelope(error="it broke"))
    assert answer["data"] == {"rows": 3}
    assert answer["warnings"] == ["slow"]
    assert set(answer["meta"]) == {"duration_ms", "version"}
    assert (failed["ok"], failed["data"]) == (False, None)
    assert failed["error"] == {"code": "bad-argument", "message": "no", "suggestion": ""}
    assert sentence["error"] == {"code": "error", "message": "it broke"}


def test_data_that_cannot_carry_the_file_is_refused(own_world: Path) -> None:
    with tmpwarden.session("mycli", tmp=own_world / "tmp") as s:
        s.hand_over("a")
        for data in ([1], "text", {"cleanup": 1}):
            with pytest.raises(BadArgument):
                s.envelope(data)


@pytest.mark.parametrize("keep", [0, -1, float("nan"), float("inf"), "soon", 10**12])
def test_a_time_that_is_none_is_refused(own_world: Path, keep: float | str) -> None:
    with tmpwarden.session("mycli", tmp=own_world / "tmp") as s:
        with pytest.raises(BadArgument):
            s.hand_over("a", keep=keep)
    assert list((own_world / "tmp").glob("*/out/*")) == []


def _hand_over(programs: Programs, keep: int) -> Path:
    source = f'import tmpwarden\nwith tmpwarden.session("mycli") as s: print(s.hand_over("report", keep={keep}))'
    return Path(programs.run(source).stdout.strip())


def _make_old(path: Path, seconds: int) -> Path:
    """As if it had been handed over that long ago: the expiry in the name and the owner's last word, the mtime."""
    expiry, _, token = path.parent.name.partition("-")
    ended_s = path.parent.stat().st_mtime
    older = path.parent.rename(path.parent.with_name(f"{int(expiry) - seconds}-{token}"))
    os.utime(older, (ended_s - seconds, ended_s - seconds))
    return older / path.name


def test_the_time_counts_from_the_end_of_the_run_not_from_the_call(programs: Programs) -> None:
    path = _hand_over(programs, 300)
    token = path.parent.name.partition("-")[2]
    told = path.parent.rename(path.parent.with_name(f"{int(time.time()) - 5}-{token}"))  # a run of 305 seconds
    os.utime(told, (time.time(), time.time() + 300))
    programs.run(NEXT_RUN)
    assert (told / "report").exists()


def test_a_running_program_keeps_its_hand_overs_past_their_time(programs: Programs) -> None:
    source = """
import sys, tmpwarden
with tmpwarden.session("mycli") as s:
    path = s.hand_over("report", keep=1)
    print("ready", flush=True)
    print(path, flush=True)
    sys.stdin.read()
"""
    with programs.started(source) as process:
        path = _make_old(Path(process.stdout.readline().strip()), 1000)
        programs.run(NEXT_RUN)
        assert path.exists()
        process.communicate("", timeout=30)
    programs.run(NEXT_RUN)
    assert not path.exists()


def test_of_a_killed_program_the_expiry_in_the_name_decides(programs: Programs) -> None:
    source = """
import os, tmpwarden
with tmpwarden.session("mycli") as s:
    print(s.hand_over("old", keep=100), s.hand_over("new", keep=10000), sep="\\n", flush=True)
    os.kill(os.getpid(), 9)
"""
    old, new = map(Path, programs.run(source).stdout.split())
    old, new = _make_old(old, 1000), _make_old(new, 1000)
    programs.run(NEXT_RUN)
    assert not old.exists()
    assert new.exists()
    assert programs.sessions() == []


def test_the_empty_directory_goes_with_the_next_run_after_the_caller_cleaned_up(programs: Programs) -> None:
    path = _hand_over(programs, 300)
    path.unlink()
    programs.run(NEXT_RUN)
    assert not path.parent.exists()


def test_what_is_not_ours_in_out_is_left_alone(programs: Programs) -> None:
    path = _hand_over(programs, 300)
    for name in ("notes", "1000000000", "1000000000-xyz", "1000000000-0a1b2c3d4e5f-old", "-0a1b2c3d4e5f"):
        (path.parent.parent / name).mkdir()
    before = sorted(os.listdir(path.parent.parent))
    programs.run(NEXT_RUN)
    assert sorted(os.listdir(path.parent.parent)) == before


@given(st.text(max_size=40))
def test_a_folder_name_is_read_in_full_or_not_at_all(name: str) -> None:
    expiry = expiry_s(name)
    assert expiry is None or name.startswith(f"{name[: -len('-0a1b2c3d4e5f')]}-")

"""Each acceptance criterion of REQ-F-043 and REQ-F-032: a real program, then a look at the disk with stat."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.program import HOLDS, UMASKS, Programs
from support.user import UID, OrdinaryUser

pytestmark = pytest.mark.parametrize("umask", UMASKS, ids=lambda mask: f"umask-{mask:03o}")

WRITES_AND_TELLS = """
import json, os, tmpwarden
def mode(path): return oct(os.lstat(path).st_mode & 0o7777)
with tmpwarden.session("mycli") as s:
    file, folder, report = s.file("work.json"), s.dir("parts"), s.hand_over("report.json")
    root = os.path.dirname(s.path)
    print(json.dumps({
        "path": s.path, "env": s.env["TMPDIR"],
        "dirs": [mode(p) for p in (root, s.path, folder, root + "/out", os.path.dirname(report))],
        "files": [mode(p) for p in (file, report, s.path + ".lease")],
    }))
"""
ANSWERS = """
import tmpwarden
with tmpwarden.session("mycli") as s:
    with open(s.hand_over("report.json", keep=300), "w") as file: file.write("[]")
    print(s.envelope({"rows": 3}))
"""
EXPIRES = 'import tmpwarden\nwith tmpwarden.session("mycli") as s: print(s.hand_over("report.json", keep=%d))'


def test_after_a_normal_exit_the_session_directory_is_gone(programs: Programs, umask: int) -> None:
    told = json.loads(programs.run(WRITES_AND_TELLS, umask=umask).stdout)
    assert not Path(told["path"]).exists()
    assert programs.sessions() == []


def test_a_response_with_an_output_file_says_how_to_clean_it_up(programs: Programs, umask: int) -> None:
    answer = json.loads(programs.run(ANSWERS, umask=umask).stdout)
    assert list(answer) == ["ok", "data", "error", "warnings", "meta"]
    assert (answer["ok"], answer["error"], answer["warnings"]) == (True, None, [])
    assert Path(answer["data"]["output_file"]).read_text() == "[]"
    assert answer["data"]["cleanup"] == {
        "command": f"rm -f {answer['data']['output_file']}",
        "auto_cleanup_after_seconds": 300,
    }
    assert os.path.dirname(answer["meta"]["session_tmp_dir"]) == str(programs.root)


def test_the_cleanup_command_runs_as_it_stands(programs: Programs, umask: int) -> None:
    data = json.loads(programs.run(ANSWERS, umask=umask).stdout)["data"]
    assert os.path.exists(data["output_file"])
    subprocess.run(["sh", "-c", data["cleanup"]["command"]], check=True, cwd="/")
    assert not os.path.exists(data["output_file"])


def test_files_past_their_time_are_pruned_by_the_next_run_and_others_are_not(programs: Programs, umask: int) -> None:
    expired = Path(programs.run(EXPIRES % 1, umask=umask).stdout.strip())
    fresh = Path(programs.run(EXPIRES % 300, umask=umask).stdout.strip())
    expired.parent.rename(new := expired.parent.with_name("1000000000" + expired.parent.name[10:]))
    os.utime(new, (1, 1))
    assert programs.hand_overs() == sorted([new / expired.name, fresh])
    programs.run(WRITES_AND_TELLS, umask=umask)
    assert not new.exists()
    assert fresh.exists()


def test_files_are_0600_and_directories_0700(programs: Programs, umask: int) -> None:
    told = json.loads(programs.run(WRITES_AND_TELLS, umask=umask).stdout)
    assert set(told["dirs"]) == {"0o700"}
    assert set(told["files"]) == {"0o600"}


def test_an_ordinary_user_gets_the_same_modes(ordinary_user: OrdinaryUser, umask: int) -> None:
    source = f"import os; os.umask({umask})\n" + WRITES_AND_TELLS  # root could open what is 0000
    for _ in range(2):
        result = ordinary_user.code(source)
        assert result.returncode == 0, result.stderr
        told = json.loads(result.stdout)
        assert set(told["dirs"]) == {"0o700"}
        assert set(told["files"]) == {"0o600"}
    assert os.listdir(ordinary_user.tmp) == [f"mycli-{UID}"]
    assert os.listdir(ordinary_user.tmp / f"mycli-{UID}") == ["out"]


def test_two_parallel_runs_never_share_a_path(programs: Programs, umask: int) -> None:
    with programs.started(HOLDS, umask=umask) as one, programs.started(HOLDS, umask=umask) as other:
        assert one.stdout.readline() != other.stdout.readline()
        assert len([name for name in programs.sessions() if "." not in name]) == 2


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_removes_the_directory_too(programs: Programs, umask: int, signum: int, status: int) -> None:
    with programs.started(HOLDS, umask=umask) as process:
        path = process.stdout.readline().strip()
        assert os.path.isdir(path)
        process.send_signal(signum)
        assert process.wait(30) == status
        assert programs.sessions() == []


def test_the_path_is_told_to_the_program_and_its_children(programs: Programs, umask: int) -> None:
    told = json.loads(programs.run(WRITES_AND_TELLS, umask=umask).stdout)
    assert told["path"] == told["env"]
    assert os.path.basename(told["path"])[0] == "s"

"""Any tmpwarden command clears what sessions left behind, too, and by the same rules."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from support.program import Programs

LATER = Path(__file__).parents[1] / "support" / "later.py"
HOLDS = """
import sys, tmpwarden
with tmpwarden.session("mycli") as s:
    s.file("work")
    path = s.hand_over("report", keep=1)
    print("ready", flush=True)
    print(s.path, path, flush=True)
    sys.stdin.read()
"""


def _clean(programs: Programs, later_s: int = 600) -> None:
    """`tmpwarden clean`, ten minutes later."""
    env = {**os.environ, "TMPDIR": str(programs.tmp), "LATER_S": str(later_s)}
    said = subprocess.run(
        [sys.executable, str(LATER), "clean", "--yes", "--json"], env=env, capture_output=True, text=True, check=False
    )
    assert json.loads(said.stdout)["ok"], said.stdout + said.stderr


def _older(path: str) -> Path:
    """The same hand-over as if its time had been up since 2001."""
    folder = Path(path).parent
    ended_s = folder.stat().st_mtime - 1000
    older = folder.rename(folder.with_name(f"1000000000-{folder.name.partition('-')[2]}"))
    os.utime(older, (ended_s, ended_s))
    return older / "report"


def test_clean_removes_a_killed_session_and_its_lease_and_no_live_one(programs: Programs) -> None:
    with programs.started(HOLDS) as live, programs.started(HOLDS) as killed:
        live_path, killed_path = (one.stdout.readline().split()[0] for one in (live, killed))
        killed.kill()
        killed.wait()
        _clean(programs)
        assert not os.path.exists(killed_path)
        assert os.listdir(live_path) == ["work"]
        _clean(programs)
        assert programs.sessions() == sorted([os.path.basename(live_path), os.path.basename(live_path) + ".lease"])


def test_clean_removes_expired_hand_overs_and_no_others(programs: Programs) -> None:
    source = 'import tmpwarden\nwith tmpwarden.session("mycli") as s: print(s.hand_over("report", keep=%d))'
    with programs.started(HOLDS) as live:
        running = live.stdout.readline().split()[1]
        fresh = Path(programs.run(source % 10000).stdout.strip())
        expired, running = _older(programs.run(source % 1).stdout.strip()), _older(running)
        assert programs.hand_overs() == sorted([expired, fresh, running])
        _clean(programs)
        assert programs.hand_overs() == sorted([fresh, running])


def test_the_run_that_sees_an_expired_hand_over_takes_it(programs: Programs) -> None:
    """Its time has just passed; nothing says that it must lie about for another minute."""
    source = 'import tmpwarden\nwith tmpwarden.session("mycli") as s: print(s.hand_over("report", keep=1))'
    report = Path(programs.run(source).stdout.strip())
    until = report.parent.stat().st_mtime
    while time.time() < until:
        time.sleep(0.05)
    _clean(programs, later_s=0)
    assert programs.hand_overs() == []


def test_a_killed_sessions_expired_hand_over_goes_in_the_same_run(programs: Programs) -> None:
    with programs.started(HOLDS) as killed:
        report = killed.stdout.readline().split()[1]
        killed.kill()
        killed.wait()
    _older(report)
    _clean(programs)
    assert (programs.hand_overs(), programs.sessions()) == ([], [])

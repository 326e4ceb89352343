"""A server with one disk, full to the last byte, in a kernel of its own: all its processes can be seen.

tmpwarden was just installed and has run never. Sessions of an agent that was killed lie in /tmp, 5 MB each; a film of
the user's lies in the home, on the same file system.
"""

import json
import shutil
import time
import uuid
from pathlib import Path

import pytest

from support import quota_kernel
from support.command import AHEAD
from support.mounts import needs_root
from support.user import OrdinaryUser

SESSIONS = [str(uuid.UUID(int=number + (1 << 100))) for number in range(4)]
WORLD = """
mkdir -m 1777 tmp
mkdir -p home/.claude/sessions /run/bin
cp /mnt/share/records/* home/.claude/sessions/
chown -R {uid}:{uid} home
printf '#!/bin/sh\\nexec {python} -B /mnt/share/ahead.py 400000 -m tmpwarden "$@"\\n' >/run/bin/tmpwarden
chmod 755 /run/bin/tmpwarden
he() {{
  setpriv --reuid {uid} --regid {uid} --clear-groups env -i HOME=/mnt/disk/home PATH=/run/bin:/usr/bin:/bin \\
    TMPWARDEN_ROOTS=/mnt/disk/tmp PYTHONPATH={library} LANG=C.UTF-8 "$@"
}}
for session in {sessions}; do
  he mkdir -p tmp/claude-{uid}/-work/$session/tasks
  he sh -c "head -c 5M /dev/zero >tmp/claude-{uid}/-work/$session/tasks/b1.output"
done
he sh -c 'head -c 4M /dev/zero >home/film.mkv'
he sh -c '{fill}' 2>/dev/null
echo "was full"
{way}
he sh -c 'echo x >tmp/true && mkdir home/new && echo x >home/new/file'
he tmpwarden log --json -n 50 >/mnt/share/log.json
ls tmp/claude-{uid}/-work 2>/dev/null || :
stat -c %s home/film.mkv
"""
FILL = """
for round in 1 2 3 4 5 6 7 8 9; do  # ext4 gives back what it had set aside for writes that were not on the disk yet
  dd if=/dev/zero of=home/download-$round bs=64K
  n=0; while echo x >home/rest-$round-$n; do n=$((n + 1)); done
  sync
  echo x >tmp/probe || exit 0
done
exit 1
"""
CLEAN = "he tmpwarden clean --yes --json >/mnt/share/cleaned.json"
DOCTOR = """
he tmpwarden doctor --json >/mnt/share/doctor.json || :
he sh -c "$({python} -c '{worst}' </mnt/share/doctor.json)" >/dev/null 2>&1
"""
WORST = 'import json, sys; print(json.load(sys.stdin)["data"]["diagnoses"][0]["remedy"])'


@needs_root
@pytest.mark.parametrize(
    ("way", "uid"),
    [
        pytest.param("clean", 4712, id="clean-user"),
        pytest.param("doctor", 0, id="doctor-root"),
        pytest.param("clean", 0, id="clean-root", marks=pytest.mark.long),
        pytest.param("doctor", 4712, id="doctor-user", marks=pytest.mark.long),
    ],
)
def test_one_clean_or_the_doctors_first_remedy_makes_commands_work_again(
    ordinary_user: OrdinaryUser, way: str, uid: int
) -> None:
    share = ordinary_user.base
    (share / "records").mkdir()
    for number, session in enumerate(SESSIONS):
        write_record(share / "records" / f"{4_000_000 + number}.json", session)
    shutil.copy(AHEAD, share / "ahead.py")
    words = {"python": ordinary_user.python, "library": ordinary_user.library, "uid": uid}
    command = CLEAN if way == "clean" else DOCTOR.format(python=ordinary_user.python, worst=WORST)
    script = WORLD.format(sessions=" ".join(SESSIONS), fill=FILL, way=command, **words)
    told = quota_kernel.said(share, script).split("\n")
    at = told.index("was full")
    assert told[at + 1 :] == [str(4 << 20), ""], "no session is left, and the film is whole"
    log = (share / "log.json").read_text()
    assert all(session in log for session in SESSIONS), log


def write_record(path: Path, session: str) -> None:
    record = {"pid": int(path.stem), "sessionId": session, "procStart": "1", "startedAt": int(time.time() * 1000)}
    path.write_text(json.dumps(record))

"""A quota of a user, a group or a project is used up, in a kernel that has them: the remedy makes commands work."""

import json
import shutil
import time
import uuid
from typing import Any

import pytest

from support import quota_kernel
from support.command import AHEAD
from support.mounts import needs_root
from support.user import OrdinaryUser

SESSION = str(uuid.uuid4())
WORLD = """
mkdir -m 1777 tmp
{limits}
mkdir -p /run/home/.claude/sessions /run/bin
cp /mnt/share/record.json /run/home/.claude/sessions/4000000.json
chown -R 4712:4710 /run/home
printf '#!/bin/sh\\nexec {python} -B /mnt/share/ahead.py 7200 -m tmpwarden "$@"\\n' >/run/bin/tmpwarden
chmod 755 /run/bin/tmpwarden
he() {{
  setpriv --reuid 4712 --regid 4710 --clear-groups env -i HOME=/run/home PATH=/run/bin:/usr/bin:/bin \\
    TMPWARDEN_ROOTS=/mnt/disk/tmp PYTHONPATH={library} LANG=C.UTF-8 "$@"
}}
he mkdir -p tmp/claude-4712/-work/{session}
he head -c 6M /dev/zero >/run/zero
he sh -c 'cat /run/zero >tmp/claude-4712/-work/{session}/big; cat /run/zero >tmp/mine 2>/dev/null || :'
he sh -c '{fill}' 2>/dev/null
he tmpwarden doctor --json >/mnt/share/before.json || :
he sh -c "$(cat /mnt/share/before.json | {python} -c '{worst}')" >/dev/null
he sh -c 'echo x >tmp/true'
he tmpwarden doctor --json >/mnt/share/after.json || :
ls tmp; ls tmp/claude-4712/-work 2>/dev/null || :
"""
FILL = """
n=0
for round in 1 2 3 4 5 6 7 8 9; do  # ext4 gives back what it had set aside for writes that were not on the disk yet
  while echo x >tmp/$n; do n=$((n + 1)); done
  sync
  echo x >tmp/true || exit 0
done
exit 1
"""
WORST = 'import json, sys; print(json.load(sys.stdin)["data"]["diagnoses"][0]["remedy"])'


@needs_root
@pytest.mark.parametrize(
    ("limits", "whose"),
    [
        pytest.param("setquota -u 4712 8192 8192 0 0 .", "has reached your quota", id="user"),
        pytest.param(
            "setquota -g 4710 8192 8192 0 0 .",
            "has reached the quota of group 4710",
            id="group",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "chattr -p 42 tmp; chattr +P tmp; setquota -P 42 8192 8192 0 0 .",
            "has reached the quota of project 42",
            id="project",
        ),
    ],
)
def test_a_used_up_quota_is_named_and_the_remedy_as_printed_ends_it(
    ordinary_user: OrdinaryUser, limits: str, whose: str
) -> None:
    share = ordinary_user.base
    record = {"pid": 4_000_000, "sessionId": SESSION, "procStart": "1", "startedAt": int(time.time() * 1000)}
    (share / "record.json").write_text(json.dumps(record))
    shutil.copy(AHEAD, share / "ahead.py")
    words = {"python": ordinary_user.python, "library": ordinary_user.library, "session": SESSION}
    left = quota_kernel.said(share, WORLD.format(limits=limits, worst=WORST, fill=FILL, **words))

    def told(name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((share / name).read_text())["data"]["diagnoses"]
        return found

    worst = told("before.json")[0]
    assert (worst["check"], worst["status"], worst["remedy"]) == ("room", "fail", "tmpwarden clean --yes")
    assert f"/mnt/disk/tmp (ext4 at /mnt/disk) {whose}" in worst["summary"]
    assert "8.0 MB of 8.0 MB used" in worst["detail"]
    assert [each["summary"] for each in told("after.json") if each["status"] == "fail"] == []
    names = left.split()
    assert "mine" in names and "true" in names and SESSION not in names, "the user's own file stays"

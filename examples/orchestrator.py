"""orchestrator.py COMMAND...: run one agent with a temp directory of its own, and say what became of it. Complete."""

import json
import subprocess
import sys
import uuid

import tmpwarden


def main(command: list[str]) -> int:
    session = f"job-{uuid.uuid4()}"
    with tmpwarden.lease("claude", session=session) as scratch:  # 0700, and a lease that names this process
        agent = subprocess.Popen(command, env=scratch.env)  # TMPDIR, TMP and TEMP lead into it
        scratch.adopt(agent.pid)  # the agent owns it too: a crash of ours costs it nothing
        status = agent.wait()
        ended = tmpwarden.teardown(session=session)  # at once, whatever its age; never raises; safe to call twice
    receipt = {
        "session": session,
        "status": status,
        "removed": [receipt.finding.path for receipt in ended.removed],
        "kept": {receipt.finding.path: receipt.reason.value for receipt in ended.kept},  # a process still uses it
        "error": ended.error,
    }
    print(json.dumps(receipt))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A Mac, simulated, whose libproc answers (fakeproc.c): the self-test decides, then a person's clean removes what
nobody uses and keeps what somebody does; hooks hand out and remove only by the user's word. It proves control flow and
what a doubt does, and no offset, error number or hiding of a Mac's kernel."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.bases import remove
from support.mac_world import MacWorld, mac_world
from support.mounts import needs_root

pytestmark = needs_root
IN_NINE_DAYS = """
import json, sys, time, tmpwarden
later = lambda: time.time_ns() + 9 * 86_400 * 10**9
result = tmpwarden.clean(dry_run=sys.argv[1] == "preview", now_ns=later)
went = result.planned if sys.argv[1] == "preview" else [r for r in result.receipts if r.outcome.value != "kept"]
print(json.dumps({"gone": sorted(each.finding.litter.key for each in went),
                  "kept": sorted(f"{each.finding.litter.key} {each.reason.value}" for each in result.kept)}))
"""


@pytest.fixture
def mac(tmp_path: Path) -> Iterator[MacWorld]:
    place = tmp_path / "mac"
    place.mkdir()
    with mac_world(place, tells=True) as world:
        yield world
    remove(place)


def command(mac: MacWorld, *words: str) -> str:
    done = mac.run(sys.executable, "-m", "tmpwarden", *words)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def cleaned(mac: MacWorld, how: str) -> dict[str, list[str]]:
    done = mac.run(sys.executable, "-c", IN_NINE_DAYS, how)
    assert done.returncode == 0, done.stderr
    answer: dict[str, list[str]] = json.loads(done.stdout)
    return answer


def root_of(mac: MacWorld) -> Path:
    return Path(mac.env["TMPWARDEN_ROOTS"]).resolve()


def test_the_self_test_decides_whether_anything_can_be_said(mac: MacWorld) -> None:
    assert "has not been tested on this build" in command(mac, "status")
    command(mac, "doctor")
    assert "could not be checked" not in command(mac, "status")
    assert "could not be checked" not in command(mac, "orphans")


def test_a_persons_clean_takes_what_nobody_uses_as_its_preview_said_and_keeps_what_is_open(mac: MacWorld) -> None:
    root = root_of(mac)
    (root / "claude-1a2b-cwd").write_text("/home/me\n")
    session = root / f"claude-{os.geteuid()}" / "-home-me-shop" / "11111111-1111-4111-8111-111111111111" / "tasks"
    session.mkdir(parents=True)
    (session / "a.output").write_text("mine\n")
    with mac.living(str(session / "a.output")):
        promised, done = cleaned(mac, "preview"), cleaned(mac, "deed")
    assert promised == done == {"gone": ["claude.cwd-marker"], "kept": ["claude.session open-file"]}
    assert not (root / "claude-1a2b-cwd").exists()
    assert (session / "a.output").read_text() == "mine\n"
    assert "claude.session" in cleaned(mac, "deed")["gone"], "nobody uses it any more"


def started(mac: MacWorld, number: int) -> tuple[str, list[Path]]:
    """A session whose agent lives as long: what the model was told, and the scratches right before its end."""
    entry = next(Path(mac.env["XDG_DATA_HOME"]).glob("tmpwarden/*/tmpwarden/hooks/run.py"))
    with mac.living() as agent:
        told = ""
        for event in ("SessionStart", "SessionEnd"):
            payload = {"session_id": f"s-{number}", "hook_event_name": event, "source": "startup", "reason": "other"}
            env = {"CLAUDE_PID": str(agent), "CLAUDE_ENV_FILE": f"{mac.env['HOME']}/env-{number}"}
            done = mac.run(
                sys.executable,
                "-I",
                "-S",
                str(entry),
                "claude",
                event,
                stdin=json.dumps({**payload, "cwd": "/"}),
                env=env,
            )
            assert (done.returncode, done.stderr) == (0, "")
            told += done.stdout
        made = scratches(mac)
    return told, made


def scratches(mac: MacWorld) -> list[Path]:
    return [path for path in root_of(mac).glob("tmpwarden-*/[0-9a-f]*") if path.is_dir()]


def test_hooks_hand_out_what_they_also_remove_and_only_by_the_users_word(mac: MacWorld) -> None:
    command(mac, "doctor")
    assert "[macos] remove = true" in command(mac, "install", "claude")
    assert started(mac, 0) == ("", [])
    config = Path(mac.env["XDG_CONFIG_HOME"], "tmpwarden")
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text("[macos]\nremove = true\n")
    for number in range(1, 4):
        told, made = started(mac, number)
        assert "deleted after this session" in told and len(made) >= 1
        until = time.monotonic() + 30
        while scratches(mac) and time.monotonic() < until:
            time.sleep(0.1)
        assert scratches(mac) == []

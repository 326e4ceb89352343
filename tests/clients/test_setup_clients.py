"""`tmpwarden setup` on homes with all six real agents and odd settings of every kind: all of it in, all of it out."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.harness import REPOSITORY, TMPWARDEN, need, run_agent
from clients.set_up import AGENTS, CRONTAB, PATH, PYTHON, by_function, setup, tmpwarden
from support.bases import base_for_all
from support.odd_homes import FORMS
from support.user import AS_HIM, UID
from tmpwarden.agent_facts import FACTS

pytestmark = pytest.mark.clients


@pytest.fixture
def home() -> Iterator[Path]:
    with base_for_all() as base:
        (base / "bin").mkdir()
        (base / "bin" / "crontab").write_text(CRONTAB)
        (base / "bin" / "crontab").chmod(0o755)
        os.chown(base, UID, UID)
        yield base


@pytest.mark.parametrize("form", FORMS)
def test_with_six_real_agents_every_byte_mode_attribute_and_link_is_as_before(form: str, home: Path) -> None:
    for agent in AGENTS:
        need(agent)
    env = {"PATH": PATH.replace("$HOME", str(home)).replace("$PATH", "/usr/local/bin:/usr/bin:/bin")}
    argv = [str(PYTHON), str(REPOSITORY / "tests/support/odd_homes.py"), str(TMPWARDEN), form, str(home)]
    done = subprocess.run(argv, env=env, **AS_HIM, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for facts in FACTS.values():
        assert f"{facts['name']}: hooks" in done.stdout


SETTINGS = {
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "copilot": ".copilot/config.json",
    "opencode": ".config/opencode/opencode.json",
    "qwen": ".qwen/settings.json",
}
# a comment before, in and behind what the agent was given; Copilot was given no settings, and Qwen writes its version
# into what has none
DECORATE = """f={file}; [ -e $f ] || {{ mkdir -p $(dirname $f); printf '{{\\n}}\\n' >$f; }}
case $f in *qwen*) sed -i '0,/{{/s//{{\\n "$version": 4,/' $f ;; esac
case $f in
    *.toml) sed -i '1i # mine' $f; echo '# last' >>$f ;;
    *copilot*) ;;
    *) sed -i '1s,^,// mine\\n,; $s,$,\\n// last,' $f ;;
esac
chmod 640 $f; cp -p $f /home/u/former"""


@pytest.mark.parametrize("agent", SETTINGS)
def test_an_agent_reads_its_commented_settings_with_our_lines_in_and_has_them_back_after_a_session(agent: str) -> None:
    file = SETTINGS[agent]
    options = ["--argv", by_function(agent)] if agent == "copilot" else []
    before = f"cd && {DECORATE.format(file=file)}; cd ~- && {setup()}"
    same = f"cmp ~/{file} ~/former && [ $(stat -c %a ~/{file}) = 640 ] && echo as before"
    post = f"grep -c tmpwarden ~/{file} ~/.codex/hooks.json; {tmpwarden('setup', '--remove', '--yes')} >&2 && {same}"
    result = run_agent(agent, *options, setup=before, post=post)
    shells, said = result["shells"], result["post"]
    assert isinstance(shells, list) and isinstance(said, dict)
    assert shells[0]["gettempdir"].startswith("/tmp/tmpwarden-1000/"), result["stderr"]
    assert agent == "copilot" or "as before" in said["out"], said
    assert json.dumps(result["model"]).count("PROBE-RAN") >= 1

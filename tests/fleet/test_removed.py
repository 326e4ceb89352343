"""The rest of docs/fleet.md: a host that is down, taking it all away, and other ways in than a wheel."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hosts.host import Host
from hosts.steps import litter
from support.own_machine import REPOSITORY
from tmpwarden import __version__

from .controller import Controller
from .network import Network
from .rolling import AT_ONCE, OURS, POLICY, WHOM, RolledOut, leave, wait_a_minute
from .test_fleet import METRICS, changed

pytestmark = pytest.mark.fleet
FOR_ALICE = {"tmpwarden_whole_host": False, "tmpwarden_users": ["alice"]}
AS_REDHAT = """- hosts: one
  gather_facts: false
  tasks:
    - name: Say that it is of another family than it is
      ansible.builtin.set_fact:
        os_family: RedHat
        cacheable: true
- import_playbook: tmpwarden.fleet.rollout
"""


def test_a_host_that_is_down_is_told_and_does_not_stop_the_rest(
    rolled_out: RolledOut, controller: Controller, hosts: dict[str, Host], network: Network
) -> None:
    leave(hosts["one"], "alice")
    network.set_wire(hosts["two"], "down")
    try:
        doctored = controller.play("doctor", check=False)
        wish = {**controller.pin, "tmpwarden_config": POLICY, "tmpwarden_serial": [1, 1, 1]}
        rolled = controller.play("rollout", check=False, **wish)
        wait_a_minute(hosts["one"])
        reported = controller.play("report", check=False, tmpwarden_report_dir=str(controller.home / "down"))
        cleaned = controller.play("clean", check=False, tmpwarden_yes=True)
    finally:
        network.set_wire(hosts["two"], "up")
    for each in (reported, cleaned, doctored, rolled):
        assert each.status != 0 and "could not be reached: two" in each.out, each.out[-3000:]
    table = (controller.home / "down" / "table.txt").read_text()
    assert ["two", "-", "-", "-", "could", "not", "be", "reached"] in [line.split() for line in table.splitlines()]
    assert litter(hosts["one"], "alice") == 0
    assert (rolled.failed["one"], rolled.failed["three"]) == (0, 0)


def test_it_is_taken_away_again_and_nothing_of_it_stays(
    rolled_out: RolledOut, controller: Controller, hosts: dict[str, Host]
) -> None:
    would = controller.play("remove", "--check", **WHOM)
    assert all(count > 3 for count in changed(would).values())
    for host in hosts.values():
        assert host.says("systemctl is-active tmpwarden.timer") == "active"
    controller.play("remove", **WHOM)
    again = controller.play("remove", **WHOM)
    assert changed(again) == dict.fromkeys(hosts, 0)
    for host in hosts.values():
        more = f"{METRICS} /usr/local/lib/tmpwarden /etc/tmpfiles.d/tmpwarden.conf"
        more += " ~bob/.local/bin/tmpwarden ~bob/.local/lib/tmpwarden"
        assert host.says(f"ls -d {OURS} {more} 2>/dev/null; true").removesuffix("/etc/claude-code") == ""
        assert host.is_green()
    hosts["one"].run("! grep -rs tmpwarden ~alice/.claude /etc/claude-code")


def test_the_feature_of_dev_containers_installs_the_wheel_beside_it(
    controller: Controller, hosts: dict[str, Host]
) -> None:
    host = hosts["two"]
    shutil.copytree(REPOSITORY / "deploy" / "devcontainer" / "src" / "tmpwarden", host.tree / "opt/feature")
    host.run("mkdir -p ~/.claude", user="alice")
    host.run("! sh /opt/feature/install.sh")  # there is no wheel yet, and no index is asked
    shutil.copytree(controller.wheels, host.tree / "opt/feature", dirs_exist_ok=True)
    host.run("PIP_NO_INDEX=1 PIP_FIND_LINKS=/opt/feature HOOKS=true sh /opt/feature/install.sh")
    host.run("/usr/local/share/tmpwarden/post-create", user="alice")
    assert host.says("tmpwarden --version", user="alice") == f"tmpwarden {__version__}"
    host.run("grep -q tmpwarden ~/.claude/settings.json", user="alice")
    host.run("rm -r /opt/tmpwarden /usr/local/bin/tmpwarden")


def test_from_an_index_from_a_mirror_and_on_the_rhel_branch(
    controller: Controller, hosts: dict[str, Host], network: Network
) -> None:
    """`two` asks pip's own index, which its pip.conf says, `three` the mirror that the role names, for alice alone.
    `one` is told to be of the RHEL family: its python3.11 is a link, all else is what the role does there."""
    address = f"http://{network.GATEWAY}:8080/simple"
    trusted = f"[global]\ntrusted-host = {network.GATEWAY}\n"
    hosts["two"].write("/etc/pip.conf", f"{trusted}index-url = {address}\n")
    hosts["three"].write("/etc/pip.conf", trusted)
    hosts["one"].run("ln -s /usr/bin/python3 /usr/local/bin/python3.11")
    version = {"tmpwarden_version": __version__}
    wanted: dict[str, dict[str, object]] = {
        "one": {**controller.pin},
        "two": version,
        "three": {
            **version,
            "tmpwarden_index_url": address,
            "tmpwarden_whole_host": False,
            "tmpwarden_users": ["alice"],
        },
    }
    places = controller.home / "host_vars"
    places.mkdir()
    for name, variables in wanted.items():
        (places / f"{name}.json").write_text(json.dumps(variables))
    (controller.home / "redhat.yml").write_text(AS_REDHAT)
    with serving(mirror(controller), network):
        first = controller.play(str(controller.home / "redhat.yml"), **AT_ONCE)
        again = controller.play(str(controller.home / "redhat.yml"), **AT_ONCE)
    assert changed(first)["three"] == 1 and changed(again) == dict.fromkeys(hosts, 0)
    assert hosts["one"].says("readlink /opt/tmpwarden/venv/bin/python3.11; true") != ""
    assert hosts["two"].says("tmpwarden --version") == f"tmpwarden {__version__}"
    assert hosts["three"].says("/home/alice/.local/bin/tmpwarden --version", user="alice") == f"tmpwarden {__version__}"
    hosts["three"].run("! test -e /opt/tmpwarden")


def mirror(controller: Controller) -> Path:
    """A directory as PyPI's simple index has it."""
    index = controller.home / "index"
    for wheel in controller.wheels.glob("*.whl"):
        place = index / "simple" / wheel.name.split("-")[0].lower().replace("_", "-")
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, place)
    return index


@contextmanager
def serving(directory: Path, network: Network) -> Iterator[None]:
    argv = [sys.executable, "-m", "http.server", "8080", "--bind", network.GATEWAY, "-d", str(directory)]
    server = subprocess.Popen(network.inside(argv), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.kill()
        server.wait()

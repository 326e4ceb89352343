"""Ann and Bob share a server, and root's timer cleans for both.

Both have a killed session in the shared /tmp and one that lives. Bob has also planted things for root to trip over: a
broken configuration, a link where his agent's directory would be, a file of his in a name that looks like Ann's.
Root's tick removes what is dead of each, by each one's own rules, touches nothing that lives and nothing that is the
other's, and prints no more than a person would read.
"""

from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import Machine, Person

pytestmark = pytest.mark.journey
TICK = "tmpwarden clean --all-users --yes"


def a_dead_and_a_live_session(person: Person) -> tuple[str, str]:
    """(the directory of a killed session's outputs, the file that a living one writes)."""
    dead = person.agent()
    output = dead.background("echo old")["output"]
    person.types(f"until [ -s {output} ]; do sleep 0.05; done").must()
    dead.is_killed()
    alive = person.agent(project="long")
    return str(output).rpartition("/tasks/")[0], str(alive.background("echo new")["output"])


def nine_days(start: Start) -> tuple[Machine, Person, Person, dict[str, tuple[str, str]]]:
    machine = start("ext4", 48, "ann", "bob")
    ann, bob = machine.person("ann"), machine.person("bob")
    left = {each.name: a_dead_and_a_live_session(each) for each in (ann, bob)}
    machine.days_pass(9)
    return machine, ann, bob, left


def test_roots_tick_removes_what_is_dead_of_each_and_nothing_that_lives(
    start: Start, tell: Callable[[str], None]
) -> None:
    machine, ann, bob, left = nine_days(start)
    bob.types(
        f"mkdir -p /tmp/claude-{ann.uid}-x && echo bobs > /tmp/claude-{ann.uid}-x/f && ln -s /home/ann /tmp/claude-0"
    )
    ann.types("mkdir -p ~/papers && echo thesis > ~/papers/thesis").must()
    said = machine.root.types(TICK).must()
    for person in (ann, bob):
        dead, alive = left[person.name]
        assert not person.path(dead).exists(), said.text
        assert person.path(alive).read_text() == "new\n", said.text
    assert machine.path(f"/tmp/claude-{ann.uid}-x/f").read_text() == "bobs\n"
    assert ann.path("~/papers/thesis").read_text() == "thesis\n"
    for person in (ann, bob):
        person.types("tmpwarden undo").must()
        dead, _ = left[person.name]
        assert person.path(dead).stat().st_uid == person.uid
    tell("root's tick took one dead session of each of two users, both could undo it, and nothing alive was touched")


def test_a_users_broken_configuration_costs_the_other_nothing_and_root_a_line(
    start: Start, tell: Callable[[str], None]
) -> None:
    machine, ann, bob, left = nine_days(start)
    bob.types(
        "mkdir -p ~/.config/tmpwarden && head -c 200K /dev/zero | tr '\\0' '[' > ~/.config/tmpwarden/config.toml"
    ).must()
    said = machine.root.types(TICK, timeout_s=60)
    assert not ann.path(left["ann"][0]).exists(), said.text
    assert len(said.text.splitlines()) < 40 and len(said.text) < 8000, f"{len(said.text)} bytes: {said.text[:2000]}"
    assert "Traceback" not in said.text, said.text
    assert "bob" in said.text, said.text
    tell(f"a broken configuration of Bob's: Ann's dead session went all the same, root read {len(said.text)} bytes")

"""What a row waits, it waits for every caller: the age for all rows shortens none of their own, nor the user's word."""

import json
import os
import sys
from pathlib import Path

import pytest

from support import own_machine
from support.examples import makes_all
from support.litter import later
from support.mounts import needs_root
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean

SCRIPT = Path(own_machine.__file__).with_name("waiting_rows.py")

LONG = [pytest.param(caller, marks=pytest.mark.long) for caller in ("tick", "server", "cron")]


@needs_root
@pytest.mark.parametrize("caller", ["hook", "person", "looks", *LONG])
def test_nothing_of_any_row_goes_an_hour_before_its_age(caller: str) -> None:
    """A hook's run at 80 h once purged the shell snapshot of a living session, which waits 30 days."""
    ages = "every" if makes_all() else "some"
    ended = own_machine.run(sys.executable, SCRIPT, caller, ages, timeout_s=300)
    assert ended.status == 0, ended.said
    told = json.loads(ended.said.splitlines()[-1])
    assert told["too_early"] == [] and told["said"] == []
    assert len(told["rows"]) > 100, "this shows something only if nearly all rows are there"
    assert {"claude.shell-snapshot", "claude.session"} <= set(told["rows"])
    if caller != "looks":
        assert {"claude.shell-snapshot", "claude.session"} <= set(told["taken"]), "it takes them when they are due"


def test_the_general_age_of_the_settings_counts_where_a_row_says_nothing_else(own_world: Path) -> None:
    clean(Request(agents=("moat",)))  # somebody once said yes
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text('[periodic]\nmax_age = "30h"\n[automatic]\nmax = "100%"\n')
    file = own_world / "tmp" / "gemini-client-error-a-2.json"
    file.touch(mode=0o600)
    clean(Request(unattended=True), now_ns=later(29))
    assert os.path.exists(file)
    clean(Request(unattended=True), now_ns=later(31))
    assert not os.path.exists(file)

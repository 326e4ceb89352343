"""A bug report tells what a maintainer asks for and no name that is nobody else's business."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import planted
from support.command import data, tmpwarden
from tmpwarden.cli.commands.bugreport import Discreet

_SECRET = "acme-merger-2027"


@pytest.fixture
def told_world(own_world: Path) -> str:
    """A journal, a config and an environment that all hold a name; the session's id."""
    unit = planted.session(own_world / "tmp")
    secret = unit.parents[1] / f"-home-{_SECRET}"
    secret.mkdir(mode=0o700)
    unit.rename(secret / unit.name)
    data("clean", "--yes", later_s=planted.DAYS)
    data("keep", str(own_world / "home" / _SECRET / "thesis.pdf"))
    return unit.name


def test_every_section_is_there_and_no_name_is(told_world: str, own_world: Path) -> None:
    said = tmpwarden("bugreport").stdout
    sections = re.findall(r"^### (\w+)$", said, re.MULTILINE)
    assert sections == ["versions", "environment", "roots", "settings", "agents", "doctor", "journal"]
    assert "could not be told" not in said
    assert _SECRET not in said
    assert told_world not in said
    assert str(own_world) not in said
    assert '"t": "receipt"' in said


def test_names_are_told_when_asked_for(told_world: str) -> None:
    told = data("bugreport", "--names")
    assert any(_SECRET in str(each.get("path")) for each in told["journal"])
    assert told["versions"]["tmpwarden"]


def test_the_same_name_has_the_same_mark_in_one_report_and_another_in_the_next() -> None:
    one, other = Discreet(), Discreet()
    assert one.path("/tmp/alpha/x") == one.path("/tmp/alpha/x") != other.path("/tmp/alpha/x")
    assert one.path("/tmp/alpha").startswith("/tmp/#")


@given(st.text(min_size=3, max_size=12, alphabet="äbcdXYZ_ +="))
def test_no_component_of_a_path_survives(word: str) -> None:
    name = f"zq{word.strip()}qz"
    assert name not in Discreet().path(f"/tmp/{name}/{name}.txt")
    assert name not in str(Discreet().data({"path": f"/srv/{name}", "names": [name], "session": name}))


def test_a_broken_part_keeps_no_other_from_being_told(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir()
    config.write_text("[keep\n")
    os.environ["TMPWARDEN_ROOTS"] = str(own_world / "nowhere")
    told = data("bugreport")
    assert "not available" in str(told["roots"])
    assert told["versions"]["python"]

"""The keep list and `config show`."""

import json
import os
from pathlib import Path

import pytest

from support.command import answer, data, tmpwarden
from support.litter import claude_session


def test_a_kept_path_is_listed_and_can_be_forgotten(own_world: Path) -> None:
    path = str(own_world / "tmp" / "precious")
    assert data("keep", path)["paths"] == [path]
    assert data("keep", path)["paths"] == [path]
    assert data("keep", "--forget", path)["paths"] == []


def test_a_name_with_a_newline_and_bad_utf8_is_kept_exactly(own_world: Path) -> None:
    path = os.path.join(own_world, "tmp", "a\nb\udcff")
    tmpwarden("keep", path)
    assert data("keep")["paths"] == [path]
    assert "a\\nb\\xff" in tmpwarden("keep").stdout


def test_keeping_what_is_not_there_is_done_and_warned_of(own_world: Path) -> None:
    missing, there = str(own_world / "tmp" / "typo"), own_world / "tmp" / "there"
    there.mkdir()
    status, said = answer("keep", missing, str(there))
    assert (status, said["data"]["paths"]) == (0, [missing, str(there)])
    assert [missing in warning for warning in said["warnings"]] == [True]


def test_who_keeps_a_link_keeps_what_it_leads_to(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp")
    first, second = own_world / "home" / "results", own_world / "home" / "latest"
    first.symlink_to(unit)
    second.symlink_to("results")
    assert data("keep", str(second))["paths"] == [str(second), str(first), str(unit)]
    data("clean", "--yes", later_s=100 * 3600)
    assert unit.is_dir()
    assert data("keep", "--forget", str(second))["paths"] == []


@pytest.mark.parametrize("named", ["the link", "what lies behind it"])
def test_a_config_that_names_a_link_keeps_what_it_leads_to(own_world: Path, named: str) -> None:
    """Units are called as the kernel calls them: /private/tmp on a Mac, whatever a person writes."""
    unit = claude_session(own_world / "tmp")
    link = own_world / "home" / "runs"
    link.symlink_to(unit if named == "the link" else unit.parent)
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir()
    path = link if named == "the link" else link / unit.name
    config.write_text(f'[keep]\npaths = ["{path}"]\n')
    data("clean", "--yes", later_s=100 * 3600)
    assert unit.is_dir()
    config.unlink()
    data("clean", "--yes", later_s=100 * 3600)
    assert not unit.exists()


def test_a_link_that_leads_in_a_circle_is_kept(own_world: Path) -> None:
    one, two = own_world / "tmp" / "one", own_world / "tmp" / "two"
    one.symlink_to(two)
    two.symlink_to(one)
    assert str(one) in data("keep", str(one))["paths"]


def test_forgetting_what_was_never_kept_is_exit_5() -> None:
    result = tmpwarden("keep", "--forget", "/nowhere/at/all", "--json")
    assert (result.returncode, json.loads(result.stdout)["error"]["code"]) == (5, "not-found")


def test_config_show_tells_value_and_origin_of_every_key(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir()
    config.write_text('[periodic]\nevery = "2h"\n')
    keys = data("config", "show")["keys"]
    assert keys["periodic.every"] == {"value": 7200, "from": f"{config}:2"}
    assert keys["periodic.enabled"] == {"value": True, "from": "default"}
    assert keys["guard.default"]["value"] == "pass"
    assert "2h" in tmpwarden("config", "show").stdout


def test_a_config_file_that_was_named_and_is_missing_is_exit_3() -> None:
    result = tmpwarden("config", "show", "--config", "/nowhere.toml")
    assert result.returncode == 3
    assert "/nowhere.toml" in result.stderr

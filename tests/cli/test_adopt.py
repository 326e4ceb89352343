"""`adopt 'orch-*'`: a row of one's own, which takes nothing that was not asked for."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.command import answer, data, tmpwarden
from support.planted import DAYS, session
from tmpwarden.catalogue import adoption
from tmpwarden.errors import TmpwardenError
from tmpwarden.model.terms import Kind


@pytest.fixture
def root(own_world: Path) -> Path:
    for number in range(3):
        (own_world / "tmp" / f"orch-{number:04x}").mkdir()
        (own_world / "tmp" / f"orch-{number:04x}" / "log").write_text("x")
    (own_world / "tmp" / "orchard").mkdir()
    return own_world / "tmp"


def drop_in(own_world: Path) -> Path:
    return own_world / "config" / "tmpwarden" / "agents.d" / "adopted.toml"


def orchs(root: Path) -> int:
    return sum(name.startswith("orch-") for name in os.listdir(root))


def test_an_adopted_shape_is_shown_and_goes_only_when_it_is_asked_for(root: Path, own_world: Path) -> None:
    said = tmpwarden("adopt", "orch-*")
    assert (said.returncode, said.stderr) == (0, "")
    assert "adopted.orch now (3 entries)" in said.stdout
    found = data("scan", later_s=DAYS)
    assert {(each["agent"], each["litter"], each["reason"]) for each in found["findings"]} == {
        ("adopted", "orch", "only-when-asked")
    }
    assert [each["shape"] for each in found["unmatched"]] == ["orchard"]
    data("clean", "--yes", later_s=DAYS)
    assert orchs(root) == 3
    data("clean", "--yes", "--all", later_s=3600)
    assert orchs(root) == 3, "it is not 72 hours old"
    data("clean", "--yes", "--all", "--agent", "adopted", later_s=DAYS)
    assert orchs(root) == 0
    assert (root / "orchard").exists()
    assert tmpwarden("undo").returncode == 0
    assert orchs(root) == 3


def test_a_path_as_scan_shows_it_means_the_same(root: Path) -> None:
    assert data("adopt", f"{root}/orch-*")["row"] == "adopted.orch"
    assert data("adopt", "orch-*")["row"] is None, "added already"
    assert [each["why"] for each in data("adopt")["rows"]] == ["adopted: orch-*"]


def test_forgetting_takes_out_that_row_alone(root: Path, own_world: Path) -> None:
    data("adopt", "orch-*")
    data("adopt", "job_?.log")
    data("adopt", "--forget", "orch-*")
    assert [each["row"] for each in data("adopt")["rows"]] == ["adopted.job-log"]
    assert answer("adopt", "--forget", "orch-*")[0] == 5


def test_a_preview_writes_nothing(root: Path, own_world: Path) -> None:
    assert 'tier = "ask"' in tmpwarden("adopt", "--dry-run", "orch-*").stdout
    assert not drop_in(own_world).exists()


@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        "?",
        "**",
        "*.txt",
        "tmp.*",
        "a*/b",
        "",
        "claude-*",
        "tmpwarden-*",
        "[a-z]*",
        "/etc/orch-*",
        "[",
        "k*",
    ],
)
def test_what_would_take_too_much_is_refused(root: Path, own_world: Path, pattern: str) -> None:
    session(root)
    status, envelope = answer("adopt", pattern)
    assert status == 3, envelope
    assert not drop_in(own_world).exists()


def test_a_file_that_somebody_broke_is_not_written_over(root: Path, own_world: Path) -> None:
    data("adopt", "orch-*")
    drop_in(own_world).write_text("schema = 1\n[agent\n")
    assert answer("adopt", "job-*")[0] == 3
    assert drop_in(own_world).read_text() == "schema = 1\n[agent\n"


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_adopted_is_a_file_that_the_catalogue_reads_and_that_means_the_glob(
    glob: str, drawn: st.DataObject
) -> None:
    try:
        text = adoption.with_row("", glob, Kind.ANY, (), "seen")
    except TmpwardenError:
        return
    (row,) = adoption.rows(text)
    assert row.why == f"adopted: {glob}"
    assert adoption.rows(adoption.without_row(text, row)) == ()

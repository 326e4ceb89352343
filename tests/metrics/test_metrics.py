"""`tmpwarden metrics`: the same truth as scan and log, counters that only grow, and labels that tell nobody's paths."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import planted, promtext
from support.command import answer, data
from tmpwarden.cli.main import main
from tmpwarden.metrics import collectors, families, series
from tmpwarden.metrics.families import FAMILIES, Sample
from tmpwarden.model.request import Request
from tmpwarden.oskit.files import own_dirs, places, space
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import books, history

pytestmark = pytest.mark.disk

DROP_IN = """schema = 1
[agent]
id = "my-secret-project"
name = "mine"
[[litter]]
id = "x"
in = "{tmp}"
name = "secret-.*"
kind = "dir"
tier = "ask"
worth = "some"
owner = "none"
why = "mine"
seen = ["mine"]
matches = ["secret-a"]
spares = ["other"]
"""


def told(capsys: pytest.CaptureFixture[str], later_s: float = planted.DAYS) -> promtext.Series:
    assert main(["metrics"], now_ns=lambda: time.time_ns() + int(later_s * 1e9)) == 0
    return promtext.read(capsys.readouterr().out)


def summed(found: promtext.Series, name: str, *labels: str) -> float:
    return sum(value for key, value in promtext.named(found, name).items() if set(labels) <= set(key))


def test_litter_is_what_scan_tells(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted.markers(own_world / "tmp", 3)
    planted.session(own_world / "tmp", 70_000)
    planted.staging(own_world / "tmp")
    totals = data("scan", later_s=planted.DAYS)["totals"]
    found = told(capsys)
    assert summed(found, "litter_bytes") == totals["bytes"] > 0
    assert summed(found, "litter_inodes") == totals["entries"]
    assert summed(found, "litter_bytes", "verdict=remove") == totals["removable_bytes"] > 70_000
    assert summed(found, "litter_units", "agent=claude", "verdict=remove") == 4


def test_roots_are_what_the_kernel_says_and_each_is_told_once(
    own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    room = os.statvfs(own_world / "tmp")
    found = told(capsys)
    assert promtext.named(found, "root_size_bytes") == {("root=other-1",): room.f_blocks * room.f_frsize}
    assert promtext.named(found, "root_inodes") == {("root=other-1",): room.f_files}


def test_the_forecast_is_the_one_that_status_gives(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of what is free is used up in three hours by this history: it ends in three more."""
    now_s, root = time.time(), str(own_world / "tmp")
    room = history.usage(space.space_of(root))
    if room.bytes.used * 50 < room.bytes.free:
        pytest.skip("this file system is nearly empty: what it holds is too little to have grown")
    state = str(own_world / "state" / "tmpwarden")
    own_dirs.make_private_dir(state)
    for hours in (3, 2, 1):
        used = max(0, room.bytes.used - room.bytes.free * hours // 3)
        seen = history.Usage(history.Level(used, room.bytes.free), history.Level(0, 0))
        assert history.note(state, history.Moment(int((now_s - hours * 3600) * 1e9), "tick", {root: seen}, 0, 0))
    assert data("status")["roots"][0]["path"] == root
    found = told(capsys, later_s=0)
    assert summed(found, "root_growth_bytes_per_second") > 0
    assert 0 < summed(found, "root_full_seconds") < 6 * 86400


def test_counters_add_up_over_cleans_and_outlive_them(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    removed = 0
    for number in (1, 2):
        planted.markers(own_world / "tmp", 3)
        planted.session(own_world / "tmp", 10_000)
        gone = data("clean", "--yes", later_s=planted.DAYS)["removed"]
        removed += sum(each.get("count", 1) for each in gone)
        found = told(capsys)
        assert summed(found, "removed_units_total") == removed >= 4 * number
        assert summed(found, "cleans_total", "result=ok") == number
    assert summed(found, "freed_inodes_total") >= 6
    assert summed(found, "quarantine_units") == 1  # the first one has expired in those days
    assert summed(found, "quarantine_bytes") >= 10_000
    assert summed(found, "last_clean_success") == 1
    assert abs(summed(found, "last_clean_timestamp_seconds") - places_mtime()) < 0.01


def places_mtime() -> float:
    return os.stat(f"{places.state_dir()}/last-clean").st_mtime


def test_a_clean_of_a_part_is_no_last_clean(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted.markers(own_world / "tmp", 2)
    data("clean", "--yes", "--agent", "claude", later_s=planted.DAYS)
    found = told(capsys)
    assert summed(found, "removed_units_total") == 2
    assert summed(found, "cleans_total") == 0
    assert "last_clean_success" not in {key[0] for key in found}


def test_what_an_unattended_clean_failed_of_is_counted_by_its_code(
    own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert clean(Request(roots=("/",), unattended=True)).error
    assert clean(Request(roots=("/",))).error  # a person has read it
    assert summed(told(capsys), "failures_total", "code=unsafe-root") == 2


@pytest.mark.parametrize("content", ["", "[]", '{"removed_units": -1}', "\x00" * 9000, '{"removed_units": 1e999}'])
def test_a_broken_tally_begins_again_at_zero(own_world: Path, content: str) -> None:
    state = own_world / "state" / "tmpwarden"
    state.mkdir(mode=0o700)
    (state / "tally").write_text(content)
    assert books.counts_so_far(str(state)) == books.CleanCounts()
    books.note_failure(str(state), "no-space")
    assert books.counts_so_far(str(state)).failures == {"no-space": 1}


def test_no_label_tells_a_path_a_session_or_a_name_of_the_users_own(
    own_world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unit = planted.session(own_world / "tmp")
    rows = own_world / "config" / "tmpwarden" / "agents.d"
    rows.mkdir(parents=True)
    (rows / "mine.toml").write_text(DROP_IN)
    (own_world / "tmp" / "secret-a").mkdir()
    assert main(["metrics"]) == 0
    text = capsys.readouterr().out
    assert "/" not in "".join(line for line in text.splitlines() if not line.startswith("#"))
    assert unit.name not in text and "secret" not in text
    assert summed(promtext.read(text), "litter_units", "agent=other") == 1


def test_a_part_that_breaks_is_missing_and_said_to_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(_: object) -> None:
        raise RuntimeError

    monkeypatch.setitem(collectors.COLLECTORS, "litter", breaks)
    found = told(capsys)
    assert summed(found, "collector_success", "collector=litter") == 0
    assert summed(found, "collector_success", "collector=doctor") == 1
    assert not promtext.named(found, "litter_units")


def test_json_and_a_file_tell_the_same(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = own_world / "out.prom"
    assert answer("metrics", "-o", str(file))[0] == 0
    told = set(promtext.read(file.read_text()))
    listed = {
        (each["name"].removeprefix("tmpwarden_"), *(f"{k}={v}" for k, v in each["labels"].items()))
        for each in data("metrics")["series"]
    }
    # two looks: what took long may take longer, and an agent of this machine may have come or gone
    varies = ("duration", "live_sessions", "orphan")
    assert {key for key in told ^ listed if not any(word in key[0] for word in varies)} == set()
    assert file.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs the program promtool")
def test_promtool_finds_nothing_to_say(own_world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted.session(own_world / "tmp")
    data("clean", "--yes", later_s=planted.DAYS)
    assert clean(Request(roots=("/",), unattended=True)).error
    capsys.readouterr()
    assert main(["metrics"]) == 0
    text = capsys.readouterr().out
    ran = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


def test_every_family_keeps_the_conventions() -> None:
    for family in FAMILIES.values():
        assert family.name.endswith("_total") == (family.kind == "counter")
        assert family.labels[:1] == ("user",) or "user" not in family.labels
        assert "\n" not in family.help and "\\" not in family.help


@given(st.text(st.characters(), max_size=40))
def test_any_name_is_one_label_on_one_line(name: str) -> None:
    text = families.text([Sample("user_success", 1, (name,))])
    shown = name.encode("utf-8", "replace").decode()
    assert len(text.encode("utf-8").split(b"\n")) == 4
    assert families.escaped(shown) in text
    line = text.split("\n")[2]
    assert promtext._plain(line.removeprefix('tmpwarden_user_success{user="').removesuffix('"} 1')) == shown


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8) | st.sampled_from([*FAMILIES, "/x"]),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=6))
def test_whatever_a_child_says_only_known_series_with_known_words_are_believed(rows: list[object]) -> None:
    for sample in series.accepted(json.dumps(rows), frozenset({"claude"})) or ():
        family = FAMILIES[sample.family]
        assert len(sample.labels) == len([label for label in family.labels if label != "user"])
        families.text([Sample(sample.family, sample.value, ("u",) * len(family.labels))])


@pytest.mark.parametrize(
    ("row", "is_believed"),
    [
        (["litter_units", 1, ["claude", "keep"]], True),
        (["litter_units", 1, ["root", "claude", "keep"]], False),
        (["litter_units", 1, ["x" * 9, "keep"]], False),
        (["litter_units", "1", ["claude", "keep"]], False),
        (["user_success", 1, []], True),
        (["user_success", 1, ["root"]], False),
        (["root_used_bytes", 1, ["/tmp"]], True),
        (["root_used_bytes", 1, ["tmp"]], False),
        (["made_up", 1, []], False),
        (["failures_total", 1, ["no such code"]], False),
    ],
)
def test_a_child_cannot_tell_of_others_nor_in_words_of_its_own(row: list[object], is_believed: bool) -> None:
    assert bool(series.accepted(json.dumps([row]), frozenset({"claude"}))) is is_believed


def test_a_child_cannot_tell_without_end() -> None:
    rows = json.dumps([["user_success", 1, []]] * 100_000)
    assert len(series.accepted(rows, frozenset()) or ()) == series.MOST_SAMPLES


def test_more_roots_than_a_host_should_tell_of_are_left_out() -> None:
    names = series.root_names([f"/srv/{number:03}" for number in range(50)] + ["/tmp", "/tmp"])
    assert sorted(names.values()) == [*(f"other-{number}" for number in range(1, 9)), "tmp"]


def test_what_is_no_file_is_not_replaced(own_world: Path) -> None:
    """As root, a file would take the place of the device."""
    target = own_world / "out"
    target.symlink_to("/proc/self/fd/1")
    status, envelope = answer("metrics", "-o", str(target))
    assert (status, envelope["error"]["code"]) == (3, "bad-argument")
    assert target.is_symlink()

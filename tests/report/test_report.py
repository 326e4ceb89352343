"""The report: whole in itself, true to `scan --json`, small, private, and deaf to what names from disk say."""

import json
import os
import re
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from support import planted
from support.command import answer, data, tmpwarden
from support.examples import examples
from support.litter import HOUR_NS
from support.reports import HOSTILE, Page, rows, scan_document, words_outside
from tmpwarden.cli import seen as seen_module
from tmpwarden.cli.wording import explained, explained_in
from tmpwarden.model.terms import Reason
from tmpwarden.oskit.files import places, space
from tmpwarden.report import page, sent
from tmpwarden.sweep.store import history
from tmpwarden.text import shown

pytestmark = pytest.mark.disk

IN_9_H = {"full_in_seconds": 9 * 3600}


@pytest.fixture
def root(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(own_world)
    return own_world / "tmp"


def drawn(*args: str, later_s: float = planted.DAYS) -> Page:
    told = data("report", *args, later_s=later_s)
    return Page(Path(told["path"]).read_text())


def of(document: dict[str, Any], own_world: Path) -> Page:
    """Drawn from what a host sent."""
    (own_world / "scan.json").write_text(json.dumps(document))
    return drawn("--from", str(own_world / "scan.json"))


def test_its_numbers_are_those_of_scan(root: Path) -> None:
    planted.markers(root, 30)
    planted.session(root, 400_000)
    planted.session(root, name="s<b>")
    (root / "mine").write_bytes(b"x" * 10_000)
    told = data("scan", later_s=planted.DAYS)
    page = drawn().data
    assert page["totals"] == told["totals"]
    keys = ("agent", "litter", "verdict", "reason", "bytes", "entries")
    expected = sorted(
        (shown(each["path"]), each.get("count", 1), *(each[key] for key in keys)) for each in told["findings"]
    )
    assert sorted((each["path"], each["count"], *(each[key] for key in keys)) for each in rows(page)) == expected
    assert [each["unmatched_bytes"] for each in page["accounts"]] == [
        each["unmatched_bytes"] for each in told["accounts"]
    ]
    room = page["roots"][0]
    assert room["percent"] == -(-100 * room["bytes_used"] // (room["bytes_used"] + room["bytes_free"])), "as df says it"


def test_the_sentence_on_top_says_how_full_what_may_go_and_what_to_run(root: Path) -> None:
    planted.session(root, 400_000)
    page = drawn()
    told = data("scan", later_s=planted.DAYS)
    words, command = page.data["headline"]
    assert re.fullmatch(rf"{root} is (\d+% )?full; [34]\d\d\.\d KB can be removed now: run", words)
    assert command == "tmpwarden clean"
    assert told["totals"]["removable_bytes"] > 400_000
    assert words.split(";")[1].strip() in words_outside(Path("tmpwarden-report.html").read_text()).replace("\xa0", " ")


def test_nothing_may_go_is_said_too(root: Path) -> None:
    words, command = drawn().data["headline"]
    assert words.endswith("nothing can be removed now.") and command == ""


@pytest.mark.parametrize(
    ("used", "free", "trend", "removable", "expected"),
    [
        (61, 39, {}, 3 << 30, "/tmp is 61% full; 3.0 GB can be removed now: run"),
        (61, 39, IN_9_H, 3 << 30, "/tmp is 61% full and will be full in about 9 h; 3.0 GB can be removed now: run"),
        (100, 0, {}, 0, "/tmp is full; 7 entries can be removed now: run"),
        (1, 99, {"full_in_seconds": None}, 1, "/tmp is 1% full; 1 B can be removed now: run"),
    ],
)  # fmt: skip
def test_the_sentence(used: int, free: int, trend: dict[str, Any], removable: int, expected: str) -> None:
    room = {"path": "/tmp", "bytes_total": 120, "bytes_free": free, "bytes_used": used, "trend": trend}
    room |= {"inodes_total": 0, "inodes_free": 0, "inodes_used": 0}
    totals = {"removable_bytes": removable, "removable_entries": 7}
    assert page.sentence([room], totals, "tmpwarden clean") == (expected, "tmpwarden clean")


def test_only_its_owner_reads_it_whatever_the_umask_and_whatever_was_there(root: Path) -> None:
    os.umask(0)
    Path("out.html").write_text("old")
    os.chmod("out.html", 0o666)
    assert data("report", "-o", "out.html")["path"] == os.path.abspath("out.html")
    assert stat.S_IMODE(os.stat("out.html").st_mode) == 0o600


@pytest.mark.parametrize("kind", ["fifo", "link to a device", "link to a descriptor"])
def test_what_is_no_file_is_not_replaced(root: Path, kind: str) -> None:
    """Root's `report -o /dev/full` or `-o /dev/stdout` would put a page in the place of a device."""
    if kind == "fifo":
        os.mkfifo("out.html")
    else:
        os.symlink("/dev/full" if kind == "link to a device" else "/proc/self/fd/1", "out.html")
    before = os.lstat("out.html")
    status, envelope = answer("report", "-o", "out.html")
    assert (status, envelope["error"]["code"]) == (3, "bad-argument")
    assert os.lstat("out.html").st_ino == before.st_ino


def test_a_link_in_its_place_is_replaced_and_not_followed(root: Path, own_world: Path) -> None:
    (own_world / "precious").write_text("mine")
    os.symlink(own_world / "precious", own_world / "out.html")
    data("report", "-o", "out.html")
    assert (own_world / "precious").read_text() == "mine"
    assert not os.path.islink("out.html")


def test_it_runs_one_script_and_asks_nobody_for_anything(root: Path) -> None:
    planted.session(root)
    page = drawn()
    assert page.policy.startswith("default-src 'none';")
    assert "unsafe" not in page.policy and "http" not in page.policy
    assert page.hashes_hold()
    assert [tag for tag, attrs in page.tags if attrs.get("src")] == []
    assert [attrs["href"] for _, attrs in page.tags if "href" in attrs] == ["data:,", "#found"]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on") or name == "style"]
    code = page.inside[2]
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "XMLHttp",
        "import(",
    ):
        assert word not in code, word


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_from_disk_changes_nothing_but_its_own_text(own_world: Path, root: Path, name: str) -> None:
    """Same elements, same script, same policy as with a harmless name."""
    document = scan_document(3)
    harmless = of(document, own_world)
    one = document["findings"][0]
    one |= {"path": f"/tmp/{name}", "agent": name, "litter": name, "detail": name, "reason": name, "verdict": "keep"}
    one["owner"] = {"state": name, "session": name}
    document["roots"][0] |= {"path": f"/{name}", "filesystem": name}
    document["unmatched"] = [{"root": "/tmp", "shape": name, "count": 1, "bytes": 1, "entries": 1, "newest_seconds": 1}]
    page = of(document, own_world)
    assert (page.tags, page.inside[0], page.inside[2]) == (harmless.tags, harmless.inside[0], harmless.inside[2])
    assert page.hashes_hold()
    assert "<" not in page.inside[1], "no browser can take any of it for the end of the element"
    assert shown(f"/tmp/{name}") in [each["path"] for each in rows(page.data)]


@given(st.text(st.characters(codec=None), max_size=40))
@example("\ud800")
@example("</script x")
@examples(60)
def test_no_text_leaves_the_place_where_it_stands(name: str) -> None:
    frame = {"headline": (name, name), "roots": [], "warnings": [name]}
    made = page.written(frame, []).decode()
    assert made.count("</script") == 2 and made.count("<script") == 2
    read = Page(made)
    assert read.hashes_hold() and read.data["warnings"] == [name]


def test_more_names_than_fit_are_summed_up_and_nothing_is_lost_from_the_sums() -> None:
    long = "<" * 255
    found = [
        {"path": f"/tmp/{number}/{long}{number}", "agent": "a", "litter": "l", "bytes": number, "entries": 2}
        | {"verdict": "keep", "age_seconds": 1, "owner": {"state": "none"}, "reason": "too-young"}
        | {"why": f"too young {number % 50}"}
        for number in range(8_000)
    ]  # fmt: skip
    assert page.MOST_BYTES == 15 << 20
    made = page.written({"headline": ("x", ""), "roots": [{"path": "/tmp"}]}, found, most_bytes=1 << 20)
    told = Page(made.decode()).data
    assert len(made) <= 1 << 20
    listed = rows(told)
    folded = told["findings"]["folded"]
    assert 0 < len(listed) < len(found), "the biggest are listed"
    assert min(each["bytes"] for each in listed) == len(found) - len(listed)
    assert sum(each["bytes"] for each in listed) + sum(each[7] for each in folded) == sum(
        each["bytes"] for each in found
    )
    assert len(listed) + sum(each[5] for each in folded) == len(found)


def test_every_verdict_has_the_words_that_scan_prints(root: Path, own_world: Path) -> None:
    planted.session(root)
    planted.marker(root)
    live = planted.session(root)
    descriptor = os.open(live, os.O_RDONLY)
    try:
        call = seen_module.Call(now_ns=lambda: time.time_ns() + int(planted.DAYS * 1e9))
        seen = seen_module.look(call, seen_module.Request(), in_full=False)
    finally:
        os.close(descriptor)
    told: Any = seen.document()
    assert [explained_in(each) for each in told["findings"]] == [explained(each) for each in seen.verdicts]
    assert any("(pid " in explained_in(each) for each in told["findings"])


def test_what_a_host_sent_is_drawn_as_it_was_measured(root: Path, own_world: Path) -> None:
    planted.session(root, 70_000)
    planted.markers(root, 5)
    told = tmpwarden("scan", "--json", later_s=planted.DAYS).stdout
    done = tmpwarden("report", "--from", "-", "-o", "sent.html", stdin=told)
    assert done.returncode == 0, done.stderr
    page = Page(Path("sent.html").read_text()).data
    assert page["totals"] == json.loads(told)["data"]["totals"]
    assert "history" not in page and "sessions" not in page and page["source"] == "stdin"


def test_what_hosts_sent_of_all_users_is_one_page(own_world: Path, root: Path) -> None:
    parts = [scan_document(3, seed=seed) for seed in (1, 2)]
    users = [{"user": name, "uid": 1, "data": part} for name, part in zip(("ann", "bob"), parts, strict=True)]
    page = of({"data": {"users": [*users, {"user": "eve", "data": None}]}}, own_world).data
    assert page["totals"]["findings"] == 6 and len(page["roots"]) == 1
    assert {each["agent"].split(": ")[0] for each in rows(page)} == {"ann", "bob"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not JSON"),
        ("[]", "it contains no findings"),
        ('{"data": null}', "it contains no findings"),
        ('{"findings": {}}', "a list is missing"),
        ('{"findings": [7]}', "finding 1 is no object"),
        ('{"findings": [{"path": 7}]}', "finding 1: path is not a text"),
        ("[" * 100_000, "it is not JSON"),
    ],
)
def test_what_is_no_scan_is_refused_in_one_sentence(root: Path, text: str, words: str) -> None:
    Path("x.json").write_text(text)
    status, told = answer("report", "--from", "x.json")
    assert (status, told["error"]["code"]) == (3, "bad-argument")
    assert words in told["error"]["message"]
    assert not Path("tmpwarden-report.html").exists()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
@examples(80, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_was_sent_is_drawn_or_refused(draws: st.DataObject) -> None:
    """One value of a good document replaced by anything."""
    document = scan_document(2)
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draws.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or draws.draw(st.booleans()):
            break
        place = place[key]
    place[key] = draws.draw(JSON)
    try:
        told, findings = sent.read(json.dumps(document))
    except ValueError:
        return
    for each in findings:
        each["why"] = explained_in(each)
    words = page.sentence(told["roots"], told["totals"], "tmpwarden clean")
    assert page.written(told | {"headline": words}, findings)


def test_history_forecast_and_what_was_saved_are_in_it(root: Path) -> None:
    planted.markers(root, 12)
    assert data("clean", "--yes", later_s=planted.DAYS)["freed_entries"] == 12
    state, now = places.state_dir(), space.space_of(str(root))
    Path(state, history.NAME).unlink()
    for hours in (3, 2, 1):
        seen = history.usage(now)
        history.note(state, history.Moment(time.time_ns() - hours * HOUR_NS, "tick", {str(root): seen}, 7 - hours, 1))
    page = drawn(later_s=0).data
    assert [each[1] for each in page["history"]["roots"][str(root)]] == [now.bytes_used] * 3
    assert [each[1] for each in page["history"]["freed"]] == [4, 5, 6]
    assert page["saved"]["entries"] == 12
    assert page["roots"][0]["trend"]["state"] in ("steady", "growing")


def test_what_waits_in_quarantine_is_listed_with_what_brings_it_back(root: Path) -> None:
    unit = planted.session(root)
    data("clean", "--yes", later_s=planted.DAYS)
    (waiting,) = drawn().data["quarantine"]
    assert waiting["path"] == str(unit)
    assert tmpwarden("undo", waiting["id"][:8]).returncode == 0
    assert unit.exists()


def test_what_was_rescued_and_how_agents_are_set_up_stand_there_as_their_commands_tell_it(
    root: Path, own_world: Path
) -> None:
    (own_world / "home" / ".claude").mkdir()
    (own_world / "plan").mkdir()
    (own_world / "plan" / "plan.pdf").write_bytes(b"%PDF-1.4\n" + b"x" * 5000)
    data("rescue", str(own_world / "plan"))
    data("keep", str(own_world / "plan"))
    shown_page = drawn().data
    (saved,) = data("rescue", "list")["rescued"]
    assert [(each["id"], each["bytes"], each["files"]) for each in shown_page["rescued"]] == [
        (saved["id"], saved["bytes"], len(saved["files"]))
    ]
    told = data("install")
    expected = {each["name"]: each["state"] for each in told["agents"]} | {"timer": told["timer"]}
    assert {each["what"]: each["state"] for each in shown_page["state"]} == expected | {"kept by name": "1 path"}
    assert expected["Claude Code"] == "absent"


def test_what_agents_keep_in_the_home_is_told_as_scan_tells_it(root: Path, own_world: Path) -> None:
    transcripts = own_world / "home" / ".claude" / "projects" / "-p"
    transcripts.mkdir(parents=True)
    (transcripts / "a.jsonl").write_bytes(b"x" * 70_000)
    (told,) = data("scan", "--state", later_s=planted.DAYS)["state"]
    (drawn_row,) = drawn().data["keeps"]
    same = ("agent", "id", "keeps", "lost", "pruned", "command", "directory", "bytes", "files", "week_bytes")
    assert [drawn_row[name] for name in same] == [told[name] for name in same]
    assert drawn_row["bytes"] >= 70_000 and drawn_row["oldest_seconds"] >= planted.DAYS - 60


def test_a_person_is_told_the_sentence_and_the_file(root: Path) -> None:
    planted.session(root)
    done = tmpwarden("report", "-o", "r.html", later_s=planted.DAYS)
    first, second = done.stdout.splitlines()
    assert first.endswith("can be removed now: run tmpwarden clean")
    assert second.startswith(os.path.abspath("r.html"))


def test_the_page_can_go_to_stdout_alone(root: Path) -> None:
    done = tmpwarden("report", "-o", "-")
    assert done.stdout.startswith("<!doctype html>") and done.stdout.rstrip().endswith("</html>")
    assert not Path("tmpwarden-report.html").exists()


def test_a_directory_is_no_file(root: Path) -> None:
    status, told = answer("report", "-o", str(root))
    assert status == 3 and "is a directory" in told["error"]["message"]


def test_open_hands_the_file_to_the_browser(root: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = own_world / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {own_world}/asked\n')
    browser.chmod(0o755)
    done = tmpwarden("report", "--open", "-o", "a b.html", env={"BROWSER": f"{browser} %s"})
    assert done.returncode == 0 and "browser" not in done.stderr
    assert (own_world / "asked").read_text() == f"file://{own_world}/a%20b.html"


def test_every_reason_has_words_on_the_page(root: Path) -> None:
    assert set(drawn().data["reasons"]) == {reason.value for reason in Reason}

"""What the view shows and what a mark means, without a terminal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import planted
from support.command import data
from support.mounts import needs_root, tmpfs
from tmpwarden.cli.ui.app import Snapshot, look
from tmpwarden.cli.ui.forest import MarkCounts, TreeLine, grown
from tmpwarden.cli.ui.pins import Pin, pinned, still_marked
from tmpwarden.model.request import Request
from tmpwarden.model.sweep import Remove


def later_ns() -> int:
    import time

    return time.time_ns() + planted.DAYS * 10**9


def seen() -> Snapshot:
    return look(Request(), later_ns)


def trees(words: str = "", *, only_removable: bool = False) -> list[TreeLine]:
    found = seen()
    return grown(found.verdicts, found.spaces, words=words, only_removable=only_removable, rest=found.rest)


def units(roots: list[TreeLine]) -> dict[str, TreeLine]:
    return {unit.path or "": unit for root in roots for unit in root.units()}


def pin_of(path: Path) -> Pin:
    return pinned(units(trees())[str(path)].verdicts)


def test_the_tree_holds_what_scan_holds_and_adds_up(own_world: Path) -> None:
    root = own_world / "tmp"
    planted.session(root, 100_000)
    planted.markers(root, 7)
    planted.staging(root)
    own(root, "orch-17", 30_000)
    own(root, "orch-18", 10_000)
    (tree,) = trees()
    scanned = data("scan", later_s=planted.DAYS)
    (account,) = scanned["accounts"]
    agents = [child for child in tree.children if child.kind == "agent"]
    assert sum(each.bytes for each in agents) == scanned["totals"]["bytes"] == account["matched_bytes"]
    assert tree.removable_bytes == scanned["totals"]["removable_bytes"]
    assert {each.title for each in agents} == {each["agent"] for each in scanned["findings"]}
    assert {each.title for each in tree.children} - {each.title for each in agents} == {"not recognised"}
    assert tree.bytes == sum(child.bytes for child in tree.children) == account["matched_bytes"] + own_bytes(account)
    assert [child.bytes for child in tree.children] == sorted((c.bytes for c in tree.children), reverse=True)


def own(root: Path, name: str, size: int) -> Path:
    """A directory of the user's that no agent is known to make."""
    (root / name).mkdir(mode=0o700)
    (root / name / "data").write_bytes(b"x" * size)
    return root / name


def own_bytes(account: dict[str, int]) -> int:
    assert account["unmatched_bytes"] > 40_000
    return account["unmatched_bytes"]


@needs_root
def test_of_a_whole_file_system_the_tree_adds_up_to_what_df_says(own_world: Path) -> None:
    with tmpfs(own_world / "tmp") as root:
        planted.session(root, 100_000)
        own(root, "orch-17", 30_000)
        (root / "by-another").write_bytes(b"x" * 20_000)
        os.chown(root / "by-another", 4711, 4711)
        (tree,) = trees()
        room = os.statvfs(root)
        assert tree.bytes == (room.f_blocks - room.f_bfree) * room.f_frsize
        assert [each.title for each in tree.children] == ["claude", "not recognised", "other users"]


def group(glob: Path, judged: bool) -> TreeLine:
    """The line of a group that is not recognised; once it was opened, with its items."""
    found = look(Request(), later_ns, opened=[str(glob)] if judged else ())
    (tree,) = grown(found.verdicts, found.spaces, rest=found.rest)
    return next(line for line in tree.lines() if line.glob == str(glob))


def test_what_is_not_recognised_is_checked_item_by_item_once_its_group_is_opened(own_world: Path) -> None:
    root = own_world / "tmp"
    unused, used = own(root, "orch-17", 30_000), own(root, "orch-18", 10_000)
    glob = root / "orch-*"
    assert (group(glob, False).title, group(glob, False).children) == ("orch-* (2)", [])
    with subprocess.Popen(["sleep", "60"], cwd=used) as worker:
        line = group(glob, True)
        worker.kill()
    assert [(each.path, each.state, each.offered) for each in line.children] == [
        (str(unused), "ask", 1),
        (str(used), "kept", 0),
    ]
    assert line.children[1].why.startswith("in use: it is the working directory of sleep")
    assert line.bytes == sum(each.bytes for each in line.children)
    assert line.removable_bytes == 0  # none of it goes by itself


def test_what_was_marked_by_name_goes_and_comes_back_and_its_neighbour_stays(own_world: Path) -> None:
    root = own_world / "tmp"
    marked, other = own(root, "orch-17", 30_000), own(root, "orch-18", 10_000)
    session = planted.session(root)
    leaf = next(each for each in group(root / "orch-*", True).children if each.path == str(marked))
    results = _deeds([pinned(leaf.verdicts), pin_of(session)])
    assert {str(marked), str(session)} <= {each["path"] for result in results for each in result["removed"]}
    assert (marked.exists(), session.exists(), other.exists()) == (False, False, True)
    data("undo")
    assert (marked / "data").exists()


def test_a_filter_shows_what_has_all_its_words(own_world: Path) -> None:
    wanted = planted.session(own_world / "tmp", name="11111111-2222-3333-4444-555555555555")
    planted.session(own_world / "tmp")
    assert list(units(trees("SHOP 1111"))) == [str(wanted)]
    assert units(trees("nothing-of-that-name")) == {}


def test_what_is_kept_cannot_be_marked_and_is_not_offered_to_pick_from(own_world: Path) -> None:
    unit = planted.session(own_world / "tmp")
    data("keep", str(unit))
    node = units(trees())[str(unit)]
    assert (node.offered, node.state) == (0, "kept")
    assert str(unit) not in units(trees(only_removable=True))


def removals() -> list[Remove]:
    return [each for each in seen().verdicts if isinstance(each, Remove)]


def test_a_mark_is_for_the_thing_and_not_for_its_name(own_world: Path) -> None:
    unit = planted.session(own_world / "tmp")
    pin = pin_of(unit)
    assert [each.finding.path for each in still_marked(removals(), [pin])] == [str(unit)]
    unit.rename(own_world / "aside")
    planted.session(own_world / "tmp", name=unit.name)
    assert still_marked(removals(), [pin]) == []


def test_of_a_swarm_only_the_files_that_were_marked_go(own_world: Path) -> None:
    root = own_world / "tmp"
    planted.markers(root, 3)
    pin = pin_of(root)
    late, swapped = planted.marker(root, 0x9999), root / "claude-0001-cwd"
    os.rename(swapped, own_world / "aside")
    swapped.write_text("/work\n")
    (left,) = still_marked(removals(), [pin])
    assert sorted(left.finding.members) == ["claude-0000-cwd", "claude-0002-cwd"]
    assert _deed([pin])["removed"][0]["count"] == 2
    assert (late.exists(), swapped.exists(), (root / "claude-0000-cwd").exists()) == (True, True, False)


def _deed(pins: list[Pin], *, is_closed: bool = False) -> dict[str, object]:
    return _deeds(pins, is_closed=is_closed)[-1]


def _deeds(pins: list[Pin], *, is_closed: bool = False) -> list[dict[str, Any]]:
    order = {"roots": [], "config_file": None, "pins": [each.document() for each in pins],
             "ahead_ns": planted.DAYS * 10**9}  # fmt: skip
    argv = [sys.executable, "-m", "tmpwarden.cli.ui.deed"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin and child.stdout
        child.stdin.write(json.dumps(order) + "\n")
        child.stdin.flush()
        if is_closed:
            child.stdin.close()
        told = [json.loads(line) for line in child.stdout]
        child.stdin.close()
    return [each["result"] for each in told if "result" in each]


def test_the_clean_takes_what_was_marked_and_nothing_beside_it(own_world: Path) -> None:
    marked, other = planted.session(own_world / "tmp"), planted.session(own_world / "tmp")
    result = _deed([pin_of(marked)])
    assert [each["path"] for each in result["removed"]] == [str(marked)]  # type: ignore[attr-defined, index]
    assert (marked.exists(), other.exists()) == (False, True)
    data("undo")
    assert marked.exists()


def test_marking_a_part_gives_no_consent_for_all_the_rest(own_world: Path) -> None:
    marked = planted.session(own_world / "tmp")
    _deed([pin_of(marked)])
    assert not any(name.startswith("consent") for name in os.listdir(own_world / "state" / "tmpwarden"))


def test_the_clean_stops_between_two_units_when_the_view_is_gone(own_world: Path) -> None:
    marked = [planted.session(own_world / "tmp") for _ in range(3)]
    result = _deed([pin_of(path) for path in marked], is_closed=True)
    assert (result["stopped"], result["removed"]) == ("interrupted", [])
    assert all(path.exists() for path in marked)


def test_a_branch_is_marked_whole_in_part_or_not_at_all(own_world: Path) -> None:
    marked, _, kept = (planted.session(own_world / "tmp") for _ in range(3))
    data("keep", str(kept))
    (root,) = trees()
    key = units([root])[str(marked)].key
    assert MarkCounts([root], {key}).is_whole(root) is None
    assert MarkCounts([root], {key}).summary.startswith("marked: 1 item, ")
    every = {unit.key for unit in root.units() if unit.offered}
    assert MarkCounts([root], every).is_whole(root) is True
    assert MarkCounts([root], every).summary.startswith("marked: 2 items, ")
    assert (MarkCounts([root], set()).is_whole(root), MarkCounts([root], set()).summary) == (False, "")


def test_a_look_that_nobody_wants_any_more_ends_between_two_units(own_world: Path) -> None:
    for _ in range(3):
        planted.session(own_world / "tmp")
    asked = iter([False, True])
    assert len(look(Request(), later_ns, lambda: next(asked)).verdicts) == 1

"""Labels: names in quarantine tell the story when the journal is lost. Nobody else's names do."""

import os
import shutil
from pathlib import Path

import pytest

from support.command import answer, data
from support.litter import claude_session, in_quarantine, later, snapshot
from support.mounts import fill_bytes, needs_root
from support.one_disk import file_system
from support.user import UID
from tmpwarden.errors import NotFound
from tmpwarden.lazy_dataclass import replace
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store import journal, labels, quarantine
from tmpwarden.sweep.store.journal import Intent
from tmpwarden.sweep.store.undo import undo

LABEL = labels.Label(
    Intent(
        "0123456789abcdef.k", "/tmp/claude-0/a b%/ü,!\udcff", "/tmp", "claude.session", "/tmp/q", "some", 0o700, 1, 2
    ),
    "abcdef01",
    1_790_000_000,
    4096,
)


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def lose_the_journal(own_world: Path) -> None:
    shutil.rmtree(own_world / "state" / "tmpwarden")


def quarantine_of(root: Path) -> Path:
    return root / f"tmpwarden-{os.geteuid()}" / "q"


def labels_in(root: Path) -> list[Path]:
    return [path for path in quarantine_of(root).iterdir() if quarantine.is_label(path.name)]


def test_undo_brings_all_back_after_the_loss_of_the_journal(own_world: Path, root: Path) -> None:
    units = [claude_session(root, files=2) for _ in range(40)]
    shapes = [snapshot(unit) for unit in units]
    clean(Request(), now_ns=later(100))
    assert not any(unit.exists() for unit in units)
    lose_the_journal(own_world)
    assert len(undo()) == 40
    assert [snapshot(unit) for unit in units] == shapes
    assert labels_in(root) == [], "what is back has no label any more"


def test_status_why_and_log_know_them_too(own_world: Path, root: Path) -> None:
    unit = claude_session(root, files=2)
    clean(Request(), now_ns=later(100))
    lose_the_journal(own_world)
    assert data("why", str(unit))["undo"]
    clean(Request(), now_ns=later(0))
    (entry,) = data("log")["entries"]
    assert (entry["path"], entry["undoable"]) == (str(unit), True)


def test_what_was_in_the_middle_when_the_journal_was_lost_ends(own_world: Path, root: Path) -> None:
    """Its last word was not spoken yet: it goes back or waits for undo, and is no riddle for ever."""
    unit = claude_session(root, files=2)
    shape = snapshot(unit)
    clean(Request(), now_ns=later(100))
    (waiting,) = in_quarantine(root)
    waiting.rename(waiting.with_suffix(".u"))
    lose_the_journal(own_world)
    clean(Request(), now_ns=later(1))
    if not unit.exists():
        undo()
    assert snapshot(unit) == shape


def test_a_label_whose_unit_is_gone_is_told_and_goes(own_world: Path, root: Path) -> None:
    unit = claude_session(root, files=2)
    clean(Request(), now_ns=later(100))
    (waiting,) = in_quarantine(root)
    shutil.rmtree(waiting)
    lose_the_journal(own_world)
    clean(Request(), now_ns=later(1))
    assert labels_in(root) == []
    assert [entry["path"] for entry in data("log")["entries"]] == [str(unit)]


def without_receipts(own_world: Path) -> str:
    """As where the disk had room for the intents of a run, and for nothing after them. Returns the state directory."""
    file = own_world / "state" / "tmpwarden" / journal.NAME
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"t":"receipt"' not in line and '"t":"end"' not in line))
    return str(file.parent)


def sessions_in_log() -> list[str]:
    return [entry["path"] for entry in data("log")["entries"] if entry["row"] == "claude.session"]


@pytest.mark.parametrize("is_kept", [True, False], ids=["with a label", "for good"])
def test_what_an_intent_alone_tells_of_is_told_when_it_is_gone(own_world: Path, root: Path, is_kept: bool) -> None:
    """At once, and for ever after."""
    unit = claude_session(root, files=2)
    clean(Request(quarantine=is_kept), now_ns=later(100))
    state = without_receipts(own_world)
    for waiting in in_quarantine(root):
        shutil.rmtree(waiting)
    assert bool(labels_in(root)) == is_kept
    assert sessions_in_log() == [str(unit)]
    clean(Request(), now_ns=later(1))
    assert labels_in(root) == []
    assert str(unit) in [line["path"] for line in journal.entries(state, "receipt")]
    assert sessions_in_log() == [str(unit)]
    assert not any(entry["undoable"] for entry in data("log")["entries"])


def test_what_went_in_place_is_told_by_its_intent_too(own_world: Path, root: Path) -> None:
    path, book = str(root / "claude-0" / "-p" / "x"), journal.Journal(str(own_world / "state" / "tmpwarden"))
    assert book.open()
    book.intend(replace(LABEL.intent, id="0123456789abcdef", path=path, root=str(root), quarantine=""))
    assert sessions_in_log() == [path]
    clean(Request(), now_ns=later(1))
    assert [line["path"] for line in journal.entries(book.state, "receipt")] == [path]


@pytest.mark.parametrize("where", ["in its place", "in quarantine", "taken by the next attempt", "an unmounted root"])
def test_an_intent_tells_of_no_removal_that_was_none_or_has_a_receipt(own_world: Path, root: Path, where: str) -> None:
    unit = claude_session(root, files=2)
    clean(Request(quarantine=where == "in its place"), now_ns=later(100))
    if where == "in its place":
        undo()
    state = without_receipts(own_world)
    file = Path(state, journal.NAME)
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if '"t":"undone"' not in line))
    (intent,) = (each for each in journal.open_intents(state) if each.path == str(unit))
    if where == "in quarantine":
        (Path(intent.quarantine) / quarantine.first_name(intent.id)).mkdir()
    elif where == "taken by the next attempt":
        book = journal.Journal(state)
        assert book.open()
        book.note("receipt", id="fedcba9876543210.x", path=str(unit), outcome="removed")
    elif where == "an unmounted root":
        root.rename(root.with_name("elsewhere"))
    assert labels.receipts_of_gone(state, [intent], [str(root)]) == []


def test_what_a_run_without_room_put_aside_is_told_although_the_journal_before_it_ended_well(
    own_world: Path, root: Path
) -> None:
    file = own_world / "state" / "tmpwarden" / journal.NAME
    clean(Request(), now_ns=later(0))
    before = file.read_bytes()
    unit = claude_session(root, files=2)
    clean(Request(), now_ns=later(100))
    file.write_bytes(before)
    os.utime(file, (1_790_000_000, 1_790_000_000))
    clean(Request(), now_ns=later(200))
    assert in_quarantine(root) == []
    assert str(unit) in [entry["path"] for entry in data("log")["entries"]]


@pytest.mark.parametrize(
    ("below", "count", "is_read"), [("", 20, True), ("/mine", 20, True), ("", 1, False), ("/../x", 20, False)]
)
def test_a_swarm_is_told_by_its_directory_and_how_many_there_were(
    own_world: Path, root: Path, below: str, count: int, is_read: bool
) -> None:
    clean(Request(), now_ns=later(100))  # makes the quarantine
    place = str(quarantine_of(root))
    intent = replace(LABEL.intent, path=f"{root}{below}", root=str(root), quarantine=place, count=count)
    fd = quarantine.opened(place)
    try:
        parts = labels.write(fd, replace(LABEL, intent=intent))
        read = labels.read(fd, place, str(own_world / "state" / "tmpwarden"), parts, intent.id)
    finally:
        os.close(fd)
    assert (read and (read.intent.path, read.as_receipt()["count"])) == ((intent.path, count) if is_read else None)


def test_expiry_takes_the_label_with_the_unit(own_world: Path, root: Path) -> None:
    claude_session(root, files=2)
    clean(Request(), now_ns=later(100))
    assert labels_in(root)
    clean(Request(empty_quarantine=True), now_ns=later(100))
    assert list(quarantine_of(root).iterdir()) == []


@pytest.mark.parametrize(
    "how", ["another owner", "another shape", "content", "a link", "one part is missing", "elsewhere"]
)
@needs_root
def test_a_hijackers_name_counts_for_nothing(own_world: Path, root: Path, how: str) -> None:
    claude_session(root, files=2)
    clean(Request(), now_ns=later(100))
    lose_the_journal(own_world)
    parts = sorted(labels_in(root))
    label, text = parts[0], "".join(part.name[21:] for part in parts)
    if how == "another owner":
        os.chown(label, UID, UID)
    elif how == "content":
        label.write_text("x")
    elif how == "a link":
        os.link(label, own_world / "a-second-name")
    elif how == "one part is missing":
        label.rename(label.with_name(label.name.replace(f".n1{len(parts)}~", f".n1{len(parts) + 1}~")))
    else:
        for part in parts:
            part.unlink()
        text = text.replace(",so,", ",mu,") if how == "another shape" else f"{text[: text.rindex(',')]},!..!home!victim"
        names = [
            f"{label.name[:18]}{number:x}{{}}~{text[at : at + 220]}"
            for number, at in enumerate(range(0, len(text), 220), 1)
        ]
        for name in names:
            label.with_name(name.format(len(names))).touch()
    with pytest.raises(NotFound):
        undo()
    assert not (own_world / "home" / "victim").exists()


@pytest.mark.parametrize("length", [1, 200, 900])
def test_a_label_says_what_it_was_made_of(own_world: Path, length: int) -> None:
    """Also of a long path, in several parts, and of a name that is no text."""
    place = quarantine_of(own_world / "tmp")
    fd = quarantine.opened(str(place), make=True)
    intent = LABEL.intent
    root = str(own_world / "tmp")
    path = f"{root}/{'d' * 50}/" + "/".join(["x" * 99] * (length // 100)) + "/ü,!%\udcff"
    made = labels.Label(
        Intent(intent.id, os.path.normpath(path), root, intent.row, str(place), "some", 0o40700, 5, 6, 1, 7, 8),
        *("ab", 9, 10),
    )
    names = labels.write(fd, made)
    assert all(len(os.fsencode(name)) <= 255 for name in names)
    assert labels.read(fd, str(place), journal.Journal("/nowhere").state, names, intent.id) == made
    os.close(fd)


def test_a_name_that_carries_its_label_is_believed_of_that_very_item_alone(own_world: Path) -> None:
    unit = own_world / "home" / "unit"
    unit.mkdir()
    status = unit.stat()
    made = labels.Label(
        Intent("0123456789abcdef.x", "/t/a", "/t", "claude.session", "", "some", 0, status.st_dev, status.st_ino),
        *("ab", 9, 10),
    )
    name = labels.name_with(made, "")
    assert name is not None
    unit.rename(unit.with_name(name))
    fd = labels.opened(str(own_world / "home"))
    assert labels.read_carried(fd, name, "") == made
    unit.with_name(name).rename(own_world / "home" / "kept")
    unit.with_name(name).mkdir()
    assert labels.read_carried(fd, name, "") is None
    os.close(fd)


@pytest.mark.parametrize("path", ["/t/x-0/-slug/a", "/t/y-0/a"])
def test_what_lies_in_a_directory_from_which_it_comes_says_less_and_means_the_same(own_world: Path, path: str) -> None:
    """A small directory on a full xfs has no room for a long name."""
    place = own_world / "t" / "x-0"
    place.mkdir(parents=True)
    unit, status = place / "unit", place.stat()
    made = labels.Label(
        Intent("0123456789abcdef.x", path, "/t", "claude.session", "/t/x-0", "some", 0, status.st_dev, 0), "ab", 9, 10
    )
    name = labels.name_with(made, "/t/x-0")
    assert name is not None and ("x-0" not in name)
    unit.mkdir()
    status = unit.stat()
    made = replace(made, intent=replace(made.intent, inode=status.st_ino))
    name = labels.name_with(made, "/t/x-0")
    assert name is not None
    unit.rename(unit.with_name(name))
    fd = os.open(place, os.O_RDONLY)
    assert labels.read_carried(fd, name, "/t/x-0") == made
    os.close(fd)


@pytest.mark.parametrize("mode", [0o700, 0o4700, 0o1700, 0o5700])
def test_a_mode_says_that_it_is_doomed_where_no_other_name_fits(own_world: Path, mode: int) -> None:
    """And only a mode that we gave it: what had such a bit when it was taken goes back."""
    unit = own_world / "home" / "unit"
    unit.mkdir()
    unit.chmod(mode)
    status = unit.stat()
    made = labels.Label(
        Intent("0123456789abcdef.u", "/t/a", "/t", "claude.session", "", "some", mode, status.st_dev, status.st_ino),
        *("ab", 9, 10),
    )
    name = labels.name_with(made, "")
    assert name is not None
    unit.rename(unit.with_name(name))
    fd = labels.opened(str(own_world / "home"))
    assert labels.read_carried(fd, name, "") == made
    may_say_so = mode == 0o700
    assert labels.mark_doomed(fd, name) == may_say_so
    found = labels.read_carried(fd, name, "")
    assert found is not None and found.intent.id.endswith(".x" if may_say_so else ".u")
    os.close(fd)


def test_no_file_gets_such_a_mode(tmp_path: Path) -> None:
    """Another name of it may be the user's."""
    (tmp_path / "a").write_text("mine")
    (tmp_path / "a").chmod(0o640)
    fd = os.open(tmp_path, os.O_RDONLY)
    assert not labels.mark_doomed(fd, "a")
    assert (tmp_path / "a").stat().st_mode & 0o7777 == 0o640
    os.close(fd)


def test_what_carries_its_label_is_no_litter_of_the_agent_in_whose_directory_it_lies(
    own_world: Path, root: Path
) -> None:
    """A run that was killed has left it there: another one destroyed it as a flat file of that agent, and its story."""
    made = labels.name_with(LABEL, "")
    assert made is not None
    place = root / f"claude-{os.geteuid()}" / made.replace(".k", ".x")
    place.mkdir(parents=True)
    (place / "file").write_text("what was not emptied yet")
    litter = root / f"claude-{os.geteuid()}" / "a-flat-file"
    litter.write_text("x")
    clean(Request(), now_ns=later(1000))
    assert (place / "file").exists() and not litter.exists()


def test_a_carried_name_that_is_not_true_is_told_and_left_alone(own_world: Path) -> None:
    made = labels.name_with(LABEL, "")
    assert made is not None
    place = own_world / "state" / made.replace(".k", ".x")
    place.mkdir()
    (place / "file").write_text("precious")
    status, envelope = answer("clean", "--yes")
    assert (place / "file").read_text() == "precious"
    assert any("left alone" in each for each in envelope["warnings"]), (status, envelope)


@needs_root
@pytest.mark.parametrize(("block", "names"), [("1024", 12), ("4096", 40)])
def test_a_quarantine_has_room_for_names_before_the_disk_is_full(tmp_path: Path, block: str, names: int) -> None:
    """A fresh directory of ext4 has it for 4 or 16; the tree of names fills unevenly."""
    with file_system(f"ext4-{block}", tmp_path / "disk", few_inodes=False) as disk:
        fd = quarantine.opened(str(disk / "tmpwarden-0" / "q"), make=True)
        assert os.listdir(fd) == []
        fill_bytes(disk)
        for number in range(names):
            os.mknod(f"{os.urandom(8).hex()}{number:0234}", dir_fd=fd)
        os.close(fd)


def test_a_clean_leaves_a_reserve_and_a_quarantine_behind(own_world: Path, root: Path) -> None:
    """For the day on which nothing can be made."""
    clean(Request(), confirm=lambda plan: True, now_ns=later(1))
    assert (own_world / "state" / "tmpwarden" / "reserve").stat().st_size > 0
    assert quarantine_of(root).is_dir()


def test_a_directory_that_a_umask_left_open_to_a_group_is_passed_over(tmp_path: Path) -> None:
    """`~/.local` as pip makes it under umask 002: the home above it still serves on a full disk."""
    home = tmp_path / "home"
    (home / ".local").mkdir(parents=True)
    (home / ".local").chmod(0o775)
    home.chmod(0o755)
    state = str(home / ".local" / "state" / "tmpwarden")
    assert labels.nearest(state) == str(home)
    home.chmod(0o777)
    assert labels.nearest(state) != str(home)


@pytest.mark.parametrize("by_name", [False, True])
def test_undo_does_not_say_nothing_beside_what_nothing_tells_of(own_world: Path, root: Path, by_name: bool) -> None:
    """Journal and labels are lost, or it is of a version that wrote none."""
    claude_session(root)
    clean(Request(), now_ns=later(100))
    lose_the_journal(own_world)
    for label in labels_in(root):
        label.unlink()
    (lying,) = in_quarantine(root)
    with pytest.raises(NotFound, match="1 item in quarantine cannot be brought back") as told:
        undo(lying.name[:6] if by_name else None)
    assert str(quarantine_of(root)) in str(told.value.hint)
    lying.rename(own_world / "saved")
    with pytest.raises(NotFound, match="nothing"):
        undo()


def test_undo_names_the_quarantine_of_a_root_that_has_moved(
    own_world: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude_session(root)
    clean(Request(), now_ns=later(100))
    elsewhere = root.rename(own_world / "elsewhere")
    monkeypatch.setenv("TMPWARDEN_ROOTS", str(elsewhere))
    with pytest.raises(NotFound, match="1 item in quarantine"):
        undo()

"""Each way of using a path is seen, by a real process that uses it in that way and no other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.answers import witnesses
from support.holding import process
from support.mounts import needs_root
from support.users import BIND_ELSEWHERE, LIBC, MAP, OPEN, WITHOUT_ITS_FIRST_THREAD, fill
from tmpwarden.model.answers import Held, Nobody, NotMeasured
from tmpwarden.model.terms import WitnessKind
from tmpwarden.oskit.proc import namespaces
from tmpwarden.oskit.proc.holders import Holders

CWD = "import os, sys; os.chdir(sys.argv[1])"


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    return fill(tmp_path / "unit")


def kinds(path: Path) -> set[WitnessKind]:
    return {witness.kind for witness in witnesses(Holders.look().within(str(path)))}


@pytest.mark.parametrize(
    ("source", "member", "kind"),
    [
        (OPEN, "deep/file", WitnessKind.OPEN_FILE),
        (OPEN, "deep", WitnessKind.OPEN_FILE),
        (CWD, "deep/er", WitnessKind.WORKING_DIRECTORY),
        (MAP, "deep/file", WitnessKind.MAPPED_FILE),
    ],
)
def test_a_process_that_holds_a_member_is_a_witness_and_only_while_it_lives(
    unit: Path, source: str, member: str, kind: WitnessKind
) -> None:
    with process(source, str(unit / member)) as holder:
        seen = witnesses(Holders.look().within(str(unit)))
        assert {(witness.kind, witness.pid) for witness in seen} == {(kind, holder.pid)}
        assert os.path.basename(seen[0].command or "").startswith("python")
    assert kinds(unit) == set()


@pytest.mark.parametrize("uses", [True, False])
def test_a_process_whose_first_thread_has_ended_carries_its_session_all_the_same(uses: bool) -> None:
    with process(WITHOUT_ITS_FIRST_THREAD, env={"SESSION_OF_A_TEST": "first"}) as holder:
        holders = Holders.look(("SESSION_OF_A_TEST",), uses=uses)
        assert holders.sessions["SESSION_OF_A_TEST"] == {"first": (holder.pid,)}


def test_a_look_at_sessions_alone_knows_them_and_never_says_that_nobody_uses_a_path(unit: Path) -> None:
    with process(OPEN, str(unit / "deep" / "file"), env={"SESSION_OF_A_TEST": "one"}) as holder:
        holders = Holders.look(("SESSION_OF_A_TEST",), uses=False)
        assert holders.sessions["SESSION_OF_A_TEST"] == {"one": (holder.pid,)}
        assert holder.pid in holders.processes
        for path in (unit, unit.parent / "other"):
            assert isinstance(holders.within(str(path)), NotMeasured)
        assert isinstance(holders.carriers("SESSION_OF_A_TEST", "two"), NotMeasured)


def test_a_sibling_with_the_same_beginning_is_not_held(unit: Path) -> None:
    with process(OPEN, str(unit / "deep" / "file")):
        (unit.parent / "un").mkdir()
        assert kinds(unit.parent / "un") == set()
        assert kinds(unit / "de") == set()


def test_a_deleted_file_still_speaks_for_the_place_it_lay_in(unit: Path) -> None:
    with process(OPEN + "; os.unlink(sys.argv[1])", str(unit / "deep" / "file")):
        assert kinds(unit) == {WitnessKind.OPEN_FILE}
    (unit / "deep" / "file (deleted)").write_text("x")
    with process(OPEN, str(unit / "deep" / "file (deleted)")):
        assert kinds(unit / "deep" / "file (deleted)") == {WitnessKind.OPEN_FILE}


@pytest.mark.parametrize("name", ["new\nline", "tab\t", "back\\012slash", "\udcff\udcfe", "ü ñ", "-> x", " (deleted)"])
def test_a_strange_name_is_held_like_any_other(unit: Path, name: str) -> None:
    (unit / name).write_text("x" * 5000)
    for source in (OPEN, MAP):
        with process(source, str(unit / name)):
            assert kinds(unit / name), source
    assert not kinds(unit / name)


def test_a_tmpdir_behind_a_link_counts_where_it_leads(unit: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("unit/deep")
    with process("", env={"TMPDIR": str(tmp_path / "link" / "er")}):
        assert kinds(unit) == {WitnessKind.TMPDIR}


@pytest.mark.parametrize("value", ["relative", "", "/", "/nonexistent/x", "/proc/self/cwd", "a" * 5000])
def test_a_strange_tmpdir_does_no_harm(unit: Path, value: str) -> None:
    with process("", env={"TMPDIR": value}):
        assert kinds(unit) == set()


def test_this_process_counts_for_what_it_uses_but_not_for_what_it_opened_to_look(unit: Path) -> None:
    for how in (os.O_RDONLY | os.O_DIRECTORY, os.O_PATH):
        fd = os.open(unit, how)
        assert kinds(unit) == set()
        os.close(fd)
    with (unit / "deep" / "file").open():
        assert kinds(unit) == {WitnessKind.OPEN_FILE}


def test_a_worker_of_ours_is_left_out(unit: Path) -> None:
    with process(OPEN, str(unit / "deep" / "file")) as worker:
        assert Holders.look(exclude=(worker.pid,)).within(str(unit)) == Nobody()


def test_session_ids_are_found_by_variable_value_and_process() -> None:
    with process("", env={"SOME_SESSION": "s-1", "XSOME_SESSION": "no", "OTHER": "SOME_SESSION=no"}) as running:
        holders = Holders.look(("SOME_SESSION", "ABSENT_SESSION"))
        assert holders.sessions == {"SOME_SESSION": {"s-1": (running.pid,)}, "ABSENT_SESSION": {}}
        assert [one.pid for one in witnesses(holders.carriers("SOME_SESSION", "s-1"))] == [running.pid]
        assert holders.carriers("SOME_SESSION", "s") == Nobody()


@needs_root
def test_a_private_tmp_in_another_mount_namespace_is_seen_under_its_real_name(unit: Path) -> None:
    """As `run --private-tmp` and systemd do: inside it is /mnt, outside it is the unit."""
    with process(BIND_ELSEWHERE + "; os.chdir('/mnt/er')", str(unit / "deep"), "/mnt", env={"TMPDIR": "/mnt/er"}):
        assert kinds(unit / "deep" / "er") == {WitnessKind.WORKING_DIRECTORY, WitnessKind.TMPDIR}
        assert kinds(Path("/mnt")) == {WitnessKind.MOUNT}


@needs_root
def test_a_file_of_the_same_name_on_a_private_file_system_is_another_file(unit: Path) -> None:
    source = LIBC + "own_mounts(); call('mount', b't', os.fsencode(sys.argv[1]), b'tmpfs', 0, None); "
    source += "fd = os.open(sys.argv[1] + '/file', os.O_CREAT | os.O_RDWR)"
    with process(source, str(unit / "deep")):
        assert kinds(unit / "deep" / "file") == set()
        assert kinds(unit) == {WitnessKind.MOUNT}


@needs_root
def test_where_everybody_of_a_mount_namespace_has_another_root_its_files_still_count(unit: Path) -> None:
    """Their mountinfo leaves out what lies above that root, and names the rest from there."""
    outside = LIBC + "own_mounts(); fd = os.open(sys.argv[1], os.O_RDONLY); os.chroot('/usr')"
    with process(outside, str(unit / "deep")):
        assert kinds(unit) == {WitnessKind.OPEN_FILE}
    inside = LIBC + "own_mounts(); bind(sys.argv[1], '/usr/lib'); os.chroot('/usr'); fd = os.open('/lib/er', 0)"
    with process(inside, str(unit / "deep")):
        assert kinds(unit / "deep" / "er") == {WitnessKind.OPEN_FILE}


@needs_root
def test_an_image_behind_a_loop_device_is_in_use_though_no_process_has_it_open(unit: Path) -> None:
    image = unit / "deep" / "image"
    image.write_bytes(b"\0" * (1 << 20))
    device = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True, check=False)
    if device.returncode:
        pytest.skip("this machine has no loop devices")
    try:
        assert kinds(unit) == {WitnessKind.MOUNT_SOURCE}
    finally:
        subprocess.run(["losetup", "-d", device.stdout.strip()], check=True)


@needs_root
def test_the_layers_of_an_overlay_are_in_use(unit: Path, tmp_path: Path) -> None:
    for name in ("upper", "work"):
        (unit / name).mkdir()
    (tmp_path / "lower").mkdir()
    options = f"lowerdir={tmp_path / 'lower'},upperdir={unit / 'upper'},workdir={unit / 'work'}"
    done = subprocess.run(["mount", "-t", "overlay", "-o", options, "overlay", tmp_path / "lower"], check=False)
    if done.returncode:
        pytest.skip("this kernel has no overlay file system")
    try:
        assert kinds(unit / "upper") == {WitnessKind.MOUNT_SOURCE}
    finally:
        subprocess.run(["umount", tmp_path / "lower"], check=True)


def test_looking_follows_no_path(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """stat on the far side of a link in /proc waits for a dead network mount for ever."""

    def hang(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"followed {args}")

    with process(OPEN, str(unit / "deep" / "file")):
        for name in ("stat", "lstat", "scandir", "access"):
            monkeypatch.setattr(os, name, hang)
        answer = Holders.look(("HOME",)).within(str(unit))
        monkeypatch.undo()
    assert isinstance(answer, Held)


def test_processes_that_come_and_go_while_we_look_do_no_harm(unit: Path) -> None:
    source = "import os, sys, subprocess\nwhile True: subprocess.run(['/bin/true'])"
    storm = [subprocess.Popen([sys.executable, "-I", "-c", source], stdin=subprocess.DEVNULL) for _ in range(2)]
    try:
        with process(OPEN, str(unit / "deep" / "file")) as holder:
            for _ in range(20):
                seen = witnesses(Holders.look(("HOME",)).within(str(unit)))
                assert {witness.pid for witness in seen} == {holder.pid}
    finally:
        for one in storm:
            one.kill()
            one.wait()


def test_without_proc_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces.MountTable, "of", classmethod(lambda cls, pid="self": None))
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert isinstance(Holders.look().within("/tmp"), NotMeasured)


@needs_root
def test_an_empty_proc_is_no_crash_and_nothing_is_measured(unit: Path) -> None:
    """psutil, if it is there, fails in a way of its own."""
    source = "import sys; from tmpwarden.oskit.proc.holders import Holders\n"
    source += "print(type(Holders.look().within(sys.argv[1])).__name__)"
    words = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    words += [sys.executable, "-c", source, str(unit)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("NotMeasured\n", "")


PATHS = st.lists(st.sampled_from(("a", "ab", "b", "a b", "..a")), max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(st.lists(st.tuples(st.sampled_from(("8:1", "0:40")), PATHS)), st.tuples(st.just("8:1"), PATHS))
def test_the_first_questions_and_the_many_after_them_have_one_answer(
    held: list[tuple[str, str]], place: tuple[str, str]
) -> None:
    holders = Holders()
    for number, key in enumerate(held):
        holders.add(key, (WitnessKind.OPEN_FILE, None, f"{number}"))
    answers = {holders._witnesses(place) for _ in range(20)}
    assert len(answers) == 1
    inside = [number for number, key in enumerate(held) if (f"{key[1]}/").startswith(place[1].rstrip("/") + "/")]
    assert {witness.detail for witness in answers.pop()} == {str(n) for n in inside if held[n][0] == place[0]}

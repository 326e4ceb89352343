"""Where somebody may use a unit unseen, the deed asks the kernel, and the unit only waits in quarantine."""

import contextlib
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from support import hiding
from support.holding import process as own_process
from support.litter import in_quarantine
from support.mounts import mounted, needs_root, tmpfs
from support.user import OrdinaryUser
from support.users import OPEN

pytestmark = needs_root
NOW = "import sys; from tmpwarden.cli.main import main; sys.exit(main(sys.argv[1:]))"
CWD = "import os, sys; os.chdir(sys.argv[1])"


@pytest.fixture
def user(ordinary_user: OrdinaryUser) -> OrdinaryUser:
    hiding.hand_over(ordinary_user)
    return ordinary_user


def command(user: OrdinaryUser, *words: str) -> dict[str, object]:
    done = hiding.run(user, hiding.LATER, *words, "--json")
    assert "Traceback" not in done.stderr, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


def kept_of(user: OrdinaryUser) -> list[str]:
    return sorted(path.suffix for path in in_quarantine(user.tmp, hiding.SOMEBODY))


@pytest.mark.parametrize("words", [(), ("--no-quarantine",), ("--budget", "0"), ("--purge",)], ids=str)
def test_beside_a_process_that_hides_a_unit_goes_only_into_quarantine(
    user: OrdinaryUser, words: tuple[str, ...]
) -> None:
    unit = hiding.session(user)
    with hiding.process(user, hiding.HIDE):
        command(user, "clean", "--yes", *words)
        assert not unit.exists()
        assert kept_of(user) == [".k"]
        command(user, "undo")
        assert (unit / "tasks" / "b1.output").exists()
    command(user, "clean", "--yes", "--no-quarantine")
    assert not unit.exists()
    assert kept_of(user) == []


def test_what_a_process_that_hides_has_open_stays(user: OrdinaryUser) -> None:
    unit = hiding.session(user)
    with hiding.process(user, hiding.HIDE + OPEN, str(unit / "tasks" / "b1.output")):
        result = command(user, "clean", "--yes")
        assert (unit / "tasks" / "b1.output").exists(), result
    command(user, "clean", "--yes")
    assert not unit.exists()


def test_the_working_directory_of_a_process_that_hides_is_never_destroyed(user: OrdinaryUser) -> None:
    unit = hiding.session(user)
    with hiding.process(user, hiding.HIDE + CWD, str(unit / "tasks")):
        command(user, "clean", "--yes", "--no-quarantine")
        assert hiding.run(user, NOW, "clean", "--yes", "--purge").returncode == 0
        assert kept_of(user) == [".k"]
    assert hiding.run(user, NOW, "clean", "--yes", "--purge").returncode == 0
    assert kept_of(user) == []


def test_why_says_what_it_hangs_on_and_neither_why_nor_scan_asks(user: OrdinaryUser) -> None:
    unit = hiding.session(user)
    with hiding.process(user, hiding.HIDE) as hidden:
        said = hiding.run(user, hiding.LATER, "why", str(unit)).stdout
        assert "removable if the kernel confirms that no process has it open" in said
        answer = command(user, "why", str(unit))["data"]
        assert answer["verdict"] == "remove"  # type: ignore[index]
        assert f"process {hidden.pid}" in answer["doubt"]  # type: ignore[index]
    refusing = (
        "from tmpwarden.oskit.files import kernel_word\n"
        "def ask(*words): raise AssertionError('asked')\n"
        "kernel_word.ask = ask\n"
    )
    with hiding.process(user, hiding.HIDE):
        for words in (("why", str(unit)), ("scan",), ("clean", "--dry-run")):
            assert hiding.run(user, refusing + hiding.LATER, *words).returncode in (0, 1), words


def without_a_file(unit: Path) -> None:
    (unit / "tasks" / "b1.output").unlink()


def with_a_fifo(unit: Path) -> None:
    os.mkfifo(unit / "fifo")
    os.chown(unit / "fifo", hiding.SOMEBODY, hiding.SOMEBODY)


def with_a_file_that_cannot_be_opened(unit: Path) -> None:
    (unit / "tasks" / "b1.output").chmod(0)


CHANGES = [without_a_file, with_a_fifo, with_a_file_that_cannot_be_opened]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_the_kernel_cannot_be_asked_about_stays(user: OrdinaryUser, change: Callable[[Path], None]) -> None:
    unit = hiding.session(user)
    change(unit)
    with hiding.process(user, hiding.HIDE):
        command(user, "clean", "--yes")
        assert unit.exists()
    command(user, "clean", "--yes")
    assert not unit.exists()


MUCH_LATER = hiding.LATER.replace("100 *", "200 *")


def test_what_may_be_in_use_unseen_is_not_destroyed_when_its_time_is_over(user: OrdinaryUser) -> None:
    """Neither /proc nor the kernel can say that nobody uses a fifo: it waits on, and the run says so."""
    unit = hiding.session(user)
    with_a_fifo(unit)
    command(user, "clean", "--yes")
    with hiding.process(user, hiding.HIDE):
        said = hiding.run(user, MUCH_LATER, "clean", "--yes")
        assert kept_of(user) == [".k"], said
        assert "is kept in quarantine" in said.stderr, said
    assert hiding.run(user, MUCH_LATER, "clean", "--yes").returncode == 0
    assert kept_of(user) == [] and not unit.exists()


def test_a_shy_program_is_no_doubt(user: OrdinaryUser) -> None:
    unit = hiding.session(user)
    with hiding.process(user, hiding.HIDE + hiding.RENAME, "ssh-agent"):
        command(user, "clean", "--yes", "--no-quarantine")
    assert not unit.exists()
    assert kept_of(user) == []


def test_where_a_doubt_frees_nothing_a_clean_under_pressure_names_the_items(user: OrdinaryUser) -> None:
    unit = hiding.session(user)
    with hiding.process(user, hiding.HIDE) as hidden:
        said = hiding.run(user, hiding.LATER, "clean", "--yes", "--budget", "1%").stderr
    assert f"could not be checked here (process {hidden.pid}" in said, said
    assert "as root, or once that process has ended" in said and f"whether you still need {unit} (" in said


def test_of_a_swarm_worthless_single_files_go_for_good_by_the_kernels_word(user: OrdinaryUser) -> None:
    """They cannot be anybody's working directory, so the answer is whole."""
    marker, held = (user.tmp / f"claude-{number}-cwd" for number in ("1a2b", "1a2c"))
    for path in (marker, held):
        path.write_text("/work\n")
        os.chown(path, hiding.SOMEBODY, hiding.SOMEBODY)
    before = held.stat().st_ctime_ns
    with hiding.process(user, hiding.HIDE + OPEN, str(held)):
        command(user, "clean", "--yes")
        assert (marker.exists(), held.exists()) == (False, True)
        assert held.stat().st_ctime_ns == before, "it was not even moved"


IN_A_CONTAINER = ["unshare", "-p", "-f", "--mount-proc", sys.executable, "-c", hiding.LATER]


def in_a_container(*words: str) -> str:
    done = subprocess.run([*IN_A_CONTAINER, *words], capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def test_inside_a_pid_namespace_the_kernel_sees_who_is_outside(own_world: Path) -> None:
    unit = own_world / "tmp" / f"claude-{os.geteuid()}" / "-p" / str(uuid.uuid4())
    (unit / "tasks").mkdir(parents=True)
    (unit / "tasks" / "b1.output").write_text("x")
    with own_process(OPEN, str(unit / "tasks" / "b1.output")):
        in_a_container("clean", "--yes")
        assert unit.exists()
    in_a_container("clean", "--yes", "--no-quarantine")
    assert not unit.exists()
    assert [path.suffix for path in in_quarantine(own_world / "tmp")] == [".k"]


def test_what_can_only_wait_there_is_not_promised_to_be_freed_by_a_purge(own_world: Path) -> None:
    unit = own_world / "tmp" / f"claude-{os.geteuid()}" / "-p" / str(uuid.uuid4())
    (unit / "tasks").mkdir(parents=True)
    (unit / "tasks" / "b1.output").write_text("x")
    said = in_a_container("clean", "--yes")
    assert "can be brought back" in said and "They cannot be deleted earlier" in said
    assert "--purge" not in said
    now = [*IN_A_CONTAINER[:-2], "-m", "tmpwarden", "clean", "--purge", "--yes"]  # it has not expired yet
    subprocess.run(now, capture_output=True, check=True, timeout=60)
    assert [path.suffix for path in in_quarantine(own_world / "tmp")] == [".k"], "and that was the truth"


SEEN_BEFORE = """
import os, sys, time
from tmpwarden.cli.main import main
from tmpwarden.sweep import prepared
from tmpwarden.sweep.find.second_walker import SecondWalker
prepared.WORTH_A_FORK, hours_s, seen = 0, 100 * 3600, {}
def set_out(self, number):
    if not seen:
        seen.update((at, look() if look else None) for at, look in enumerate(self.batch))
        with open(sys.argv[1], "w"):
            os.utime(sys.argv[1], (time.time() + hours_s,) * 2)
SecondWalker.set_out, SecondWalker.measure = set_out, lambda self, number: seen[number]
sys.exit(main(sys.argv[2:], now_ns=lambda: time.time_ns() + hours_s * 10**9))
"""


def test_what_was_written_since_a_second_walker_saw_it_does_not_even_wait(own_world: Path) -> None:
    """In doubt it is not walked in quarantine: what judged it must be of that very moment."""
    unit = own_world / "tmp" / f"claude-{os.geteuid()}" / "-p" / str(uuid.uuid4())
    (unit / "tasks").mkdir(parents=True)
    (unit / "tasks" / "b1.output").write_text("x")
    argv = [*IN_A_CONTAINER[:-1], SEEN_BEFORE, str(unit / "tasks" / "new"), "clean", "--yes", "--no-quarantine"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert (unit / "tasks" / "new").exists()


IN_FLIGHT = """
import array, os, socket, sys, time
from tmpwarden.cli.main import main
from tmpwarden.oskit.files import take
from tmpwarden.sweep.take import act
path, window, words = sys.argv[1], sys.argv[2], sys.argv[3:]
ends = socket.socketpair()
def strike(name):
    if name == window:
        place = path
        if not os.path.exists(path):  # opened through a directory that was open all the time
            quarantine = os.path.join(os.environ["TMPWARDEN_ROOTS"], f"tmpwarden-{os.geteuid()}", "q")
            entry = next(entry.path for entry in os.scandir(quarantine) if entry.is_dir())  # its labels are files
            place = os.path.join(entry, "tasks/b1.output")
        fd = os.open(place, os.O_RDONLY)
        ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)
take._race_window = act._race_window = strike
strike("before")
sys.exit(main(words, now_ns=lambda: time.time_ns() + 100 * 3600 * 10**9))
"""


@pytest.mark.parametrize("window", ["before", "judged, not yet taken", "taken, holders not yet looked for"])
def test_a_descriptor_in_flight_is_asked_about_in_every_window(own_world: Path, window: str) -> None:
    """No process has it open, so /proc shows nobody; only the kernel knows."""
    unit = own_world / "tmp" / f"claude-{os.geteuid()}" / "-p" / str(uuid.uuid4())
    (unit / "tasks").mkdir(parents=True)
    (unit / "tasks" / "b1.output").write_text("x")
    before = unit.stat().st_ctime_ns
    words = [*IN_A_CONTAINER[:-1], IN_FLIGHT, str(unit / "tasks" / "b1.output"), window, "clean", "--yes", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    assert (unit / "tasks" / "b1.output").exists()
    assert (unit.stat().st_ctime_ns == before) is (window == "before"), "what is known to be open is not even moved"


def overlay(base: Path) -> contextlib.AbstractContextManager[Path]:
    for name in ("lower", "upper", "work"):
        (base / name).mkdir()
    options = f"lowerdir={base / 'lower'},upperdir={base / 'upper'},workdir={base / 'work'}"
    return mounted(base / "merged", "-t", "overlay", "-o", options, "overlay")


def test_a_teardown_inside_a_pid_namespace_works_also_where_the_kernel_cannot_be_asked(
    tmp_path: Path, own_world: Path
) -> None:
    """Who tears down says that nobody uses it, and from quarantine it can come back."""
    with tmpfs(tmp_path / "layers") as layers, overlay(layers) as root:
        name = str(uuid.uuid4())
        unit = root / f"claude-{os.geteuid()}" / "-p" / name
        (unit / "tasks").mkdir(parents=True)
        (unit / "tasks" / "b1.output").write_text("x")
        with own_process(OPEN, str(unit / "tasks" / "b1.output")):
            in_a_container("teardown", "--session", name, "--root", str(root), "--wait")
            assert unit.exists()
        in_a_container("teardown", "--session", name, "--root", str(root), "--wait")
        assert not unit.exists()
        assert [path.suffix for path in in_quarantine(root)] == [".k"]


def test_a_single_file_that_a_teardown_can_ask_nobody_about_waits_in_quarantine(
    tmp_path: Path, own_world: Path
) -> None:
    """It is worth nothing and would be purged at once, but somebody may have it open unseen."""
    with tmpfs(tmp_path / "layers") as layers, overlay(layers) as root:
        (root / "gemini" / "ide").mkdir(parents=True)
        port = root / "gemini" / "ide" / "gemini-ide-server-4711.json"
        port.write_text("{}")
        in_a_container("teardown", "--pid", "4711", "--root", str(root), "--wait")
        assert not port.exists()
        assert [(path.suffix, path.read_text()) for path in in_quarantine(root)] == [(".k", "{}")]
    port = own_world / "tmp" / "gemini" / "ide" / "gemini-ide-server-4711.json"
    port.parent.mkdir(parents=True)
    port.write_text("{}")
    in_a_container("teardown", "--pid", "4711", "--root", str(own_world / "tmp"), "--wait")
    assert not port.exists() and in_quarantine(own_world / "tmp") == [], "here the kernel can be asked"


def test_doctor_says_where_everything_stays_and_why(tmp_path: Path, own_world: Path) -> None:
    with tmpfs(tmp_path / "layers") as layers, overlay(layers) as root:
        for place, status in ((root, "warn"), (own_world / "tmp", "ok")):
            words = [*IN_A_CONTAINER, "doctor", "--json", "--root", str(place)]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
            found = [each for each in json.loads(done.stdout)["data"]["diagnoses"] if each["check"] == "unseen"]
            assert [each["status"] for each in found] == [status], found
            assert "PID namespace" in found[0]["summary"] + found[0]["detail"]


def test_on_an_overlay_inside_a_pid_namespace_everything_stays(tmp_path: Path, own_world: Path) -> None:
    with tmpfs(tmp_path / "layers") as layers, overlay(layers) as root:
        unit = root / f"claude-{os.geteuid()}" / "-p" / str(uuid.uuid4())
        (unit / "tasks").mkdir(parents=True)
        (unit / "tasks" / "b1.output").write_text("x")
        in_a_container("clean", "--yes", "--root", str(root))
        assert unit.exists()

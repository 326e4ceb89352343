"""What could not be checked never reads as nobody: for every file of /proc that may fail, and every way to hide."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.answers import witnesses
from support.hiding import HIDE, SOMEBODY, process, run
from support.holding import process as own_process
from support.mounts import needs_root
from support.user import OrdinaryUser
from support.users import OPEN, WITHOUT_ITS_FIRST_THREAD, dead_process, fill
from tmpwarden.model.answers import Held, Nobody, NotMeasured
from tmpwarden.model.terms import OwnerState, WitnessKind
from tmpwarden.oskit.proc.holders import Holders
from tmpwarden.oskit.proc.identity import identity_state

ANSWERS = [Held(()), Nobody(), NotMeasured("x")]
LOOK = "import sys; from tmpwarden.oskit.proc.holders import Holders; print(Holders.look(('S',)).within(sys.argv[1]))"
IDENTITY = "import sys; from tmpwarden.oskit.proc.identity import identity_state; "
IDENTITY += "print(identity_state(int(sys.argv[1]), 1).name)"


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    return fill(tmp_path / "unit")


@pytest.mark.parametrize("answer", ANSWERS, ids=repr)
def test_an_answer_is_neither_true_nor_false_and_cannot_be_changed(answer: Held | Nobody | NotMeasured) -> None:
    with pytest.raises(TypeError):
        bool(answer)
    with pytest.raises(AttributeError):
        answer.why = "y"  # type: ignore[union-attr]
    assert [answer == other for other in ANSWERS].count(True) == 1


@pytest.mark.parametrize("state", list(OwnerState))
def test_nor_is_the_state_of_an_owner(state: OwnerState) -> None:
    with pytest.raises(TypeError):
        bool(state)


def strike(path: str, call: str, error: str, source: str, *args: str) -> str:
    """Run our own code with one system call on one path of /proc failing, every time."""
    return strike_all([path], call, f"error={error}", source, *args)


def strike_all(paths: list[str], call: str, happens: str, source: str, *args: str) -> str:
    which = [word for path in paths for word in ("-P", path)]
    words = ["strace", "-o", "/dev/null", *which, "-e", f"trace={call}", "-e", f"inject={call}:{happens}"]
    done = subprocess.run(
        [*words, sys.executable, "-c", source, *args], capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in done.stderr
    return done.stdout.strip()


FAILURES = [
    ("stat", "openat", "EIO"),
    ("stat", "read", "EACCES"),
    ("fd", "getdents64", "EIO"),
    ("maps", "openat", "EMFILE"),
    ("maps", "read", "EIO"),
    ("environ", "openat", "EMFILE"),
    ("ns/mnt", "readlink", "EIO"),
]


@pytest.mark.skipif(not os.path.exists("/usr/bin/strace"), reason="needs strace")
@pytest.mark.parametrize(("file", "call", "error"), FAILURES, ids=lambda value: value)
def test_a_process_that_cannot_be_read_leaves_a_doubt_with_its_reason(
    unit: Path, file: str, call: str, error: str
) -> None:
    """The unit's only user is the one process whose file fails; it may be found all the same, but never missed."""
    with own_process(OPEN, str(unit / "deep" / "file")) as holder:
        said = strike(f"/proc/{holder.pid}/{file}", call, error, LOOK, str(unit))
    assert said.startswith(("NotMeasured", "Held")), said
    if said.startswith("NotMeasured"):
        assert f"process {holder.pid}" in said


@pytest.mark.skipif(not os.path.exists("/usr/bin/strace"), reason="needs strace")
def test_a_process_whose_program_is_just_being_loaded_may_be_tied_by_any_variable(unit: Path) -> None:
    """The kernel shows an empty environ and cmdline then: as long as a slow file system keeps a page of it back."""
    with own_process("", env={"TMPDIR": str(unit)}) as holder:
        both = [f"/proc/{holder.pid}/environ", f"/proc/{holder.pid}/cmdline"]
        said = strike_all(both, "read", "retval=0", LOOK, str(unit))
        assert said.startswith("NotMeasured"), said
        assert f"process {holder.pid}" in said
        assert "still being loaded" in said


@pytest.mark.skipif(not os.path.exists("/usr/bin/strace"), reason="needs strace")
def test_a_process_with_an_empty_environment_has_told_all(unit: Path) -> None:
    with own_process("") as holder:
        said = strike_all([f"/proc/{holder.pid}/environ"], "read", "retval=0", LOOK, str(unit))
    assert f"process {holder.pid}" not in said


@pytest.mark.skipif(not os.path.exists("/usr/bin/strace"), reason="needs strace")
@pytest.mark.parametrize("error", ["EIO", "EACCES", "EMFILE"])
def test_a_proc_that_cannot_be_listed_is_not_measured(unit: Path, error: str) -> None:
    with own_process(OPEN, str(unit / "deep" / "file")):
        assert strike("/proc", "getdents64", error, LOOK, str(unit)).startswith("NotMeasured")


@pytest.mark.skipif(not os.path.exists("/usr/bin/strace"), reason="needs strace")
def test_an_owner_whose_entry_cannot_be_read_is_unknown_and_not_dead() -> None:
    pid, start = dead_process()
    assert identity_state(pid, start) is OwnerState.DEAD
    with own_process("") as owner:
        assert strike(f"/proc/{owner.pid}/stat", "openat", "EIO", IDENTITY, str(owner.pid)) == "UNKNOWN"


def test_a_use_whose_path_is_too_long_to_be_told_is_a_doubt_about_deep_trees_alone(unit: Path) -> None:
    source = "import os, sys; os.chdir(sys.argv[1])\nfor _ in range(40): os.mkdir('d' * 200); os.chdir('d' * 200)"
    with own_process(source, str(unit)):
        holders = Holders.look()
        assert isinstance(holders.within(str(unit), is_deep=True), NotMeasured)
        assert holders.within(str(unit)) == holders.unseen


@needs_root
@pytest.mark.parametrize("uses", [True, False])
def test_a_first_thread_that_has_ended_hides_nobodys_session(ordinary_user: OrdinaryUser, uses: bool) -> None:
    """Only root may still ask it; everybody may ask the others."""
    ask = f"from tmpwarden.oskit.proc.holders import Holders; print(Holders.look(('HOME',), uses={uses}).sessions)"
    with process(ordinary_user, WITHOUT_ITS_FIRST_THREAD) as holder:
        assert str(holder.pid) in run(ordinary_user, ask).stdout


@needs_root
def test_a_process_of_ours_that_hides_is_a_doubt_until_it_ends(ordinary_user: OrdinaryUser) -> None:
    with process(ordinary_user, HIDE):
        assert run(ordinary_user, LOOK, "/tmp/x").stdout.startswith("NotMeasured(True")
    assert run(ordinary_user, LOOK, "/tmp/x").stdout == "Nobody()\n"


@needs_root
def test_from_inside_a_pid_namespace_nobody_outside_can_be_seen(unit: Path) -> None:
    inside = ["unshare", "-p", "-f", "--mount-proc", sys.executable, "-c", LOOK, str(unit)]
    with own_process(OPEN, str(unit / "deep" / "file")):
        assert subprocess.run(inside, capture_output=True, text=True, check=True).stdout.startswith("NotMeasured(True")


@needs_root
def test_with_hidepid_a_process_of_another_user_is_not_taken_for_dead(ordinary_user: OrdinaryUser) -> None:
    script = 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid "$2" --regid "$2" '
    script += '--clear-groups "$0" -c "$1" "$3"'
    words = ["unshare", "-m", "--propagation", "private", "sh", "-c"]
    with own_process("") as owner:
        done = subprocess.run(
            [*words, script, ordinary_user.python, IDENTITY, str(SOMEBODY), str(owner.pid)],
            env=ordinary_user.env,
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout == "UNKNOWN\n"


UNSHARED = """
import ctypes, os, sys, threading
ready = threading.Event()
def apart():
    assert ctypes.CDLL(None).unshare({flag}) == 0
    {act}
    ready.set()
    threading.Event().wait()
threading.Thread(target=apart, daemon=True).start()
ready.wait()
"""


@pytest.mark.parametrize(
    ("flag", "act", "kind"),
    [
        ("0x400", "os.open(sys.argv[1] + '/deep/file', os.O_RDONLY)", WitnessKind.OPEN_FILE),
        ("0x200", "os.chdir(sys.argv[1] + '/deep')", WitnessKind.WORKING_DIRECTORY),
    ],
    ids=["files", "directory"],
)
def test_a_thread_with_a_table_of_its_own_is_seen_where_one_looks_closely(
    unit: Path, flag: str, act: str, kind: WitnessKind
) -> None:
    with own_process(UNSHARED.format(flag=flag, act=act), str(unit)) as holder:
        seen = witnesses(Holders.look(closely=True).within(str(unit)))
    assert {(one.kind, one.pid) for one in seen} == {(kind, holder.pid)}


@pytest.mark.disk
@needs_root
def test_a_swap_file_is_in_use_though_no_process_has_it_open(unit: Path) -> None:
    swap = unit / "deep" / "swap space"
    swap.write_bytes(b"\0" * (1 << 20))
    swap.chmod(0o600)
    subprocess.run(["mkswap", str(swap)], check=True, capture_output=True)
    if subprocess.run(["swapon", str(swap)], capture_output=True, check=False).returncode:
        pytest.skip("no swap here")
    try:
        assert {one.kind for one in witnesses(Holders.look().within(str(unit)))} == {WitnessKind.SWAP}
    finally:
        subprocess.run(["swapoff", str(swap)], check=True)

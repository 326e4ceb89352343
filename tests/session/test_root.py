"""The root of an app is ours, private and no symlink, or it is refused with a sentence that says what to do."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import tmpwarden
from support import squats
from support.mounts import needs_root
from support.program import Programs
from support.user import UID, OrdinaryUser
from tmpwarden.errors import BadArgument, UnsafeScratch

FOREIGN = f"it belongs to another user (uid {UID})"


@pytest.mark.parametrize(
    ("squat", "why", "remedy"),
    [
        (squats.a_link, "it is a symbolic link", "remove it"),
        (squats.a_file, "it is not a directory", "remove it"),
        (squats.a_directory_that_all_may_read, "other users can enter it (mode 0755, must be 0700)", "chmod 700"),
        pytest.param(squats.a_directory_of_another_user, FOREIGN, "TMPDIR", marks=needs_root, id="another user's"),
    ],
)
def test_a_squatted_root_is_refused_and_left_alone(
    own_world: Path, squat: Callable[[Path], None], why: str, remedy: str
) -> None:
    root = own_world / "tmp" / f"mycli-{os.geteuid()}"
    squat(root)
    before = os.lstat(root)
    with pytest.raises(UnsafeScratch) as refused, tmpwarden.session("mycli", tmp=own_world / "tmp"):
        pytest.fail("entered")
    assert str(refused.value) == f"cannot use {root} for temporary files: {why}"
    assert remedy in refused.value.hint
    assert os.lstat(root) == before
    assert not os.path.isdir(root) or os.listdir(root) == []


def test_a_symlink_of_another_user_does_not_lead_us_away(ordinary_user: OrdinaryUser) -> None:
    target = ordinary_user.base / "target"
    target.mkdir(mode=0o700)
    os.chown(target, UID, UID)
    (ordinary_user.tmp / f"mycli-{UID}").symlink_to(target)
    result = ordinary_user.code('import tmpwarden\nwith tmpwarden.session("mycli"): pass')
    assert "it is a symbolic link" in result.stderr
    assert os.listdir(target) == []


def test_a_root_that_a_killed_run_left_without_its_mode_is_mended(own_world: Path) -> None:
    root = own_world / "tmp" / f"mycli-{os.geteuid()}"
    root.mkdir(mode=0o000)
    with tmpwarden.session("mycli", tmp=own_world / "tmp"):
        assert stat.S_IMODE(root.stat().st_mode) == 0o700


def test_a_temp_directory_where_everybody_may_rename_everything_is_refused(own_world: Path) -> None:
    (own_world / "tmp").chmod(0o777)
    with pytest.raises(UnsafeScratch, match="sticky"), tmpwarden.session("mycli", tmp=own_world / "tmp"):
        pytest.fail("entered")
    (own_world / "tmp").chmod(0o1777)
    with tmpwarden.session("mycli", tmp=own_world / "tmp"):
        pass


def test_a_temp_directory_that_is_not_there_is_refused(own_world: Path) -> None:
    for path in (own_world / "none", own_world / "file"):
        (own_world / "file").write_text("")
        with pytest.raises(UnsafeScratch), tmpwarden.session("mycli", tmp=path):
            pytest.fail("entered")


def test_a_temp_directory_we_may_not_write_to_is_refused(ordinary_user: OrdinaryUser) -> None:
    ordinary_user.tmp.chmod(0o555)
    result = ordinary_user.code('import tmpwarden\nwith tmpwarden.session("mycli"): pass')
    assert "tmpwarden.errors.UnsafeScratch" in result.stderr
    assert "permission denied" in result.stderr


@pytest.mark.parametrize("app", ["", "a/b", "..", ".hidden", "-rf", "two words", "x" * 33, "tmpwarden", "a\n", "ü"])
def test_a_name_that_cannot_be_an_app_is_refused(app: str) -> None:
    with pytest.raises(BadArgument):
        tmpwarden.session(app)


def test_tmpdir_then_temp_then_tmp_say_where(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR")
    for name in ("TMP", "TEMP", "TMPDIR"):
        (own_world / name).mkdir()
        monkeypatch.setenv(name, str(own_world / name))
        with tmpwarden.session("mycli") as s:
            assert s.path.startswith(str(own_world / name))


def test_a_socket_fits_below_the_session(programs: Programs) -> None:
    """`<tmp>/<app>-<uid>/s<8 hex>`: what we add to the temp directory leaves most of sun_path to the author."""
    with tmpwarden.session("mycli", tmp=programs.tmp) as s:
        ours = len(s.path) - len(str(programs.tmp))
        assert ours <= len(f"/mycli-{os.geteuid()}/s12345678")
        os.chdir(s.path)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("x.sock")
        os.chdir("/")
    assert len("/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T" + "/" + "a" * 32 + "-4294967294/s12345678") < 104

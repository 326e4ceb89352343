"""Temp roots are resolved once, and what must not be swept is refused with its reason."""

import contextlib
import os
import pwd
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.mounts import needs_root
from support.user import OrdinaryUser
from tmpwarden.errors import UnsafeRoot
from tmpwarden.oskit.files import places


@pytest.fixture
def no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world in which nobody names a root, and the machine's own are out of reach."""
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr(places, "_COMMON_ROOTS", ())


def refused(path: Path | str) -> str:
    with pytest.raises(UnsafeRoot) as caught:
        places.temp_roots((str(path),))
    return str(caught.value)


def test_a_named_root_beats_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    monkeypatch.setenv("TMPWARDEN_ROOTS", f"{tmp_path}/b:{tmp_path}/a:{tmp_path}/b")
    assert places.temp_roots() == (f"{tmp_path}/b", f"{tmp_path}/a")
    assert places.temp_roots().confined
    assert places.temp_roots((f"{tmp_path}/a",)) == (f"{tmp_path}/a",)


@pytest.mark.usefixtures("no_names")
def test_otherwise_the_variables_of_the_environment_name_them_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", f"{tmp_path}/a/")
    monkeypatch.setenv("CLAUDE_CODE_TMPDIR", f"{tmp_path}/b")
    monkeypatch.setenv("TEMP", f"{tmp_path}/a/../a")
    monkeypatch.setenv("TMP", "relative")
    roots = places.temp_roots(extra=(f"{tmp_path}/missing",))
    assert roots == (f"{tmp_path}/a", f"{tmp_path}/b") and not roots.confined and roots.warnings == ()


def test_the_machines_own_roots_are_known() -> None:
    assert places._COMMON_ROOTS == ("/tmp", "/var/tmp", "/dev/shm")


@pytest.mark.usefixtures("no_names")
@pytest.mark.parametrize("below", ["tmpwarden-{uid}/1a2b3c4d", "tmpwarden-{uid}", "claude-{uid}/tw/1a2b3c4d"])
def test_a_tmpdir_inside_a_scratch_counts_as_the_root_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    inner = tmp_path / "root" / below.format(uid=os.geteuid())
    inner.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(inner))
    assert places.temp_roots() == (f"{tmp_path}/root",)


@pytest.mark.usefixtures("no_names")
def test_an_unsafe_root_that_nobody_named_is_passed_over_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repo" / ".git" / "refs").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", f"{tmp_path}/repo")
    roots = places.temp_roots(extra=(f"{tmp_path}/world/tmp",))
    assert roots == (f"{tmp_path}/world/tmp",)
    assert roots.warnings == (f"cannot clean {tmp_path}/repo: it is the root of a git repository",)


def test_an_empty_dot_git_that_a_killed_sandbox_left_does_not_close_a_root(tmp_path: Path) -> None:
    (tmp_path / "root" / ".git").mkdir(parents=True)
    assert places.temp_roots((f"{tmp_path}/root",)) == (f"{tmp_path}/root",)


def test_a_root_is_refused_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "worktree").mkdir()
    (tmp_path / "worktree" / ".git").write_text("gitdir: /elsewhere")
    assert refused("/") == "cannot clean /: it is the root of the file system"
    assert refused(tmp_path / "file").endswith(": it is not a directory")
    assert refused(tmp_path / "missing") == f"there is no directory {tmp_path}/missing"
    assert refused(tmp_path / "file" / "below").endswith(": not a directory")
    assert refused(tmp_path / "worktree").endswith(": it is the root of a git repository")
    assert refused(tmp_path / "world" / "home").endswith(": it is a home directory")
    assert refused(tmp_path / "world").endswith(": a home directory is below it")
    assert refused("bad\0name").endswith(": a path cannot hold a null character")
    assert refused(tmp_path / "new\nline").startswith("there is no directory $'")
    with contextlib.suppress(KeyError):  # a user without an account
        home = pwd.getpwuid(os.geteuid()).pw_dir
        assert refused(home).endswith("home directory") or not os.path.isdir(home)


def test_an_empty_name_is_not_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused("") == "cannot clean '': its name is empty"


@needs_root
def test_only_links_of_root_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    os.symlink("real", tmp_path / "link")
    assert places.temp_roots((f"{tmp_path}/link/inner",)) == (f"{tmp_path}/real/inner",)
    os.chown(tmp_path / "link", 65534, -1, follow_symlinks=False)
    assert refused(tmp_path / "link" / "inner") == (
        f"cannot clean {tmp_path}/link/inner: {tmp_path}/link is a symbolic link of uid 65534, "
        "and only links of root are followed"
    )


@needs_root
def test_links_in_circles_end(tmp_path: Path) -> None:
    os.symlink("b", tmp_path / "a")
    os.symlink("a", tmp_path / "b")
    assert refused(tmp_path / "a").endswith(": too many symbolic links in the path")


@needs_root
def test_a_directory_of_another_user_is_refused_unless_it_is_sticky(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 65534, -1)
    assert refused(tmp_path / "theirs").endswith(": it belongs to another user (uid 65534)")
    (tmp_path / "theirs").chmod(0o1777)
    assert places.temp_roots((f"{tmp_path}/theirs",)) == (f"{tmp_path}/theirs",)


@needs_root
def test_a_git_directory_of_another_user_does_not_stop_us(tmp_path: Path) -> None:
    """Anybody can make /tmp/.git."""
    (tmp_path / "root" / ".git").mkdir(parents=True)
    os.chown(tmp_path / "root" / ".git", 65534, -1)
    assert places.temp_roots((f"{tmp_path}/root",)) == (f"{tmp_path}/root",)


@needs_root
def test_an_unreadable_root_is_refused(ordinary_user: OrdinaryUser) -> None:
    source = (
        "import os; os.mkdir('shut', 0)\nfrom tmpwarden.oskit.files.places import temp_roots\n"
        "try: temp_roots((os.path.abspath('shut'),))\nexcept Exception as e: print(e)"
    )
    result = ordinary_user.run([ordinary_user.python, "-c", source], cwd=ordinary_user.tmp)
    assert result.stdout == f"cannot clean {ordinary_user.tmp}/shut: it cannot be read\n"


@needs_root
def test_a_home_of_somebody_else_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """sudo keeps the caller's HOME and XDG variables."""
    theirs = tmp_path / "theirs"
    (theirs / "state").mkdir(parents=True)
    for path in (theirs, theirs / "state"):
        os.chown(path, 65534, -1)
    monkeypatch.setenv("HOME", str(theirs))
    monkeypatch.setenv("XDG_STATE_HOME", str(theirs / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(theirs / "not" / "there"))
    home = pwd.getpwuid(os.geteuid()).pw_dir
    assert places.home() == home
    assert places.state_dir() == f"{home}/.local/state/tmpwarden"
    assert places.config_dir() == f"{home}/.config/tmpwarden"


def test_our_own_directories_follow_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert places.home() == f"{tmp_path}/world/home"
    assert places.state_dir() == f"{tmp_path}/world/state/tmpwarden"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert places.data_dir() == f"{tmp_path}/world/home/.local/share/tmpwarden"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert places.config_dir() == f"{tmp_path}/world/home/.config/tmpwarden"
    assert places.quarantine("/tmp") == f"/tmp/tmpwarden-{os.geteuid()}/q"


@given(st.lists(st.sampled_from(["a", "b", ".", "..", "", "tmp"]), max_size=8).map("/".join))
def test_no_spelling_of_a_protected_place_gets_through(spelling: str) -> None:
    home = places.home()
    for path in (f"{home}/{spelling}", f"/{spelling}"):
        plain = os.path.normpath(path)
        if plain.lstrip("/") == "" or plain == home or home.startswith(plain + "/"):
            assert f"/{plain.lstrip('/')}" in places.protected()
            with pytest.raises(UnsafeRoot):
                places.temp_roots((path,))

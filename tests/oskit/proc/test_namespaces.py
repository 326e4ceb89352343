"""Where a path really lies, from the text of mountinfo alone."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from support.mounts import bind, needs_root, tmpfs
from tmpwarden.oskit.proc import namespaces
from tmpwarden.oskit.proc.namespaces import MountTable
from tmpwarden.oskit.system.linux.mounting import parse_mounts, unescape

TABLE = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:5 / /proc rw - proc proc rw,hidepid=2
30 22 0:27 / /tmp rw,nosuid - tmpfs tmpfs rw,size=8m
31 30 254:0 /srv/agents /tmp/agents rw master:1 - ext4 /dev/vda rw
32 22 0:44 / /mnt/far\\040away rw,noatime - nfs4 host:/x rw
33 22 0:50 / /hidden rw - tmpfs tmpfs rw
34 33 0:51 / /hidden/inner rw - tmpfs tmpfs rw
35 33 0:52 / /hidden rw - tmpfs tmpfs rw
36 22 254:0 /gone//deleted /bound rw - ext4 /dev/vda rw
"""


def test_the_longest_mount_point_decides_and_a_bind_leads_to_its_source() -> None:
    table = MountTable(parse_mounts(TABLE))
    assert table.locate("/") == ("254:0", "/")
    assert table.locate("/home/me") == ("254:0", "/home/me")
    assert table.locate("/tmp") == ("0:27", "/")
    assert table.locate("/tmp/x/y") == ("0:27", "/x/y")
    assert table.locate("/tmpfile") == ("254:0", "/tmpfile")
    assert table.locate("/tmp/agents/x") == ("254:0", "/srv/agents/x")
    assert table.locate("//tmp//agents/./x/") == ("254:0", "/srv/agents/x")
    assert table.locate("/mnt/far away/x") == ("0:44", "/x")
    assert table.locate("/bound/x") == ("254:0", "/gone/x")
    assert table.locate("relative") is None


def test_the_last_of_stacked_mounts_wins_and_hides_what_was_mounted_below_the_first() -> None:
    table = MountTable(parse_mounts(TABLE))
    assert table.locate("/hidden/x") == ("0:52", "/x")
    assert table.locate("/hidden/inner/x") == ("0:52", "/inner/x")


def test_what_a_mount_says_about_itself_can_be_asked() -> None:
    table = MountTable(parse_mounts(TABLE))
    assert table.filesystem("/tmp/x") == "tmpfs"
    assert "noatime" in table.options("/mnt/far away/x")
    assert "hidepid=2" in table.options("/proc")
    assert table.is_network("/mnt/far away/x") is True
    assert table.is_network("/tmp") is False


def test_an_empty_or_strange_table_knows_nothing_and_does_not_fail() -> None:
    for text in ("", "\n\n", "1 2 3", "x y 0:1 / / rw - a b c", "1 1 0:1 / / rw - tmpfs"):
        table = MountTable(parse_mounts(text))
        assert table.is_network("/nowhere") in (None, False)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")))
def test_any_name_survives_the_kernels_escapes(name: str) -> None:
    escaped = name.replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011").replace("\n", "\\012")
    assert unescape(escaped) == name


@given(st.text())
def test_no_text_is_too_strange_to_parse(text: str) -> None:
    MountTable(parse_mounts(text)).locate("/x")


@given(st.lists(st.sampled_from(["a", "b", "c", "..", "."]), max_size=6))
def test_a_place_never_leaves_the_file_system(parts: list[str]) -> None:
    located = MountTable(parse_mounts(TABLE)).locate("/tmp/" + "/".join(parts))
    assert located is not None
    assert located[1].startswith("/")
    assert ".." not in located[1].split("/")


@needs_root
def test_the_real_table_agrees_with_stat(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "fresh") as fresh:
        (fresh / "inner").mkdir()
        with bind(fresh / "inner", tmp_path / "bound dir") as bound:
            table = MountTable.of()
            assert table is not None
            located = table.locate(str(bound / "x"))
            device = os.stat(fresh).st_dev
            assert located == (f"{os.major(device)}:{os.minor(device)}", "/inner/x")
            assert located == table.locate(str(fresh / "inner" / "x"))


def test_this_process_knows_its_own_namespaces() -> None:
    assert namespaces.pid_namespace() == os.readlink("/proc/self/ns/pid")
    assert len(namespaces.boot_id() or "") == 36
    assert namespaces.mount_namespace(2**22 + 1) is None

"""The numbers of `darwin/layouts.py` are those that a C compiler gives the structures of macOS' headers."""

import ctypes
from pathlib import Path

import pytest

from support.on_darwin import built
from tmpwarden.oskit.system.darwin import layouts as at

# (structure, field) of fakeproc.c -> what the package believes
BELIEVED = {
    ("shortinfo", "-"): at.SIZE_OF[at.SHORT],
    ("shortinfo", "ppid"): at.SHORT_PARENT,
    ("shortinfo", "status"): at.SHORT_STATUS,
    ("shortinfo", "comm"): at.SHORT_COMMAND,
    ("shortinfo", "flags"): at.SHORT_FLAGS,
    ("shortinfo", "uid"): at.SHORT_UID,
    ("bsdinfo", "-"): at.SIZE_OF[at.BSD],
    ("bsdinfo", "flags"): at.BSD_FLAGS,
    ("bsdinfo", "tdev"): at.BSD_TERMINAL,
    ("bsdinfo", "start_sec"): at.BSD_START_S,
    ("bsdinfo", "start_usec"): at.BSD_START_US,
    ("unique", "-"): at.SIZE_OF[at.UNIQUE],
    ("unique", "uniqueid"): at.UNIQUE_ID,
    ("unique", "puniqueid"): at.UNIQUE_PARENT,
    ("unique", "idversion"): at.UNIQUE_VERSION,
    ("taskinfo", "-"): at.SIZE_OF[at.TASK],
    ("taskinfo", "resident_size"): at.TASK_RESIDENT,
    ("taskinfo", "total_user"): at.TASK_USER,
    ("taskinfo", "total_system"): at.TASK_SYSTEM,
    ("taskinfo", "csw"): at.TASK_SWITCHES,
    ("listed", "-"): at.SIZE_OF_ENTRY,
    ("fileinfo", "-"): at.VNODE_IN_FD,
    ("fileinfo", "openflags"): at.FILE_FLAGS,
    ("fileinfo", "offset"): at.FILE_OFFSET,
    ("vstat", "-"): at.VNODE_TYPE,
    ("vstat", "dev"): at.VNODE_DEVICE,
    ("vstat", "mode"): at.VNODE_MODE,
    ("vstat", "nlink"): at.VNODE_LINKS,
    ("vstat", "ino"): at.VNODE_FILE,
    ("vstat", "size"): at.VNODE_BYTES,
    ("vstat", "blocks"): at.VNODE_BLOCKS,
    ("vnode", "-"): at.PATH_IN_VNODE,
    ("vnode", "type"): at.VNODE_TYPE,
    ("vnode_path", "-"): at.ROOT_IN_PLACES,
    ("vnode_path", "path"): at.PATH_IN_VNODE,
    ("vnode_fd", "-"): at.SIZE_OF_FD_VNODE,
    ("vnode_fd", "pvip"): at.VNODE_IN_FD,
    ("places", "-"): at.SIZE_OF[at.PLACES],
    ("places", "rdir"): at.ROOT_IN_PLACES,
    ("region_path", "-"): at.SIZE_OF[at.FILE_REGIONS],
    ("region_path", "vip"): at.VNODE_IN_REGION,
    ("region", "-"): at.VNODE_IN_REGION,
    ("region", "protection"): at.REGION_PROTECTION,
    ("region", "share_mode"): at.REGION_SHARE,
    ("region", "address"): at.REGION_ADDRESS,
    ("region", "size"): at.REGION_SIZE,
    ("thread_path", "-"): at.SIZE_OF[at.THREAD_PLACE],
    ("thread_path", "pvip"): at.VNODE_IN_THREAD,
    ("socket_fd", "-"): at.SIZE_OF_FD_SOCKET,
    ("socket_fd", "psi"): at.VNODE_IN_FD,
    ("socket_info", "so"): at.SOCKET_HANDLE - at.VNODE_IN_FD,
    ("socket_info", "options"): at.SOCKET_OPTIONS - at.VNODE_IN_FD,
    ("socket_info", "kind"): at.SOCKET_KIND - at.VNODE_IN_FD,
    ("socket_info", "proto"): at.SOCKET_PROTOCOL - at.VNODE_IN_FD,
    ("in_socket", "fport"): at.TCP_FOREIGN_PORT,
    ("in_socket", "lport"): at.TCP_LOCAL_PORT,
    ("in_socket", "vflag"): at.TCP_VERSION,
    ("in_socket", "faddr"): at.TCP_FOREIGN,
    ("in_socket", "laddr"): at.TCP_LOCAL,
    ("tcp_socket", "state"): at.TCP_STATE,
    ("un_socket", "addr"): at.UNIX_PATH - 2,
    ("statfs64_", "-"): at.SIZE_OF_MOUNT,
    ("statfs64_", "fsid"): at.MOUNT_ID,
    ("statfs64_", "flags"): at.MOUNT_FLAGS,
    ("statfs64_", "fstypename"): at.MOUNT_TYPE,
    ("statfs64_", "mntonname"): at.MOUNT_POINT,
    ("statfs64_", "mntfromname"): at.MOUNT_SOURCE,
    ("extern_proc", "sigignore"): at.KINFO_IGNORED,
    ("event", "-"): at.SIZE_OF_EVENT,
    ("event", "filter"): 8,  # EVENT_FORMAT
    ("event", "flags"): 10,
    ("event", "fflags"): 12,
    ("event", "data"): 16,
}


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], int]:
    library = ctypes.CDLL(built(tmp_path_factory.mktemp("layout")))
    buffer = ctypes.create_string_buffer(1 << 14)
    library.fake_layout(buffer, len(buffer))
    rows = (line.split() for line in buffer.value.decode().splitlines())
    return {(structure, field): int(number) for structure, field, number in rows}


def test_every_offset_is_what_a_compiler_makes_of_the_headers(laid_out: dict[tuple[str, str], int]) -> None:
    assert laid_out == BELIEVED


def test_every_number_names_its_header_and_field() -> None:
    lines = Path(at.__file__).read_text().splitlines()
    naked = [
        line for line in lines if " = " in line and line[:1].isupper() and "0" <= line.rpartition("= ")[2][:1] <= "9"
    ]
    about = [line for line in lines if line.startswith("#")]
    assert naked
    assert all("#" in line or any(word in "".join(about) for word in ("struct", "sys/")) for line in naked)

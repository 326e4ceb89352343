"""What libproc, sysctl and libc of macOS answer, as bytes. An answer of another size than its header says is none."""

from __future__ import annotations

import errno
import os
import struct

from ..blind.no_answer import no_answer
from . import layouts as at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from ctypes import CDLL

LIBRARY = "/usr/lib/libSystem.B.dylib"  # libproc is a part of it; tests put another one here
_FIRST_ROOM = 4096
_FILLED_UP = 8  # the path of the program takes a multiple of the size of a pointer (kern_exec.c, exec_extract_strings)
_MOST_ROOM = 1 << 24  # no process has two million descriptors
_loaded: tuple[str, CDLL] | None = None


def library() -> CDLL:
    """Raises OSError where there is none."""
    global _loaded
    if _loaded is None or _loaded[0] != LIBRARY:
        try:
            import ctypes  # 3 ms, which no hook before or after a tool call may pay

            lib = ctypes.CDLL(LIBRARY, use_errno=True)
        except (ImportError, OSError):
            raise no_answer() from None
        number, pointer, size = ctypes.c_int, ctypes.c_void_p, ctypes.c_int
        for name, arguments in (
            ("proc_listpids", (ctypes.c_uint32, ctypes.c_uint32, pointer, size)),
            ("proc_pidinfo", (number, number, ctypes.c_uint64, pointer, size)),
            ("proc_pidfdinfo", (number, number, number, pointer, size)),
            ("proc_pidfileportinfo", (number, ctypes.c_uint32, number, pointer, size)),
            ("proc_pidpath", (number, pointer, ctypes.c_uint32)),
        ):
            try:
                getattr(lib, name).argtypes = arguments
            except AttributeError:
                raise OSError(errno.ENOSYS, f"this system has no {name}") from None
        _loaded = LIBRARY, lib
    return _loaded[1]


def is_there() -> bool:
    try:
        library()
    except OSError:
        return False
    return True


def odd(what: str) -> OSError:
    """An answer that is not as its header says: not measured."""
    return OSError(errno.EBADMSG, f"macOS tells {what} in a way we do not know")


def failed(pid: int) -> OSError:
    """Why the last call failed. Only ESRCH means that the process has ended: ENOENT may speak of a file."""
    import ctypes

    number = ctypes.get_errno() or errno.EIO
    if number == errno.ENOENT:
        number = errno.EIO
    return OSError(number, os.strerror(number), f"process {pid}")


def info(pid: int, flavor: int, argument: int = 0) -> bytes:
    """Raises OSError: ProcessLookupError where it has ended, or why it was not told."""
    import ctypes

    size = at.SIZE_OF[flavor]
    buffer = ctypes.create_string_buffer(size)
    ctypes.set_errno(0)
    length = library().proc_pidinfo(pid, flavor, argument, buffer, size)
    if length == size:
        return buffer.raw
    raise odd("of a process") if length > 0 else failed(pid)


def _listed(ask: object, what: str, entry_size: int, pid: int, room: int = _FIRST_ROOM) -> bytes:
    """All of a list. A buffer that came back full may have had no room for the rest: asked again with a larger one."""
    import ctypes

    while room <= _MOST_ROOM:
        buffer = ctypes.create_string_buffer(room)
        ctypes.set_errno(0)
        length: int = ask(buffer, room)  # type: ignore[operator]
        if length <= 0:
            if ctypes.get_errno():
                raise failed(pid)
            return b""
        if length % entry_size:
            raise odd(what)
        if length + entry_size <= room:
            return buffer.raw[:length]
        room *= 4
    raise odd(what)


def pids() -> list[int]:
    """Of all processes but the kernel's own, which is 0. Raises OSError."""
    call = library().proc_listpids
    answer = _listed(lambda buffer, room: call(at.ALL_PIDS, 0, buffer, room), "processes", 4, 0)
    if not answer:
        raise odd("processes")  # we are one
    return [pid for (pid,) in struct.iter_unpack("=i", answer) if pid > 0]


def _of(pid: int, flavor: int, what: str, entry_size: int, first_room: int = _FIRST_ROOM) -> bytes:
    call = library().proc_pidinfo
    return _listed(lambda buffer, room: call(pid, flavor, 0, buffer, room), what, entry_size, pid, first_room)


def descriptors(pid: int, room: int = _FIRST_ROOM) -> list[tuple[int, int]]:
    """(number, kind) of each; `room`: how many bytes are tried first. Raises OSError."""
    answer = _of(pid, at.LIST_FDS, "descriptors", at.SIZE_OF_ENTRY, room)
    return [(number, kind) for number, kind in struct.iter_unpack("=iI", answer)]


def fileports(pid: int) -> list[tuple[int, int]]:
    """(port, kind) of descriptors that lie in a Mach port, in nobody's table. Raises OSError."""
    answer = _of(pid, at.LIST_FILEPORTS, "file ports", at.SIZE_OF_ENTRY)
    return [(port, kind) for port, kind in struct.iter_unpack("=II", answer)]


def threads(pid: int) -> list[int]:
    """What THREAD_PLACE takes as its argument. Raises OSError."""
    return [handle for (handle,) in struct.iter_unpack("=Q", _of(pid, at.LIST_THREADS, "threads", at.SIZE_OF_THREAD))]


def of_descriptor(pid: int, number: int, flavor: int, *, is_port: bool = False) -> bytes | None:
    """What is open there; None if it was closed meanwhile. Raises OSError."""
    import ctypes

    size = at.SIZE_OF_FD_VNODE if flavor == at.FD_VNODE else at.SIZE_OF_FD_SOCKET
    call = library().proc_pidfileportinfo if is_port else library().proc_pidfdinfo
    buffer = ctypes.create_string_buffer(size)
    ctypes.set_errno(0)
    # the number comes before the flavor, otherwise than in the kernel's own call
    length = call(pid, number, flavor, buffer, size)
    if length == size:
        return buffer.raw
    if length > 0:
        raise odd("of a descriptor")
    if ctypes.get_errno() in (errno.EBADF, errno.ENOENT, errno.ENOTSOCK) or (
        is_port and ctypes.get_errno() == errno.EINVAL
    ):
        return None
    raise failed(pid)


def regions(pid: int, *, closely: bool) -> Iterator[bytes]:
    """Memory that belongs to files. EINVAL says that there is no more of it; it also says that the file of the next one
    is gone with its file system, so who looks `closely` goes through every region. Raises OSError."""
    flavor = at.ALL_REGIONS if closely else at.FILE_REGIONS
    address = 0
    while True:
        try:
            answer = info(pid, flavor, address)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return
            raise
        start, size = u64(answer, at.REGION_ADDRESS), u64(answer, at.REGION_SIZE)
        if size == 0 or start + size <= address:
            raise odd("of memory")
        if u32(answer, at.VNODE_IN_REGION + at.VNODE_TYPE):
            yield answer
        elif not closely or answer[at.VNODE_IN_REGION + at.PATH_IN_VNODE]:
            # a sandbox refused to look at the file, and the kernel forgets that error (proc_info.c)
            raise OSError(errno.EPERM, "macOS does not tell which file is in its memory", f"process {pid}")
        address = start + size


def program(pid: int) -> str:
    """The file that it runs; "" if that is there no more. Raises OSError."""
    import ctypes

    buffer = ctypes.create_string_buffer(4 * at.LONGEST_PATH)
    ctypes.set_errno(0)
    if library().proc_pidpath(pid, buffer, len(buffer)) > 0:
        return os.fsdecode(buffer.value)
    if ctypes.get_errno() == errno.ENOENT:  # of the file: its name was asked for
        return ""
    raise failed(pid)


def words(pid: int) -> tuple[tuple[bytes, ...], bytes | None]:
    """(arguments, variables as a NUL separated text). None: macOS keeps the variables to itself, which it does in
    silence for most of Apple's own programs. Raises OSError; EINVAL may mean that it has ended, or is not for us."""
    answer = _sysctl((at.CTL_KERN, at.KERN_PROCARGS2, pid), _argument_room(), pid)
    if len(answer) < 5:
        raise odd("of arguments")
    (count,) = struct.unpack_from("=i", answer)
    end = answer.find(b"\0", 4)
    path = answer[4:end]
    if count == 1 and answer[4:] == path + b"\0\0" + path + b"\0":
        return (path,), None  # a program that may keep all of it to itself (kern_sysctl.c, sysctl_procargs_no_read)
    start = 4 + (len(path) + _FILLED_UP) // _FILLED_UP * _FILLED_UP
    if end < 0 or answer[end:start].strip(b"\0"):
        raise odd("of arguments")
    parts = answer[start:].split(b"\0")
    if count < 0 or count > len(parts):
        raise odd("of arguments")
    arguments, rest = tuple(parts[:count]), parts[count:]
    if not arguments or not arguments[0]:
        return arguments, None  # where it hides them macOS counts from the first word, and is off by one without it
    return arguments, _variables(rest)


def _variables(rest: list[bytes]) -> bytes | None:
    """What stands behind the arguments, up to what belongs to the loader. A program that changed its title (node) left
    NULs there; one without any variables is told apart from one that hides them by what the loader got."""
    variables: list[bytes] = []
    for part in rest:
        if part:
            variables.append(part)
        elif variables:
            break
    return b"\0".join(variables) + b"\0" if variables else None


_room = 0


def _argument_room() -> int:
    """With less room than it needs the kernel tells the end alone."""
    global _room
    if not _room:
        try:
            (_room,) = struct.unpack("=i", _sysctl((at.CTL_KERN, at.KERN_ARGMAX), 4, 0))
        except (OSError, struct.error):
            _room = 1 << 20
    return _room


def _sysctl(name: tuple[int, ...], room: int, pid: int) -> bytes:
    import ctypes

    buffer, size = ctypes.create_string_buffer(room), ctypes.c_size_t(room)
    numbers = (ctypes.c_int * len(name))(*name)
    ctypes.set_errno(0)
    if library().sysctl(numbers, len(name), buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
        raise failed(pid)
    if size.value > room:
        raise odd("of itself")
    return ctypes.string_at(buffer, size.value)


def boot_time_s() -> float | None:
    """By the clock of now."""
    try:
        answer = _sysctl((at.CTL_KERN, at.KERN_BOOTTIME), 16, 0)
    except OSError:
        return None
    if len(answer) != 16:
        return None
    seconds, micro = struct.unpack("=qi4x", answer)
    return float(seconds + micro / 1e6)


def ignored_signals(pid: int) -> int:
    """As a mask. Raises OSError."""
    answer = _sysctl((at.CTL_KERN, at.KERN_PROC, at.KERN_PROC_PID, pid), at.SIZE_OF_KINFO, pid)
    if not answer:
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH), f"process {pid}")
    if len(answer) != at.SIZE_OF_KINFO:
        raise odd("of a process")
    return u32(answer, at.KINFO_IGNORED)


def kernel_text(name: str) -> str | None:
    """A text that the kernel has under a name, such as kern.osversion; None where it has none."""
    import ctypes

    buffer, size = ctypes.create_string_buffer(256), ctypes.c_size_t(256)
    try:
        call = library().sysctlbyname
    except (OSError, AttributeError):
        return None
    if call(name.encode(), buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
        return None
    return buffer.value.decode("ascii", "replace") or None


def mounts() -> list[bytes]:
    """A struct statfs each, as the kernel has them in mind: no server is asked. Raises OSError."""
    import ctypes

    system = library()
    call = getattr(system, "getfsstat$INODE64", None) or getattr(system, "getfsstat", None)  # Intel, ARM
    if call is None:
        raise OSError(errno.ENOSYS, "this system has no getfsstat")
    room = 64
    while room <= 1 << 16:
        buffer = ctypes.create_string_buffer(room * at.SIZE_OF_MOUNT)
        ctypes.set_errno(0)
        count = call(buffer, ctypes.c_int(len(buffer)), at.DO_NOT_WAIT)
        if count < 0:
            raise failed(0)
        if count == 0:
            raise odd("of mounts")
        if count < room:
            return [buffer.raw[n * at.SIZE_OF_MOUNT : (n + 1) * at.SIZE_OF_MOUNT] for n in range(count)]
        room *= 4
    raise odd("of mounts")


def u16(answer: bytes, start: int) -> int:
    return int(struct.unpack_from("=H", answer, start)[0])


def u32(answer: bytes, start: int) -> int:
    return int(struct.unpack_from("=I", answer, start)[0])


def u64(answer: bytes, start: int) -> int:
    return int(struct.unpack_from("=Q", answer, start)[0])


def i64(answer: bytes, start: int) -> int:
    return int(struct.unpack_from("=q", answer, start)[0])


def text(answer: bytes, start: int, size: int) -> bytes:
    """Up to the first NUL; all of it is no text: it was cut off."""
    part = answer[start : start + size]
    end = part.find(b"\0")
    if end < 0:
        raise odd("of names")
    return part[:end]

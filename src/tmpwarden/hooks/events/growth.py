"""One warning when the output of a running command has grown past a gigabyte: it fills the disk in silence."""

import posix

from .. import notebook
from .hook_call import HookCall

LIMIT_BYTES = 1 << 30


def warning(call: HookCall) -> str:
    """A sentence for the user, or nothing. The same file is named again only after it has doubled."""
    biggest, path = _biggest(call)
    told = f"{notebook.session_key(call.session)}.grown"
    last_told = notebook.status(f"{call.notes}/{told}")
    if biggest <= LIMIT_BYTES or (last_told is not None and biggest < 2 * last_told.st_size):
        return ""
    _remember(call.notes, told, biggest)
    grown = f"{path} has grown to {biggest / (1 << 30):.1f} GB"
    return f"tmpwarden: {grown} and is still in use; stop its command if nobody needs it"


def _biggest(call: HookCall) -> tuple[int, str]:
    own = call.dialect.facts["temp_own_variable"].encode()
    temp = call.environ.get(own) or call.environ.get(b"TMPDIR") or b"/tmp"
    largest = (0, "")
    for directory in call.dialect.output_directories(temp.decode("utf-8", "surrogateescape"), call.session):
        try:
            with posix.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        size = entry.stat(follow_symlinks=False).st_blocks * 512
                        largest = max(largest, (size, entry.path))
        except OSError:
            continue
    return largest


def _remember(notes: str, name: str, size: int) -> None:
    """The size lives in a sparse file of that size: no parser, no content."""
    try:
        notebook.make(notes)
        fd = posix.open(f"{notes}/{name}", posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0o600)
    except OSError:
        return
    try:
        posix.ftruncate(fd, size)
    except OSError:
        pass
    finally:
        posix.close(fd)

"""Every decision as one JSON line in a private, rotated file. Hot path: one open, one write.

A second small file remembers what agents were told to run instead, and what was asked about, so that the hook after the
call can tell what ran.
"""

import posix
import time

from ...model.hot import Decision, ToolCall
from ...redaction import hide
from ...small_files import read_text
from ...small_json import encode, quoted

MAX_BYTES = 10_000_000
KEEP = 5  # generations beside the current one: audit.jsonl.1 ... .5
MAX_TOLD_BYTES = 1 << 18
FORGOTTEN_AFTER_S = 90 * 86400
_ONE_FILE_S = 30 * 86400  # then a new file is begun: whole files are forgotten
_LINE_BEGINS = '{"time": "'
_ASKED = "asked"  # no JSON string: no input can look like it
MAX_INPUT = 100_000  # characters of one input: a command of megabytes is told by its head
_FLAGS = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC


def log_path(state_dir: str) -> str:
    return f"{state_dir}/guard/audit.jsonl"


def record(state_dir: str, call: ToolCall, decision: Decision, *, now_s: float | None = None) -> None:
    """Write one decision down. Raises OSError when that cannot be done; a hook goes on without."""
    before, after = _before(call), decision.rewritten
    _write(state_dir, call, after, decision, now_s)
    if after is not None and decision.verdict != "deny":
        _remember(state_dir, call.session, before, _text(after))
    if decision.verdict == "ask" and call.tool == "shell":
        _remember(state_dir, call.session, after or before, _ASKED)


def check_ran(state_dir: str, call: ToolCall, *, now_s: float | None = None) -> bool:
    """After the call: did the agent run what it was told? False, and a line in the audit, if it ran its own text."""
    ran = _before(call)
    memory = _read_memory(state_dir) if ran else b""
    if _line(call.session, ran, _ASKED) in memory:
        _write(state_dir, call, None, Decision("done", "it was asked about, and it ran"), now_s)
        return True
    if _line(call.session, ran, '"') not in memory:
        return True
    _write(
        state_dir, call, None, Decision("mismatch", "the agent ran its original command, not the rewritten one"), now_s
    )
    return False


def forget_old(state_dir: str, now_s: float) -> None:
    """No decision is kept longer than FORGOTTEN_AFTER_S. Not for hooks: background jobs and timers call it."""
    from ...oskit.files.own_files import forget_older, rotate

    path = log_path(state_dir)
    begins = read_text(path, len(_LINE_BEGINS) + 19)
    if begins.startswith(_LINE_BEGINS) and begins[len(_LINE_BEGINS) :] < _date(now_s - _ONE_FILE_S):
        rotate(path, keep=KEEP)
    forget_older(path, now_s - (FORGOTTEN_AFTER_S - _ONE_FILE_S), keep=KEEP)


def _write(state_dir: str, call: ToolCall, after: str | None, decision: Decision, now_s: float | None) -> None:
    now_s = time.time() if now_s is None else now_s
    stamp = f"{_date(now_s)}.{int(now_s % 1 * 1000):03d}Z"
    fields = [
        ("time", quoted(stamp)),
        ("session", _text(call.session)),
        ("agent", quoted(call.agent)),
        ("tool", quoted(call.tool if call.tool != "other" else call.name)),
        ("cwd", quoted(call.cwd)),
        ("before", _text(_before(call))),
        ("after", _text(after)),
        ("decision", quoted(decision.verdict)),
        ("rule", _text(decision.rule or None)),
        ("reason", _text(decision.reason or None)),
        *([("basis", quoted(decision.basis))] if decision.basis else ()),
    ]
    _append(log_path(state_dir), fields)


def _date(at_s: float) -> str:
    """Dates of this form sort by age."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s))


def _before(call: ToolCall) -> str:
    if call.tool == "other":
        return encode(call.tool_input)
    return call.command if call.command is not None else "\n".join(call.paths)


def _text(value: str | None) -> str:
    if value is None:
        return "null"
    return quoted(hide(value if len(value) <= MAX_INPUT else value[:MAX_INPUT] + "..."))


def _append(path: str, fields: "list[tuple[str, str]]") -> None:
    line = "{" + ", ".join([f'"{key}": {value}' for key, value in fields]) + "}\n"
    fd = _open(path)
    try:
        if posix.fstat(fd).st_size > MAX_BYTES:
            from ...oskit.files.own_files import rotate

            rotate(path, keep=KEEP)
            posix.close(fd)
            fd = _open(path)
        posix.write(fd, line.encode())
    finally:
        posix.close(fd)


def _open(path: str) -> int:
    try:
        return posix.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        from ...oskit.files.own_dirs import make_private_dir

        make_private_dir(path.rpartition("/")[0])
        return posix.open(path, _FLAGS, 0o600)


def _told_path(state_dir: str) -> str:
    return f"{state_dir}/guard/told"


def _line(session: str | None, before: str, rest: str) -> bytes:
    """One line of the memory; without its end it finds every line that starts so."""
    return f"\n{_text(session)} {_text(before)} {rest}".encode()


def _remember(state_dir: str, session: str | None, before: str, rest: str) -> None:
    fd = _open(_told_path(state_dir))
    try:
        if posix.fstat(fd).st_size > MAX_TOLD_BYTES:
            posix.ftruncate(fd, 0)
        posix.write(fd, _line(session, before, rest))
    finally:
        posix.close(fd)


def _read_memory(state_dir: str) -> bytes:
    try:
        fd = posix.open(_told_path(state_dir), posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return posix.read(fd, 2 * MAX_TOLD_BYTES + MAX_INPUT * 12)
    finally:
        posix.close(fd)

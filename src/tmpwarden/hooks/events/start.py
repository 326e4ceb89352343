"""A session starts or goes on: its scratch with what it had, the way there for its commands, a line for the model."""

import os

from ...errors import TmpwardenError
from ...lifecycle.background import has_dead_scratch, take_word
from ...repos.rescue import notice
from .. import notebook
from ..dialects.common import Answer
from .hook_call import HookCall, is_second
from .session_scratch import has_no_end, inherited_temp_dir, open_scratch, remember, remembered, scratch_of

_MARK = "# tmpwarden"
_NO_BYTES, _NO_INODES = 1 << 20, 16  # less than that is nothing to an agent
GONE = "The temp directory that this session had earlier was removed, with its files."


def start(call: HookCall) -> Answer | None:
    if is_second(call):
        return None
    context, message, env = "", "", dict[str, str]()
    try:
        context, env = _scratch(call)
    except (TmpwardenError, OSError) as problem:
        message = f"tmpwarden: no temp directory for this session: {problem}"[:400]
        notebook.log(call.notes, message)
    _clear(call)
    words = [message, _complaint(call), notebook.take_note(call.notes, call.session), _room(call), _saved()]
    return call.dialect.greet(call.event, context, "\n".join(filter(None, words)), env)


def guide(call: HookCall) -> Answer | None:
    """A subagent of a session that has its scratch: its model is told where, for it has not heard the start."""
    scratch_text = _known(call)
    if not scratch_text or is_second(call):
        return None
    return call.dialect.greet(call.event, _guidance(scratch_text), "", {})


def _known(call: HookCall) -> str:
    """What the session itself was told; nothing is made here but a static directory that was gone."""
    if has_no_end(call.state):
        return ""
    if call.dialect.facts["temp_file"] and (static := _static(call)):
        return f"$TMPDIR ({static})"
    path, is_tmpdir = scratch_of(call)
    if path is None:
        path, is_tmpdir = inherited_temp_dir(call), True
    return f"$TMPDIR ({path})" if path and is_tmpdir else path


def _clear(call: HookCall) -> None:
    """In the background: everything when due, else what a killed session has left."""
    if notebook.is_due(call.notes, notebook.CLEAN):
        from .jobs import clear_all

        if notebook.put_off(call.notes, notebook.CLEAN, notebook.CLEAN_EVERY_S):
            clear_all(call)
            return
    if has_dead_scratch():
        from .jobs import clear_scratches

        clear_scratches(call)
    elif notebook.is_due(call.notes, notebook.ROOM, every_s=notebook.ROOM_EVERY_S):
        from .jobs import relieve

        notebook.put_off(call.notes, notebook.ROOM, notebook.ROOM_EVERY_S)  # a full disk may refuse even that
        relieve(call)


def _room(call: HookCall) -> str:
    """What was done about a root that ran out of room, or that one is full; a full disk may have kept the former."""
    if words := take_word(call.state):
        return words
    full = [root for root in notebook.temp_roots(call.environ) if _is_full(root)]
    return f"tmpwarden: {full[0]} is full, so commands may fail. Run: tmpwarden doctor" if full else ""


def _is_full(root: str) -> bool:
    try:
        room = os.statvfs(root)
    except OSError:
        return False
    bytes_total, bytes_free = room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize
    has_no_bytes = bytes_free < min(_NO_BYTES, bytes_total // 8 + 1)
    return has_no_bytes or (room.f_files > 0 and room.f_favail < min(_NO_INODES, room.f_files // 8 + 1))


def _scratch(call: HookCall) -> tuple[str, dict[str, str]]:
    """What to tell the model, and the variables for its commands."""
    if why := has_no_end(call.state):  # no lease, no TMPDIR, and no promise that anything is deleted
        notebook.log(call.notes, f"no temp directory for this session: {why}")
        return "", {}
    facts = call.dialect.facts
    env_file = call.environ.get(facts["temp_variable"].encode(), b"").decode("utf-8", "surrogateescape")
    reaches_commands = bool(env_file) or facts["temp_by"] == "answer"
    if facts["temp_file"] and (static := _static(call)):
        return _guidance(f"$TMPDIR ({static})"), {}
    if not reaches_commands and (scratch_text := inherited_temp_dir(call)):
        return _guidance(f"$TMPDIR ({scratch_text})"), {}
    if not reaches_commands and "context" not in call.dialect.answers:
        return "", {}  # nothing we could say or set would lead anybody there
    if target := _target(call):
        return _share(call, target, env_file, reaches_commands)
    is_lost = not _bring_back(call)
    if call.text_of("source") != "startup":
        _bring_back_names(call)
    directory = open_scratch(call)
    if env_file:
        _lead(call, env_file, directory.path)
    if reaches_commands:
        remember(call, directory.path, is_tmpdir=True)  # only now: had the file not been written, nobody would have it
    scratch_text = f"$TMPDIR ({directory.path})" if reaches_commands else directory.path
    return _guidance(scratch_text) + (
        f" {GONE} {notice.of_session(call.session)}".rstrip() if is_lost else ""
    ), directory.env


def _target(call: HookCall) -> str:
    """The directory that sessions share, where a config file could say so: reading the rules doubles a start."""
    if not any(map(os.path.exists, (notebook.config_directory(call.environ), "/etc/tmpwarden"))):
        return ""
    from .rules import shared_target

    return shared_target(call)


def _share(call: HookCall, target: str, env_file: str, reaches_commands: bool) -> tuple[str, dict[str, str]]:
    """`[redirect] target`: the same directory for all sessions, checked at each start."""
    from ...leases.scratch import environment
    from ...leases.static_temp import make_shared

    make_shared(call.state, target)
    if env_file:
        _lead(call, env_file, target, is_shared=True)
    remember(call, target, is_tmpdir=reaches_commands)
    scratch_text = f"$TMPDIR ({target})" if reaches_commands else target
    return f"Temp files: use {scratch_text}. Files unused for three days are deleted.", environment(target)


def _static(call: HookCall) -> str:
    """The directory that the agent's settings name as its commands' TMPDIR, there again if it was gone."""
    from ...leases.static_temp import make_one, of_agent

    path = of_agent(call.state, call.dialect.agent)
    if path:
        make_one(path)
    return path


def _saved() -> str:
    """What was rescued without anybody asking, told once to the next session that starts."""
    return f"tmpwarden: {notice.take()}" if os.path.exists(notice.path()) else ""


def _guidance(scratch_text: str) -> str:
    return f"Temp files: use {scratch_text}. It is deleted after this session; files to keep belong in the project."


def _complaint(call: HookCall) -> str:
    """Every session says so while the guard's config is broken; `install --guard` has compiled a first one."""
    if not os.path.isdir(f"{call.state}/guard"):
        return ""  # it has never been asked here, and importing it would double the price of a start
    from ...guard.rules.compiled import cache_path
    from .rules import guard_rules

    if not os.path.exists(cache_path(call.state)):
        return ""
    complaint = guard_rules(call).complaint
    return f"tmpwarden: {complaint}"[:400] if complaint else ""


def _bring_back(call: HookCall) -> bool:
    """Put the files of this session's scratch back where they were. False: it had files, and they are lost."""
    path = remembered(call)
    if not path or os.path.isdir(path):
        return True
    try:
        return _undone(path)
    except Exception as problem:  # whatever it is, the session must still get a scratch
        notebook.log(call.notes, f"cannot bring back {path}: {type(problem).__name__}: {problem}")
        return False


def _bring_back_names(call: HookCall) -> None:
    """Names in a temp root that were this session's, as far as nobody else has them now."""
    from ...leases.births import read

    try:
        mine = [birth for birth in read(call.state).values() if birth.session == call.session and birth.owned]
        for birth in mine:
            if not os.path.lexists(birth.path):
                _undone(birth.path)
    except Exception as problem:
        notebook.log(call.notes, f"cannot bring back what this session made: {type(problem).__name__}: {problem}")


def _undone(path: str) -> bool:
    from ...oskit.files.places import state_dir
    from ...sweep.store.journal import restorable
    from ...sweep.store.undo import undo

    receipts = [token for token, entry in restorable(state_dir()).items() if entry.get("path") == path]
    if receipts:
        undo(receipts[-1])
    return bool(receipts)


def _line_for(path: str, *, is_shared: bool = False) -> str:
    """One line of sh: remakes the folder after a clean-up, and leaves TMPDIR alone if it is not usable or not ours.

    A scratch name is predictable. So is its parent's: another user could make that first, on a freshly booted tmpfs.
    `is_shared`: it lies right below a temp root, which is nobody's.
    """
    scratch, base = _quoted(path), _quoted(os.path.dirname(path))
    is_ours = "" if is_shared else f"[ -O {base} ] && [ ! -L {base} ] && "
    is_ours += f"[ -O {scratch} ] && [ ! -L {scratch} ] && [ -w {scratch} ]"
    make_it = f"{{ [ -d {scratch} ] || mkdir -p -m 700 {scratch}; }} 2>/dev/null"
    return f"if {make_it} && {is_ours}; then export TMPDIR={scratch} TMP={scratch} TEMP={scratch}; fi {_MARK}"


def _limit_lines(call: HookCall) -> list[str]:
    """`[brake] ulimit`: a soft limit on the size of a file, where a config file could say so. bash counts in 1,024
    bytes, other shells in 512."""
    if not any(map(os.path.exists, (notebook.config_directory(call.environ), "/etc/tmpwarden"))):
        return []
    from ...catalogue.settings import load_settings

    limit = load_settings().brake_ulimit_bytes
    if limit is None:
        return []
    blocks = max(1, limit >> 10)
    return [
        f'if [ -n "$BASH_VERSION" ]; then ulimit -S -f {blocks}; else ulimit -S -f {blocks * 2}; fi 2>/dev/null {_MARK}'
    ]


def _lead(call: HookCall, env_file: str, path: str, *, is_shared: bool = False) -> None:
    """Put the lines into `env_file`, once, and into the file that is really sourced where the two differ."""
    lines = [_line_for(path, is_shared=is_shared), *_limit_lines(call)]
    for target in _files(env_file, call.session):
        _put(target, lines)


def _files(env_file: str, session: str) -> list[str]:
    """On `--continue` the file handed to us is that of an id that was dropped; commands source the resumed id's."""
    directory, name = os.path.split(env_file)
    base, own = os.path.split(directory)
    if own == session or not base or "/" in session or session in ("", ".", ".."):
        return [env_file]
    return [env_file, os.path.join(base, session, name)] if len(own) == len(session) else [env_file]


def _put(env_file: str, lines: list[str]) -> None:
    os.makedirs(os.path.dirname(env_file), exist_ok=True)
    fd = os.open(env_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        content = os.read(fd, 1 << 20).decode("utf-8", "surrogateescape")
        others = [line for line in content.splitlines() if not line.endswith(_MARK)]
        wanted = ("\n".join([*others, *lines]) + "\n").encode("utf-8", "surrogateescape")
        if wanted != content.encode("utf-8", "surrogateescape"):
            os.lseek(fd, 0, os.SEEK_SET)
            os.ftruncate(fd, os.write(fd, wanted))
    finally:
        os.close(fd)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"

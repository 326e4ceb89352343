"""The shell line that leads a session's commands to its scratch, in the file that its agent sources before each."""

import os

_MARK = "# tmpwarden"


def line_for(path: str, *, is_shared: bool = False) -> str:
    """One line of sh: remakes the folder after a clean-up, and leaves TMPDIR alone if it is not usable or not ours.

    A scratch name is predictable. So is its parent's: another user could make that first, on a freshly booted tmpfs.
    `is_shared`: it lies right below a temp root, which is nobody's.
    """
    scratch, base = _quoted(path), _quoted(os.path.dirname(path))
    is_ours = "" if is_shared else f"[ -O {base} ] && [ ! -L {base} ] && "
    is_ours += f"[ -O {scratch} ] && [ ! -L {scratch} ] && [ -w {scratch} ]"
    made = f"{{ [ -d {scratch} ] || mkdir -p -m 700 {scratch}; }} 2>/dev/null"
    return f"if {made} && {is_ours}; then export TMPDIR={scratch} TMP={scratch} TEMP={scratch}; fi {_MARK}"


def write(env_file: str, session: str, path: str, *, is_shared: bool = False) -> None:
    """Put the line into `env_file`, once, and into the file that is really sourced where the two differ."""
    for target in _files(env_file, session):
        _put(target, line_for(path, is_shared=is_shared))


def _files(env_file: str, session: str) -> list[str]:
    """On `--continue` the file handed to us is that of an id that was dropped; commands source the resumed id's."""
    directory, name = os.path.split(env_file)
    base, own = os.path.split(directory)
    if own == session or not base or "/" in session or session in ("", ".", ".."):
        return [env_file]
    return [env_file, os.path.join(base, session, name)] if len(own) == len(session) else [env_file]


def _put(env_file: str, line: str) -> None:
    os.makedirs(os.path.dirname(env_file), exist_ok=True)
    fd = os.open(env_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        content = os.read(fd, 1 << 20).decode("utf-8", "surrogateescape")
        others = [found for found in content.splitlines() if not found.endswith(_MARK)]
        wanted = ("\n".join([*others, line]) + "\n").encode("utf-8", "surrogateescape")
        if wanted != content.encode("utf-8", "surrogateescape"):
            os.lseek(fd, 0, os.SEEK_SET)
            os.ftruncate(fd, os.write(fd, wanted))
    finally:
        os.close(fd)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"

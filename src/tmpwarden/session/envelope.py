"""The response of REQ-F-043: one JSON object, always `ok, data, error, warnings, meta`."""

from __future__ import annotations

import os
import time

from ..errors import BadArgument, TmpwardenError
from ..text import parse_duration
from .private import Folder, check_name, explained, make_file, make_folder, open_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


# A file for the caller: `<root>/out/<expiry>-<id>/<name>`, which outlives the session and goes when its time is up.

OUT = "out"
_TRIES = 100
_HEX = frozenset("0123456789abcdef")
_LONGEST_KEEP_S = 100 * 365 * 86400


class HandOver:
    """One file promised to the caller for `keep_s` seconds after the session has ended."""

    __slots__ = ("folder_path", "keep_s", "path")

    def __init__(self, folder_path: str, name: str, keep_s: int) -> None:
        self.folder_path = folder_path
        self.path = os.path.join(folder_path, name)
        self.keep_s = keep_s

    def start_clock(self, now_s: float) -> None:
        """The run ends now: note the end of the promise as mtime of the directory, for its name is already told."""
        try:
            os.utime(self.folder_path, (now_s, now_s + self.keep_s))
        except OSError:  # the caller has removed it, or the disk fails: the expiry in the name still holds
            return


def keep_seconds(keep: float | str) -> int:
    try:
        seconds = parse_duration(keep) if isinstance(keep, str) else int(keep)
    except (ValueError, OverflowError) as error:
        raise BadArgument(f"keep: {error}") from None
    if not 0 < seconds <= _LONGEST_KEEP_S:
        raise BadArgument(f"keep must be at least one second and at most 100 years, not {keep}")
    return seconds


def make_hand_over(root: Folder, session_name: str, name: str, keep: float | str) -> HandOver:
    """An empty 0600 file in a 0700 directory of its own."""
    check_name(name)
    keep_s = keep_seconds(keep)
    try:
        out = _open_out(root)
        try:
            folder = _make_own_folder(out, session_name, int(time.time()) + keep_s)
        finally:
            out.close()
        try:
            os.close(make_file(folder, name))
        finally:
            folder.close()
    except OSError as error:
        raise explained(error, root.path) from None
    return HandOver(folder.path, name, keep_s)


def _open_out(root: Folder) -> Folder:
    try:
        return make_folder(root, OUT)
    except FileExistsError:
        return open_folder(root, OUT)


def _make_own_folder(out: Folder, session_name: str, expiry: int) -> Folder:
    """The id is the session's with four random digits: while that session lives nobody prunes it."""
    for _ in range(_TRIES):
        try:
            return make_folder(out, f"{expiry}-{session_name[1:]}{os.urandom(2).hex()}")
        except FileExistsError:
            continue
    raise FileExistsError(out.path)


def expiry_s(folder_name: str) -> int | None:
    """Seconds since the epoch, or None if it is not a name of ours."""
    expiry, _, token = folder_name.partition("-")
    is_ours = (
        expiry.isascii() and expiry.isdigit() and len(expiry) <= 12 and len(token) == 12 and _HEX.issuperset(token)
    )
    return int(expiry) if is_ours else None


def session_of(folder_name: str) -> str | None:
    return "s" + folder_name.partition("-")[2][:8] if expiry_s(folder_name) is not None else None


def cleanup_command(path: str) -> str:
    """What the caller pastes into its shell, as it stands."""
    if os.name == "nt":
        return f'del /f /q "{path}"'
    import shlex

    return shlex.join(["rm", "-f", path])


_RESERVED = ("output_file", "output_files", "cleanup")


def response(
    data: object,
    error: object,
    warnings: Iterable[str],
    meta: Mapping[str, object],
    hand_overs: tuple[HandOver, ...] = (),
    session_path: str = "",
) -> str:
    """One line of JSON. Files for the caller are told in `data`, where they were made in `meta`."""
    full_meta = dict(meta)
    # an error without data keeps `data: null`, which callers test for
    if hand_overs and (error is None or data is not None):
        data = _with_files(data, hand_overs)
        full_meta["session_tmp_dir"] = session_path
    return _line(
        {
            "ok": error is None,
            "data": data,
            "error": described(error),
            "warnings": list(warnings),
            "meta": full_meta,
        }
    )


def cancelled(signal_name: str, meta: Mapping[str, object]) -> str:
    """The last line of a run that was told to stop (REQ-F-013).

    The requirement shows `partial` beside the five keys, where the schema allows no others: here it stands in `meta`.
    """
    error = {"code": "CANCELLED", "message": f"stopped by {signal_name}"}
    full_meta = {**meta, "partial": True}
    return _line({"ok": False, "data": None, "error": error, "warnings": [], "meta": full_meta})


def described(error: object) -> object:
    """An error as `{code, message, ...}`: from a mapping as it is, from an exception or a sentence."""
    if isinstance(error, TmpwardenError):
        return error.described()
    if isinstance(error, BaseException):
        return {"code": "internal", "message": f"{type(error).__name__}: {error}"}
    if isinstance(error, str):
        return {"code": "error", "message": error}
    return error


def _with_files(data: object, hand_overs: tuple[HandOver, ...]) -> dict[str, object]:
    if data is not None and not isinstance(data, dict):
        raise BadArgument("data must be a dict when files are handed over, because they are named in it")
    result: dict[str, object] = dict(data or {})
    if clash := [key for key in _RESERVED if key in result]:
        raise BadArgument(f"data.{clash[0]} is where the handed-over file is named; call yours something else")
    files = [{"path": one.path, "cleanup": _cleanup(one)} for one in hand_overs]
    result["output_file"], result["cleanup"] = files[0]["path"], files[0]["cleanup"]
    if len(files) > 1:
        result["output_files"] = files
    return result


def _cleanup(one: HandOver) -> dict[str, object]:
    return {"command": cleanup_command(one.path), "auto_cleanup_after_seconds": one.keep_s}


def _line(answer: dict[str, object]) -> str:
    import json

    return json.dumps(answer)

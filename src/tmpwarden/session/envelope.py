"""The response of REQ-F-043: one JSON object, always `ok, data, error, warnings, meta`."""

from __future__ import annotations

from ..errors import BadArgument, TmpwardenError
from .handover import HandOver, cleanup_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    told = dict(meta)
    if hand_overs and (error is None or data is not None):
        data = _with_files(data, hand_overs)
        told["session_tmp_dir"] = session_path
    return _line(
        {
            "ok": error is None,
            "data": data,
            "error": described(error),
            "warnings": list(warnings),
            "meta": told,
        }
    )


def cancelled(signal_name: str, meta: Mapping[str, object]) -> str:
    """The last line of a run that was told to stop (REQ-F-013).

    The requirement shows `partial` beside the five keys, where the schema allows no others: here it stands in `meta`.
    """
    error = {"code": "CANCELLED", "message": f"stopped by {signal_name}"}
    told = {**meta, "partial": True}
    return _line({"ok": False, "data": None, "error": error, "warnings": [], "meta": told})


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
    told: dict[str, object] = dict(data or {})
    if clash := [key for key in _RESERVED if key in told]:
        raise BadArgument(f"data.{clash[0]} is where the handed-over file is named; call yours something else")
    files = [{"path": one.path, "cleanup": _cleanup(one)} for one in hand_overs]
    told["output_file"], told["cleanup"] = files[0]["path"], files[0]["cleanup"]
    if len(files) > 1:
        told["output_files"] = files
    return told


def _cleanup(one: HandOver) -> dict[str, object]:
    return {"command": cleanup_command(one.path), "auto_cleanup_after_seconds": one.keep_s}


def _line(answer: dict[str, object]) -> str:
    import json

    return json.dumps(answer)

"""Hand a hook call to its moment, and spell out what that says."""

from ...small_json import encode
from ..dialects.common import Answer
from .hook_call import HookCall


def answer(call: HookCall) -> bytes:
    """The bytes for stdout, or none."""
    said = _moment(call)
    return encode(said).encode() if said else b""


def _moment(call: HookCall) -> Answer | None:
    if call.kind == "before":
        from .before import before

        return before(call)
    if call.kind == "start":
        from .start import start

        return start(call)
    if call.kind == "guide":
        from .start import guide

        return guide(call)
    if call.kind == "end":
        from .end import end

        return end(call)
    from .after import after

    return after(call)

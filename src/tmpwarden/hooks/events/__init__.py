"""The moments of a session: start, before and after a tool call, stop, end."""

from ...small_json import encode
from ..dialects import load
from ..dialects.common import Answer
from ..entry import word


class Call:
    """One hook call, read."""

    __slots__ = ("dialect", "environ", "event", "kind", "notes", "observes", "payload", "session")

    def __init__(
        self,
        arguments: list[str],
        event: str,
        kind: str,
        session: str,
        payload: Answer,
        environ: dict[bytes, bytes],
        notes: str,
    ) -> None:
        self.dialect = load(arguments[0])
        self.observes = "--observe" in arguments
        self.event = event
        self.kind = kind
        self.session = session
        self.payload = payload
        self.environ = environ
        self.notes = notes  # the directory of hooks/notebook.py

    @property
    def state(self) -> str:
        """tmpwarden's state directory."""
        return self.notes.rpartition("/")[0]

    def said(self, *keys: str) -> str:
        return word(self.payload, *keys)


def answer(call: Call) -> bytes:
    """Hand the call to its moment and spell out what that says."""
    said = _moment(call)
    return encode(said).encode() if said else b""


def _moment(call: Call) -> Answer | None:
    if call.kind == "before":
        from .before import before

        return before(call)
    if call.kind == "start":
        from .start import start

        return start(call)
    if call.kind == "end":
        from .end import end

        return end(call)
    from .after import after

    return after(call)

"""One hook call, read: what every moment of a session is handed."""

from ..dialects.common import Answer
from ..dialects.loading import load
from ..payload import text_field


class HookCall:
    """Of one agent, for one session."""

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
        return text_field(self.payload, *keys)

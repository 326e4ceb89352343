"""One hook call, read: what every moment of a session is handed, and whether this copy of us answers it."""

from ...oskit import system
from ...small_files import CREATED, EMPTIED, read, write
from .. import notebook
from ..dialects.common import Answer, load
from ..payload import text_field, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.hot import ToolCall

_SOURCE = __file__.rsplit("/", 4)[0]  # where this copy of tmpwarden lies
_WRITING_S = 5.0


class HookCall:
    """Of one agent, for one session."""

    __slots__ = ("_tool", "dialect", "environ", "event", "kind", "notes", "observes", "payload", "session")

    def __init__(
        self,
        *,
        arguments: list[str],
        event: str,
        kind: str,
        session: str,
        payload: Answer,
        environ: dict[bytes, bytes],
        notes: str,
        tool: "ToolCall | None" = None,
    ) -> None:
        self.dialect = load(arguments[0])
        self.observes = "--observe" in arguments
        self.event = event
        self.kind = kind
        self.session = session
        self.payload = payload
        self.environ = environ
        self.notes = notes  # the directory of hooks/notebook.py
        self._tool = tool

    @property
    def tool(self) -> "ToolCall":
        """The tool call that it tells of, decoded once."""
        if self._tool is None:
            self._tool = tool_call(self.dialect.agent, self.session, self.payload)
        return self._tool

    @property
    def state(self) -> str:
        """tmpwarden's state directory."""
        return self.notes.rpartition("/")[0]

    @property
    def owner_pid(self) -> int:
        """The agent's own process. Where asking the system takes too long for a tool call, its session's start has
        written it down (the claim)."""
        if system.hot.TELLS_PROCESSES or self.kind == "start":
            return self.dialect.owner_pid(self.environ, self.payload)
        claimed = (read(self.claim, 8192) or b"").partition(b" ")[0]
        if claimed.isdigit() and len(claimed) < 10:
            return int(claimed)
        pid = self.dialect.owner_pid(self.environ, self.payload)
        _create(self.claim, _claimed(pid), self.notes)  # hooks that came after the start: the first call pays for all
        return pid

    @property
    def claim(self) -> str:
        """The file that says which process of an agent, and which copy of us, this session belongs to."""
        return f"{self.notes}/{notebook.session_key(self.session)}.claim"

    def text_of(self, *keys: str) -> str:
        return text_field(self.payload, *keys)


def _claimed(pid: int) -> bytes:
    return f"{pid} {_SOURCE}".encode("utf-8", "surrogateescape")


def is_second(call: HookCall) -> bool:
    """Whether another copy of us already works for this session of this agent process: plugin and settings may both
    call us, and the first to come answers."""
    mine = _claimed(call.owner_pid)
    path = call.claim
    theirs = read(path, 8192)
    if theirs is None:
        return not _create(path, mine, call.notes) and read(path, 8192) not in (None, mine)
    if theirs == mine:
        return False
    if theirs.partition(b" ")[0] == mine.partition(b" ")[0]:
        return True
    if not theirs and _is_fresh(path):  # made this instant by somebody else, not yet written
        return True
    write(path, mine, EMPTIED)  # an earlier process of a resumed session
    return False


def _create(path: str, text: bytes, notes: str) -> bool:
    try:
        notebook.make(notes)
    except OSError:
        return False
    return write(path, text, CREATED)


def _is_fresh(path: str) -> bool:
    import time

    status = notebook.status(path)
    return status is not None and time.time() - status.st_mtime < _WRITING_S

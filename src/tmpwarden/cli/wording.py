"""Reasons and owners in words. One table: `Reason` -> sentence; `{who}` is the process, when one is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.answers import Held
from ..model.sweep import Keep, Owner, Verdict, Witness
from ..model.terms import LEASE_IN_FORCE, OwnerState, Reason, WitnessKind
from ..text import duration, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SENTENCES: dict[Reason, str] = {
    Reason.OPEN_FILE: "in use: {who} has a file open in it",
    Reason.WORKING_DIRECTORY: "in use: it is the working directory of {who}",
    Reason.ROOT_DIRECTORY: "in use: it is the root directory of {who}",
    Reason.EXECUTABLE: "in use: {who} runs a program from it",
    Reason.MAPPED_FILE: "in use: {who} has a file in it mapped into memory",
    Reason.TMPDIR: "in use: it is the TMPDIR of {who}",
    Reason.SESSION: "in use: {who} belongs to its session",
    Reason.LOCK: "in use: a file in it is locked",
    Reason.SOCKET: "in use: a process listens on a socket in it",
    Reason.LEASE: "in use: leased to {who}",
    Reason.REGISTRY: "in use: the agent lists {who} as running",
    Reason.MOUNT: "a file system is mounted in it",
    Reason.MOUNT_SOURCE: "in use: it is mounted elsewhere",
    Reason.SWAP: "in use: a file in it is used as swap space",
    Reason.OWNER_ALIVE: "in use: its session is running",
    Reason.TOO_YOUNG: "too new",
    Reason.RESUMABLE: "its session may still be resumed",
    Reason.FOREIGN: "contains another user's files",
    Reason.STICKY: "contains a file with the sticky bit, which asks to keep it",
    Reason.DEVICE: "contains a device node",
    Reason.NEVER: "never removed",
    Reason.PROTECTED: "protected: home, / or a directory above",
    Reason.KEEP_LIST: "on your keep list",
    Reason.GIT_WORK: "contains git work that may exist nowhere else",
    Reason.GIT_UNCLEAR: "contains a git repository that could not be checked",
    Reason.NOT_MEASURED: "could not be checked, so it is kept",
    Reason.OTHER_SHAPE: "has a matching name, but other contents",
    Reason.ASK_ONLY: "not removed by default; use: tmpwarden clean --all",
    Reason.BACKLOG: "older than tmpwarden's setup; removable after your first: tmpwarden clean",
    Reason.RUN_LIMIT: "left for the next automatic clean-up, which is limited to a share of the disk",
    Reason.CHANGED: "changed after it was checked",
    Reason.NO_JOURNAL: "the removal cannot be logged, so it could not be undone",
    Reason.NO_QUARANTINE: "its quarantine directory is not safe, so it could not be undone",
    Reason.OWNER_DEAD: "its session has ended",
    Reason.OWNER_ABSENT: "no process of its session is left",
    Reason.OUTLIVED: "past its age limit and unused",
    Reason.UNOWNED: "it belongs to no session",
    Reason.TORN_DOWN: "its session was torn down",
    Reason.NAMED: "you named it, and it is unused",
    Reason.PRESSURE: "the disk is nearly full",
}

_AGES = {Reason.TOO_YOUNG, Reason.RESUMABLE}
_SPEAKS_FOR_ITSELF = {Reason(kind.value) for kind in WitnessKind} | {
    Reason.ASK_ONLY,
    Reason.BACKLOG,
    Reason.STICKY,
    Reason.DEVICE,
    Reason.PROTECTED,
}


def sentence(reason: Reason, who: str = "a process") -> str:
    return SENTENCES[reason].format(who=who)


def explained(verdict: Verdict) -> str:
    """The sentence for one unit: names the process, and adds the detail the judge gave."""
    detail = verdict.detail if isinstance(verdict, Keep) else ""
    measure = verdict.evidence.measure
    return _explained(verdict.reason, detail, who(verdict), holds_git=measure is not None and bool(measure.git))


def explained_in(document: Mapping[str, Any]) -> str:
    """The same for a finding of `scan --json`, from any process."""
    try:
        reason = Reason(document["reason"])
    except ValueError:
        return shown(document["reason"])
    deciding = (each for each in document["witnesses"] or () if each["kind"] == reason.value and "pid" in each)
    by, pid = next(deciding, None), document["owner"].get("pid")
    user = process(by.get("command"), by["pid"]) if by else "a process" if pid is None else process(None, pid)
    return _explained(reason, document.get("detail", ""), user, holds_git=document.get("holds_git", False))


def _explained(reason: Reason, detail: str, user: str, *, holds_git: bool) -> str:
    if reason in _AGES and detail.isdigit() and holds_git:
        # git is asked only about what may otherwise go, so no more than this can be promised
        return f"{sentence(reason)}; checked after {duration(int(detail))}, because it contains a repository"
    return with_detail(sentence(reason, user), reason, detail)


def with_detail(words: str, reason: Reason, detail: str) -> str:
    """The judge's detail where it adds something: the age that is needed, the git work, the entry of the keep list."""
    if reason in _AGES and detail.isdigit():
        return f"{words}; removable after {duration(int(detail))}"
    if reason is Reason.OWNER_ALIVE and detail == LEASE_IN_FORCE:  # that session may have ended
        return "it is the lease of a directory that is still there"
    if not detail or reason in _SPEAKS_FOR_ITSELF:
        return words
    return f"{words}: {shown(detail)}"


def explained_all(verdicts: Sequence[Verdict]) -> str:
    """The sentence for several units of one reason; as exact as the one sentence when it holds for all."""
    each = {explained(verdict) for verdict in verdicts}
    return each.pop() if len(each) == 1 else sentence(verdicts[0].reason, "processes")


def who(verdict: Verdict) -> str:
    """`node (pid 4242)`, from the witness that decided, else from the owner."""
    users = verdict.evidence.users
    for witness in users.by if isinstance(users, Held) else ():
        if witness.kind.value == verdict.reason.value and witness.pid is not None:
            return process(witness.command, witness.pid)
    pid = verdict.evidence.owner.pid
    return "a process" if pid is None else process(None, pid)


def process(command: str | None, pid: int) -> str:
    return f"{shown(command)} (pid {pid})" if command else f"pid {pid}"


_OWNERS = {
    OwnerState.ALIVE: "alive",
    OwnerState.DEAD: "gone",
    OwnerState.ABSENT: "gone",
    OwnerState.UNKNOWN: "cannot tell",
    OwnerState.NONE: "no session",  # not "nobody", which is also the name of a user
}


_FROM_AFAR = "its owner runs on another machine, in a container, or cannot be read"


def owner_text(owner: Owner) -> str:
    known = [f"pid {owner.pid}"] * (owner.pid is not None)
    known += [f"session {shown(owner.session)}"] if owner.session else []
    text = _OWNERS[owner.state]
    if known and owner.state is not OwnerState.NONE:
        text += f": {', '.join(known)}" + ", no process of it is left" * (owner.state is OwnerState.ABSENT)
    why = owner.detail if owner.state is OwnerState.UNKNOWN else ""
    return f"{text} ({_FROM_AFAR if why == 'lease' else shown(why)})" if why else text


def owner_short(owner: Owner) -> str:
    """For a column: `gone (3f0e2c5a)`."""
    known = f"pid {owner.pid}" if owner.pid is not None else shown(owner.session or "")[:8]
    state = {"alive": "alive", "dead": "gone", "absent": "gone", "unknown": "unknown", "none": "-"}[owner.state.value]
    return f"{state} ({known})" if known else state


_WITNESS_WORDS: dict[WitnessKind, str] = {
    WitnessKind.OPEN_FILE: "has open",
    WitnessKind.WORKING_DIRECTORY: "works in",
    WitnessKind.ROOT_DIRECTORY: "has as root directory",
    WitnessKind.EXECUTABLE: "runs",
    WitnessKind.MAPPED_FILE: "has mapped",
    WitnessKind.TMPDIR: "has in its environment",
    WitnessKind.SESSION: "carries",
    WitnessKind.LOCK: "is locked:",
    WitnessKind.SOCKET: "listens on",
    WitnessKind.LEASE: "holds the lease",
    WitnessKind.REGISTRY: "is listed by its agent in",
    WitnessKind.MOUNT: "mounted:",
    WitnessKind.MOUNT_SOURCE: "mounted elsewhere:",
    WitnessKind.SWAP: "swapped to:",
}


def witness_text(witness: Witness) -> str:
    subject = [process(witness.command, witness.pid)] if witness.pid is not None else []
    return " ".join([*subject, _WITNESS_WORDS[witness.kind], shown(witness.detail)]).strip()


def age_text(seconds: float | None) -> str:
    return "?" if seconds is None else duration(seconds)

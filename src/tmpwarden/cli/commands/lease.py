"""`tmpwarden lease`: a temp directory for an agent that you start, from any language."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import click

from ...errors import BadArgument
from ...leases.lease_state import state_of
from ...lifecycle import leasing
from ...model.belongings import Lease, ScratchDirectory
from ...text import duration, shown
from .. import documents
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import agent_ids, at_least
from ..kinds import pid as pid_number
from ..table import Row, draw
from .teardown import answer

_COLUMNS = ("AGENT", "SESSION", "STATE", ">AGE", "PROCESSES")
_pid = click.option("--pid", type=pid_number, metavar="PID", help="The process that owns it: yours, or the agent's.")
_start = click.option(
    "--start", type=at_least(0), metavar="TICKS", help="Its start time, as `open` and `list` print it (default: any)."
)


@click.group(invoke_without_command=True)
@pass_call
def command(call: Call) -> Answer:
    """Give an agent that you start a temp directory: open it before, close it after.

    For programs in any language, with --json. The directory is kept while a process that opened it is running,
    or anything still uses it. After a crash, the next clean-up removes it. `lease list` shows what is open.
    """
    return _listed(call)


@command.command("open")
@click.option("--session", metavar="ID", help="The session's name (default: a random one).")
@click.option("--agent", metavar="A", shell_complete=agent_ids, help="The agent (`tmpwarden agents` lists them).")
@_pid
@_start
@pass_call
def open_(call: Call, session: str | None, agent: str | None, pid: int | None, start: int | None) -> Answer:
    """Create a session's temp directory, owned by a process, and print its path.

    Called again for the same session, it returns the same directory, and the second process owns it too.
    """
    if len(call.roots) > 1:
        raise BadArgument("only one --root can hold the directory")
    root = call.roots[0] if call.roots else None
    opened = leasing.acquire(session, agent, _owner_pid(pid), start, root)
    path = shown(opened.path) if call.for_a_person else opened.path  # a script takes it as it is
    return Answer(_opened(opened), lambda: [path])


@command.command()
@click.option("--session", metavar="ID", required=True, help="The session's name, as given to `open` or printed by it.")
@click.option(
    "--agent", metavar="A", shell_complete=agent_ids, help="Needed only if two agents have a session of this name."
)
@_pid
@_start
@click.option("--wait", is_flag=True, help="Return only when everything is deleted, not just moved away.")
@pass_call
def close(call: Call, session: str, agent: str | None, pid: int | None, start: int | None, wait: bool) -> Answer:
    """Give a session's directory back. When its last owner does, it is removed, as by `tmpwarden teardown`.

    Items in use are kept until they no longer are. Safe to call twice.
    """
    closed = leasing.give_back(
        session, agent, _owner_pid(pid), start, roots=call.roots, config_file=call.config_file, wait=wait
    )
    return answer(call, closed.result, owners=[_holding(one) for one in closed.owners])


@command.command("list")
@pass_call
def list_(call: Call) -> Answer:
    """List every lease, its session, and which of its processes are running."""
    return _listed(call)


def _owner_pid(pid: int | None) -> int:
    if pid is None:
        hint = "$$ in a shell, process.pid in Node, os.Getpid() in Go, std::process::id() in Rust"
        raise BadArgument("--pid is missing: it says which process owns the directory", hint=hint)
    return pid


def _opened(opened: ScratchDirectory) -> documents.Document:
    return documents.of(opened.lease, "path", "agent", "session", "pid", "start") | {"env": opened.env}


def _listed(call: Call) -> Answer:
    unread: list[str] = []
    leases = sorted(leasing.known(call.roots, unread), key=lambda lease: lease.created)
    call.warn(*(f"a lease could not be read: {shown(each)}" for each in unread))
    return Answer({"leases": [_document(lease) for lease in leases]}, lambda: _lines(call, leases))


def _document(lease: Lease) -> documents.Document:
    return documents.of(lease, "path", "agent", "session") | {
        "state": state_of(lease).value,
        "owners": [_holding(one) for one in leasing.holdings(lease)],
        "age_seconds": _age_s(lease),
    }


def _holding(one: leasing.Holding) -> documents.Document:
    return documents.of(one, "pid", "start") | {"state": one.state.value}


def _age_s(lease: Lease) -> int:
    return max(0, round(time.time() - lease.created))


def _lines(call: Call, leases: Sequence[Lease]) -> Iterable[str]:
    if not leases:
        return ["No lease is open here."]
    return draw(_COLUMNS, [_row(lease) for lease in leases], for_a_person=call.for_a_person)


def _row(lease: Lease) -> Row:
    owners = ", ".join(f"{one.pid} {one.state.value}" for one in leasing.holdings(lease))
    cells = shown(lease.agent), shown(lease.session), state_of(lease).value, duration(_age_s(lease)), owners
    return Row(cells, shown(lease.path))

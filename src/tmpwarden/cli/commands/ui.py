"""`tmpwarden ui`: see, mark and clean in the terminal, live."""

from __future__ import annotations

import importlib.util
import os
import sys

import click

from ...errors import BadArgument, MissingExtra, WouldAsk
from ...model.request import Request
from ...text import quoted
from ..call import Answer, Call
from ..group import pass_call


@click.command()
@pass_call
def command(call: Call) -> Answer:
    """Browse what agents left behind in a full-screen tree: temp roots, agents, sessions, items, and why each is kept.

    Space marks, `c` cleans what is marked after one question, `w` says why, `k` keeps, `u` undoes, `o` shows processes
    that outlived their agent, `/` filters, `?` shows all keys. Marked items are checked again before they are
    removed: an item that changed or is in use is kept.
    """
    return shown_live(call)


def _how_to_add(prefix: str) -> str:
    """The command that adds what is missing, for how this tmpwarden was installed."""
    if "/pipx/venvs/" in f"{prefix}/":
        return "pipx inject tmpwarden textual"
    if "/uv/tools/" in f"{prefix}/":
        # `uv tool install --with textual tmpwarden` would fetch tmpwarden from PyPI, where it is not
        return f"uv pip install --python {quoted(sys.executable)} textual"
    return f"{quoted(sys.executable)} -m pip install textual"


def shown_live(call: Call, *, request: Request | None = None, only_removable: bool = False) -> Answer:
    if importlib.util.find_spec("textual") is None:
        raise MissingExtra("tmpwarden ui", hint=_how_to_add(sys.prefix))
    if not (call.can_ask and call.for_a_person):
        raise WouldAsk(hint="it needs a terminal; `tmpwarden scan` prints the same")
    from ..ui.app import View

    for name in ("COLUMNS", "LINES"):  # sizes of the moment when somebody exported them: the terminal tells its own
        os.environ.pop(name, None)
    return Answer(exit_code=View(call, only_removable=only_removable, request=request).run() or 0)


def picked(call: Call, request: Request, is_unattended: bool) -> Answer:
    """The view with what these options would take, and nothing marked."""
    if is_unattended or request.empty_quarantine or not request.quarantine:
        raise BadArgument(
            "--pick cannot be combined with --yes, --dry-run, --all-users or --if-due",
            hint="leave out the other option",
        )
    return shown_live(call, request=request, only_removable=True)

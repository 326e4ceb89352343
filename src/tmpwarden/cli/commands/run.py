"""`tmpwarden run`: any command with a temp directory of its own."""

from __future__ import annotations

import os
import sys

import click

from ...errors import BadArgument
from ...setup.programs import AGENT_OF
from ..call import Answer, Call
from ..group import pass_call


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--private-tmp", is_flag=True, help="Make /tmp itself private (Linux): literal /tmp paths land there too."
)
@click.option("--agent", metavar="A", help="It is a session of this agent: what it leaves waits a day (undo).")
@click.argument("words", metavar="-- COMMAND [ARGUMENT]...", nargs=-1, type=click.UNPROCESSED)
@pass_call
def command(call: Call, private_tmp: bool, agent: str | None, words: tuple[str, ...]) -> Answer:
    """Run COMMAND with TMPDIR in a private directory that goes when COMMAND and its children are done.

    Exit status, signals, job control, stdin and stdout are COMMAND's own. What is in the directory then is deleted for
    good, except git work that exists nowhere else; after an agent it waits in quarantine for a day. With --private-tmp
    the whole of /tmp is private, except for the sockets of other programs.
    """
    if not words:
        raise BadArgument("no command to run", hint="`tmpwarden run -- make test`")
    if not hasattr(os, "fork"):  # Windows: no scratch, but the command still runs
        import subprocess

        return Answer(exit_code=subprocess.call(list(words)))
    from ...lifecycle.run import die_of, run

    ended = run(
        words,
        agent=agent or AGENT_OF.get(os.path.basename(words[0])),
        is_private=private_tmp,
        roots=call.roots,
        warn=lambda sentence: print(f"tmpwarden run: {sentence}", file=sys.stderr),
    )
    call.json = False  # stdout was the command's own, to the last byte
    if ended.signal_number is not None:
        die_of(ended.signal_number)
    return Answer(exit_code=ended.status)

"""`tmpwarden run`: any command with a temp directory of its own."""

from __future__ import annotations

import os
import signal
import sys

import click

from ...agent_facts import FACTS
from ...errors import BadArgument
from ...oskit.files import places
from ...text import size as size_text
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import byte_size

AGENT_OF = {program: name for name, facts in FACTS.items() for program in facts["programs"]}
_SYSTEM = "/etc/tmpwarden"
_TOO_BIG = 128 + getattr(signal, "SIGXFSZ", 25)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--private-tmp", is_flag=True, help="Make /tmp itself private (Linux), for programs that ignore TMPDIR.")
@click.option("--size", type=byte_size, metavar="SIZE", help="With --private-tmp: keep it in memory, at most this big.")
@click.option(
    "--max-file", type=byte_size, metavar="SIZE", help="Limit for each file it writes, project files included."
)
@click.option(
    "--max-bytes", type=byte_size, metavar="SIZE", help="End COMMAND when its temp directory holds more than this."
)
@click.option("--agent", metavar="A", help="COMMAND is this agent: its temp files can be brought back for a day.")
@click.argument("words", metavar="-- COMMAND [ARGUMENT]...", nargs=-1)
@pass_call
def command(
    call: Call,
    private_tmp: bool,
    size: int | None,
    max_file: int | None,
    max_bytes: int | None,
    agent: str | None,
    words: tuple[str, ...],
) -> Answer:
    """Run COMMAND with a private TMPDIR, which is removed when COMMAND and its children have ended.

    Exit status, signals, job control, stdin and stdout are COMMAND's own. What is in the directory then is deleted for
    good, except git work that exists nowhere else; after an agent it waits in quarantine for a day. With --private-tmp
    the whole of /tmp is private, except for sockets that somebody listens on, which COMMAND cannot remove, and for the
    working directory; with --size it lies in memory, and nothing of it is left to be undone. Limits that are not given
    come from [run] in config.toml, also for the shell functions of `tmpwarden shellenv`. Memory, CPU and processes are
    limited by cgroup tools, not here.
    """
    if not words:
        raise BadArgument("no command to run", hint="`tmpwarden run -- make test`")
    if size is not None and not private_tmp:
        raise BadArgument("--size needs --private-tmp", hint="`--max-bytes` watches the temp directory without it")
    if not hasattr(os, "fork"):  # Windows: no scratch, but the command still runs
        import subprocess

        return Answer(exit_code=subprocess.call(list(words)))
    from ...lifecycle.run import RunLimits, die_of, run

    max_file, max_bytes = _limits(call, max_file, max_bytes)
    ended = run(
        words,
        agent=agent or AGENT_OF.get(os.path.basename(words[0])),
        is_private=private_tmp,
        limits=RunLimits(max_file, max_bytes, size),
        roots=call.roots,
        warn=lambda sentence: print(f"tmpwarden run: {sentence}", file=sys.stderr),
    )
    call.json = False  # stdout was the command's own, to the last byte
    if max_file is not None and ended.status == _TOO_BIG:  # its own death, or a shell's word for that of its command
        sentence = f"{words[0]} wrote a file past --max-file {size_text(max_file)}, and the kernel ended it"
        print(f"tmpwarden run: {sentence}", file=sys.stderr)
    if ended.signal_number is not None:
        die_of(ended.signal_number)
    return Answer(exit_code=ended.status)


def _limits(call: Call, max_file: int | None, max_bytes: int | None) -> tuple[int | None, int | None]:
    """What the options say, else `[run]` of the configuration, which most machines have not; never above a lock."""
    if call.config_file is None and not any(map(os.path.isdir, (places.config_dir(), _SYSTEM))):
        return max_file, max_bytes
    from ...catalogue.settings import load_settings

    settings = load_settings(call.config_file)
    return (
        _limit("run.max_file", settings.run_max_file_bytes, max_file, settings.locks),
        _limit("run.max_bytes", settings.run_max_bytes, max_bytes, settings.locks),
    )


def _limit(key: str, set_bytes: int | None, asked_bytes: int | None, locks: tuple[str, ...]) -> int | None:
    from ...catalogue.policy import SYSTEM, is_locked

    if asked_bytes is None or (set_bytes is not None and asked_bytes > set_bytes and is_locked(key, locks)):
        if asked_bytes is not None and set_bytes is not None:
            hint = f"{key} is locked by {SYSTEM}: the limit is {size_text(set_bytes)}"
            print(f"tmpwarden run: {hint}", file=sys.stderr)
        return set_bytes
    return asked_bytes

"""A script that the line itself writes and then runs: `echo ... > s.sh; sh s.sh`. What was written is read again.

A file that a program fetches from elsewhere and that the line runs is asked about: nobody has read it.
"""

from __future__ import annotations

from ..nouns.analysis import APPEND, CREATE, WRITE, Simple
from ..nouns.names import names
from .shell import FETCHED, Shell

FETCHERS = names("curl wget aria2c axel http https xh")
MAX_SCRIPT = 20_000
_OWN_PLACE = ('$(dirname "$0")', "$(dirname $0)", '$(dirname -- "$0")', '$(dirname "${BASH_SOURCE[0]}")', "${0%/*}")


def text_written_to(shell: Shell, path: str | None) -> str | None:
    """The text that earlier commands of the line put into this file, as far as they say it; None: nothing is known.

    Refuses what was fetched.
    """
    if path is None:
        return None
    texts: list[str] = []
    for at, simple in enumerate(shell.commands):
        if simple.remote:
            continue
        if any(use.path == path and use.mode in (WRITE, APPEND, CREATE) for use in (*simple.redirects, *simple.paths)):
            if simple.name in FETCHERS:
                shell.refuse(FETCHED)
            texts += _texts_of(shell.commands, at)
        elif simple.name in FETCHERS and any(_last_part(word) == path.rpartition("/")[2] for word in simple.argv[1:]):
            shell.refuse(FETCHED)
    text = "\n".join(texts)
    for spelled in _OWN_PLACE:
        text = text.replace(spelled, path.rpartition("/")[0] or "/")
    return text if text.strip() and len(text) <= MAX_SCRIPT else None


def _last_part(word: str | None) -> str | None:
    return word.partition("?")[0].rstrip("/").rpartition("/")[2] if word and "://" in word else None


def _texts_of(commands: list[Simple], at: int) -> list[str]:
    simple = commands[at]
    if simple.name in ("cat", "tee") and simple.input:
        return [simple.input]
    if simple.name == "tee" and at:
        simple = commands[at - 1]
        if simple.name == "cat" and simple.input:
            return [simple.input]
    if simple.name not in ("echo", "printf"):
        return []
    words = [word for word in simple.argv[1:] if word is not None and not (word[:1] == "-" and word[1:].isalpha())]
    if simple.name == "echo":
        return [" ".join(words).replace("\\n", "\n")]
    return [word.replace("\\n", "\n").replace("\\t", "\t") for word in words if word not in ("%s", "%s\\n")]

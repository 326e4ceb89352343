"""What a timer starts: `python3 -I -S .../tick.py [--all-users | --observe]`. One unattended clean.

Standard library only. What it did and why it failed goes to the journal of the system, and into our state for
`tmpwarden status`.
"""

import sys
from functools import partial

if __package__ in (None, ""):
    sys.path.insert(0, __file__.rsplit("/", 3)[0])

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tmpwarden.lifecycle.per_user import Heard
    from tmpwarden.lifecycle.users import User

_LAST_WORDS_S = 30.0
_MOST_SENTENCES = 20  # of one user, into the journal of the system
_LONGEST = 500
_Answer = tuple[list[str], str]  # what to tell; why it failed, "" if it did not


def main(arguments: list[str]) -> int:
    """0, or 1 if it failed for somebody."""
    from tmpwarden.lifecycle import last_tick
    from tmpwarden.oskit.files.own_dirs import mend_umask
    from tmpwarden.oskit.files.places import own_name

    mend_umask()
    if "--all-users" in arguments:
        failed = _for_everybody()
    else:
        lines, why = _clear(observe="--observe" in arguments)
        _print("", lines, why)
        failed = {own_name(): why} if why else {}
    last_tick.note(failed)
    return 1 if failed else 0


def _clear(*, observe: bool = False) -> _Answer:
    """`observe`: nothing is removed, only logged."""
    from tmpwarden.errors import TmpwardenError
    from tmpwarden.leases import static_temp
    from tmpwarden.lifecycle.background import clear_the_dead, leave_word
    from tmpwarden.lifecycle.derived import take_derived
    from tmpwarden.oskit.files.places import state_dir
    from tmpwarden.sweep.store import books

    try:
        static_temp.make(state_dir())
        cleared = clear_the_dead(observe=observe)
        if cleared.relief:
            leave_word(state_dir(), f"tmpwarden: {cleared.relief}.")
        derived = "" if observe else take_derived()
        books.note_usage("tick")
    except (TmpwardenError, OSError) as problem:
        return [], str(problem)
    sentences = (cleared.sentence, derived, cleared.held_back, *cleared.warnings)
    return [sentence for sentence in sentences if sentence], cleared.failed


def _for_everybody() -> dict[str, str]:
    """The same as each user: root itself never sweeps what belongs to another uid."""
    from tmpwarden.lifecycle.background import CLEAN_LIMIT_S
    from tmpwarden.lifecycle.derived import LIMIT_S
    from tmpwarden.lifecycle.per_user import as_user
    from tmpwarden.lifecycle.users import preload, users_of
    from tmpwarden.oskit.files.places import temp_roots

    preload()
    failed: dict[str, str] = {}
    for user in users_of(temp_roots()):
        answer_of_child = as_user(user, partial(_as, user), limit_s=CLEAN_LIMIT_S + LIMIT_S + _LAST_WORDS_S)
        lines, why = _decode_answer(answer_of_child)
        _print(f"{user.name}: ", lines, why)
        if why:
            failed[user.name] = _bounded(why)
    return failed


def _decode_answer(answer_of_child: "Heard") -> _Answer:
    """What the child of a user said, which is as long as that user's config wants it to be."""
    import json

    if answer_of_child.why:
        return [], answer_of_child.why
    try:
        lines, why = json.loads(answer_of_child.answer)
        return [str(sentence) for sentence in lines], str(why)
    except (ValueError, TypeError, RecursionError):
        return [], "its process returned an invalid answer"


def _as(user: "User") -> str:
    """In the child that has become `user`."""
    import json

    from tmpwarden.catalogue.load import load
    from tmpwarden.lifecycle import last_tick
    from tmpwarden.lifecycle.users import has_agents, has_own_home

    if not has_own_home(user) or not (user.has_temp or has_agents(user, (row.place for row in load().rows))):
        return json.dumps([[], ""])  # nothing here concerns it, or nothing could be undone
    lines, why = _clear()
    last_tick.note({user.name: why} if why else {})
    return json.dumps([lines, why])


def _print(whose: str, lines: list[str], why: str) -> None:
    """Each sentence once, on one line, and no more of them than people read: each line of a config may be wrong."""
    sentences = list(dict.fromkeys(map(_bounded, lines)))
    for sentence in sentences[:_MOST_SENTENCES]:
        print(f"{whose}{sentence}", flush=True)
    if len(sentences) > _MOST_SENTENCES:
        left = len(sentences) - _MOST_SENTENCES
        print(f"{whose}{left} more messages were left out; run `tmpwarden scan` as that user to see them", flush=True)
    if why:
        print(f"tmpwarden: {whose}{_bounded(why)}", file=sys.stderr, flush=True)


def _bounded(sentence: str) -> str:
    from tmpwarden.text import shown

    line = shown(sentence[: _LONGEST + 1])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ..."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

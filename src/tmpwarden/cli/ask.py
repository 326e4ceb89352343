"""Ask a person. The question is talk, so it goes to stderr; what is no clear yes is a no."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable

from ..errors import NotForAgents
from .paint import folded


def say(lines: Iterable[str]) -> None:
    for line in folded(lines, sys.stderr):
        print(line, file=sys.stderr)
    if sys.stderr is not None:
        sys.stderr.flush()


def yes(question: str) -> bool:
    """`question [y/N] `; Enter and the end of input are a no."""
    _put(f"{question} [y/N] ")
    return _line() in ("y", "yes")


def line(question: str) -> str:
    """What is answered, in small letters; "" for Enter and at the end of input."""
    _put(question)
    return _line()


def yes_or_list(question: str, all_lines: Callable[[], Iterable[str]], *, other: str = "") -> str:
    """The same where the list before it was shortened: `l` shows all of it, and the question comes again. `other`: one
    letter more that may be answered. "": no."""
    letters = f"y/N/{other}" if other else "y/N"
    while True:
        _put(f"{question} [{letters}, l lists all] ")
        answer = _line()
        if answer not in ("l", "list"):
            return answer[0] if answer in ("y", "yes", other) and answer else ""
        say(all_lines())


def yes_or(question: str, other: str) -> str:
    """`question [y/N/q] `: "y", the other letter, or "" for no."""
    _put(f"{question} [y/N/{other}] ")
    answer = _line()
    return answer[0] if answer in ("y", "yes", other) else ""


def refuse_agents() -> None:
    """What guards an agent is switched off or taken out by people alone: raises NotForAgents where an agent runs us."""
    from ..catalogue import process_rows  # most questions are asked without these
    from ..catalogue.load import load

    known = {variable for agent in load(dirs=()).agents for variable in agent.session_env}
    known |= {variable for _, variable in process_rows.markers()}
    variable = next((variable for variable in sorted(known) if os.environ.get(variable)), "")
    if variable:
        raise NotForAgents(variable)


def _put(question: str) -> None:
    """The question, folded; what is typed stands behind it."""
    *above, last = [row for part in question.split("\n") for row in folded([part], sys.stderr)]
    say(above)
    print(f"{last.rstrip()} ", end="", file=sys.stderr, flush=True)


def _line() -> str:
    answer = ""
    try:
        answer = sys.stdin.readline()
    finally:
        if not answer.endswith("\n"):  # Ctrl-D, Ctrl-C: what comes next starts on a line of its own
            print(file=sys.stderr)
    return answer.strip().lower()

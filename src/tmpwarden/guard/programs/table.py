"""What is known about programs, looked up by name: one row each, with all its facets.

A row is `names|arguments|facets`. Arguments start with one letter for what the plain ones are:
  D deleted  C created  W written  R read  A any  T text, no paths at all
  P copied (the last one written)  M moved  L linked  Z the first one written, the others read
  I the first one read, a second one written
  G a pattern or script first, then files that are read   H a mode or owner first, then files that are written
behind it, where a program writes into the directory it runs in: `.` always, `.lt` not with -l or -t, `+O,name` only
with -O or --name; and then the options that take a value, short ones glued together, long ones apart:
  : no path   < read   > written   = any path   ! is G's first argument   @ a file that holds it   $ code for a shell
  ^ a directory that the plain arguments go into   / the directory it runs in   ? value only if glued   - no value
No arguments at all: nobody wrote down what they are, any of them may be a path.

Facets:
  changes      changes files: looked for among the words of a program that nobody knows
  two-targets  has a source and a target: a regex cannot confine it
  links=xy     may leave links where it writes; with letters: only if one of these options is given
  linkless     makes none
  safe=xy safe-valued= safe-long=   the options that do not widen what is touched
  reads=x      a function of arguments.py or rare.py reads its arguments
  in-place     a single argument is changed where it is
  writes=x,y   plain arguments that are read are written with one of these options; spares=x,y the other way round
  at-files     @FILE and name=@FILE are files that it reads
  runs=...     runs the words behind its own: `:` arguments in front that are no paths, `>` one that is written;
               last `$`: the rest is joined and handed to a shell, `&`: each of them is
  runner       a subcommand runs what follows; that one has a row as `name:subcommand`
  in-shell     what it runs, the shell itself runs        leaves       goes to another directory first
  other-root   a /tmp in there is not ours                transparent  an allow may look through it
  shell        reads bash                                 user-shell=input  starts one, `input`: without code too
  code=x,--y   options that are followed by code of its own language
  told-by=...  options that make it run a script; none: its input does       shows=...  options with which it only shows
  remote       works on another machine or in a container        container  on disks that are made to be thrown away
  real         means the real /tmp when it is told /tmp
  valued=...   options in front of a subcommand that take a value
  quiet=x,y    with one of these words behind it, or with any, it neither writes nor runs what the guard reads
  env=X_       variables that start so change what it does
"""

from __future__ import annotations

from ..nouns.names import names
from . import rows, running

TRUSTED_DIRECTORIES = frozenset(
    ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
)
# options of any program whose value is a pattern, a message or an address
TEXT_OPTIONS = names(
    "exclude include glob iglob pattern format message grep filter ignore regex url data exclude-dir body title "
    "header query expr eval define env label name description text xpath"
)
_NO_NAME = frozenset(" |\n")
_TEXT = f"\n{rows.ROWS}\n{running.ROWS}\n"


class Program:
    """One row, taken apart."""

    __slots__ = ("arguments", "facets")

    def __init__(self, row: str) -> None:
        self.arguments, _, facets = row.partition("|")
        self.facets: dict[str, str] = {}
        for facet in facets.split():
            key, _, value = facet.partition("=")
            self.facets[key] = f"{self.facets[key]},{value}" if key in self.facets else value

    def values(self, facet: str) -> tuple[str, ...]:
        """What stands behind a facet, apart; () where it is not there or empty."""
        text = self.facets.get(facet)
        return tuple(text.split(",")) if text else ()


_seen: dict[str, Program] = {}
_NOBODY_KNOWS = Program("")


def program(name: str) -> Program:
    """What is known about a program; one without arguments and facets if that is nothing."""
    found = _seen.get(name)
    if found is None:
        row = _row(name)
        found = _seen[name] = _NOBODY_KNOWS if row is None else Program(row)
    return found


def _row(name: str) -> str | None:
    """Found in the text as it is: taking all rows apart costs every hook more than the few that it needs."""
    if not name or not _NO_NAME.isdisjoint(name):
        return None
    for before in ("\n", " "):
        for after in ("|", " "):
            at = _TEXT.find(f"{before}{name}{after}")
            while at >= 0:
                start = _TEXT.rfind("\n", 0, at + 1) + 1
                bar = _TEXT.find("|", start)
                if at < bar:
                    return _TEXT[bar + 1 : _TEXT.find("\n", bar)]
                at = _TEXT.find(f"{before}{name}{after}", at + 1)
    return None


def names_of_all() -> list[str]:
    """Every program with a row."""
    return [name for row in _TEXT.strip("\n").split("\n") for name in row.partition("|")[0].split()]


def has(name: str | None, facet: str) -> bool:
    return name is not None and facet in program(name).facets


def is_known(name: str) -> bool:
    return program(name) is not _NOBODY_KNOWS


def language_of(name: str) -> str:
    """python3.11 is python."""
    for known in ("python", "pypy"):
        if name.startswith(known):
            return "python"
    if name.startswith("perl"):
        return "perl"
    if name.startswith("lua"):
        return "lua"
    return "node" if name == "nodejs" else name

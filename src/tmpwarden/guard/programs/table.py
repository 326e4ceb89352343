"""What is known about programs, looked up by name. The rows are written in the *.toml beside this module.

`make generate` turns them into known.py, because a hook cannot afford to read TOML. A row has
  names      the programs it speaks about; `uv:run` is the subcommand `run` of uv, `python:venv` is `python -m venv`
  plain      what its plain arguments are; without it, any of them may be a path:
             deleted created written read any    paths, and what becomes of them
             text                                no paths at all
             copied moved linked                 paths, of which the last one is written
             first_written first_read            one path is not treated as the others are
             pattern_then_read                   a pattern or a script, then files that are read
             mode_then_written                   a mode or an owner, then files that are written
  options    by what their value is; one letter is a short option, a name beginning with `-` takes one dash only:
             path_read path_written path         a path; `path` may be either
             path_into                           the directory that the plain arguments go into
             path_entered                        the directory that the program runs in
             pattern pattern_file                stands for the first plain argument
             code                                code for a shell
             text                                no path
             glued                               text, and only if it is glued to the option
             bare                                it takes no value
and what else is true of it:
  changes         changes files: looked for among the words of a program that nobody knows
  two_targets     has a source and a target, so that a regular expression cannot confine it
  links           may leave links where it writes; with letters: only with one of these options
  linkless        leaves none
  safe            the letters that do not widen what is touched; safe_valued: those with a value; safe_long: names
  reads           a function of arguments.py reads its arguments
  in_place        a single argument is changed where it is
  writes          what it reads it writes with one of these options; writes_commands: with one of these first words
  spares          the other way round: with one of these options it only reads
  writes_here     writes into the directory it runs in; writes_here_unless, writes_here_only_with: options
  at_files        @FILE and name=@FILE are files that it reads
  runs            runs its `words`; hands the rest as one `line` to a shell, or `each` word of it
  before          what stands before the words that it runs: `text` or `path_written`, for each argument
  runner          a subcommand runs what follows; that one has a row as `name:subcommand`
  in_shell        what it runs, the shell itself runs
  leaves          goes to another directory first
  other_root      a /tmp in there is not ours
  transparent     an allow may look through it
  shell           reads the language of shells
  user_shell      starts a shell for its `code`, or also for what is on its `input`
  code            options that are followed by code of its own language
  checks          options with which it only checks the syntax of a file
  runs_files      beginnings of options with which it runs files of the project
  told_by         options that make it run a script; without any, its input does
  told_only       of these options the values that only show something
  shows           options with which it only shows something
  remote          works on another machine or in a container
  container       works on disks that are made to be thrown away
  real            means the real /tmp when it is told /tmp
  valued          options in front of a subcommand that take a value
  quiet           with one of these words behind it, or with any, it neither writes nor runs what the guard reads
  uses_keys       options whose value is a key that it is there to use: no reading in the sense of `never`; or `any`
  env             variables that start so change what it does
"""

from __future__ import annotations

from ..nouns.names import names
from .known import NAMES, ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    Named = tuple[tuple[str, tuple[str, ...]], ...]

TRUSTED_DIRECTORIES = frozenset(
    ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
)
# options of any program whose value is a pattern, a message or an address
TEXT_OPTIONS = names(
    "exclude include glob iglob pattern format message grep filter ignore regex url data exclude-dir body title "
    "header query expr eval define env label name description text xpath"
)
# what an option's value may be, the most dangerous first: a name that is cut short counts as the first that it fits
OPTION_KINDS = (
    *("path_written", "path_into", "path", "code", "path_entered", "path_read", "pattern_file", "pattern"),
    *("text", "glued", "bare"),
)


class Program:
    """One row: what the plain arguments are, what each option's value is, and what else is true."""

    __slots__ = ("facets", "longs", "plain", "shorts")

    def __init__(self, plain: str = "", options: Named = (), facets: Named = ()) -> None:
        self.plain = plain
        self.shorts: dict[str, str] = {}
        self.longs: dict[str, str] = {}
        for kind, spelled in options:
            for option in spelled:
                (self.longs if len(option) > 1 else self.shorts)[option] = kind
        self.facets = dict(facets)

    def values(self, facet: str) -> tuple[str, ...]:
        """What a facet names; () where the row has no such facet, or one that is simply true."""
        return self.facets.get(facet, ())

    def text(self, facet: str) -> str:
        """Of a facet that is one word."""
        return "".join(self.facets.get(facet, ()))

    def long(self, name: str) -> str:
        """What the value of a long option is, "" where that is not known. GNU takes any beginning of a name."""
        kind = self.longs.get(name)
        if kind is None:
            fitting = [kind for option, kind in self.longs.items() if option.startswith(name)]
            kind = min(fitting, key=OPTION_KINDS.index, default="")
        return kind


_seen: dict[str, Program] = {}
_NOBODY_KNOWS = Program()


def program(name: str) -> Program:
    """What is known about a program; one without anything if that is nothing."""
    known = _seen.get(name)
    if known is None:
        at = NAMES.get(name)
        known = _seen[name] = _NOBODY_KNOWS if at is None else Program(*ROWS[at])
    return known


def has(name: str | None, facet: str) -> bool:
    return name is not None and facet in program(name).facets


def is_known(name: str) -> bool:
    return name in NAMES


def language_of(name: str) -> str:
    """python3.11 is python."""
    for known in ("python", "pypy"):
        if name.startswith(known):
            return "python"
    if name.startswith("perl"):
        return "perl"
    if name.startswith("lua"):
        return "lua"
    if name in ("runghc", "runhaskell", "ghci"):
        return "ghc"
    return "node" if name in ("nodejs", "tsx", "ts-node") else name

"""What is known about the shell between two commands. A State is never changed, only replaced."""

from __future__ import annotations

from ..shell.syntax import Word
from .names import SHELLS_TO_SET, is_special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..shell.syntax import Function

MAX_CWDS = 4
MAX_SITES = 16


class Site:
    """A word of the text that may be led elsewhere: where its path starts, and all that was done with it."""

    __slots__ = ("is_exported", "is_list", "is_nested", "modes", "offset", "paths", "program", "word")

    def __init__(self, word: Word, offset: int, program: str, is_list: bool, is_nested: bool) -> None:
        self.word = word
        self.offset = offset  # of the path in the unquoted word: behind `--out=`
        self.program = program  # "" for redirects and assignments
        self.is_list = is_list  # paths with colons between them
        self.is_nested = is_nested  # it stands in a string, whose quotes are around it
        self.is_exported = False  # the value of a variable that programs inherit
        self.modes: set[str] = set()
        self.paths: set[str | None] = set()


class Value:
    """The value of a variable, None if not known; `sites` are the assignments that it was copied from."""

    __slots__ = ("is_data", "pattern_at", "sites", "stem", "text")

    def __init__(self, text: str | None, sites: tuple[Site, ...] = (), is_data: bool = False) -> None:
        self.text = text
        self.sites = sites
        self.stem = text  # known up to a name, which starts at pattern_at: a file of a loop over a pattern, a pid
        self.pattern_at = -1
        self.is_data = (
            is_data  # not known, and nothing that the line itself says: read from a file, from the environment
        )


UNKNOWN = Value(None)
DATA = Value(None, is_data=True)


def merge_sites(first: tuple[Site, ...], second: tuple[Site, ...]) -> tuple[Site, ...]:
    """Each once, and not more than anybody could follow."""
    return first + tuple([site for site in second if site not in first])[: MAX_SITES - len(first)] if second else first


class State:
    """Where the shell is and what its variables hold, as far as this command line says so."""

    __slots__ = (
        "before", "cwds", "doubts", "exported", "forgets", "frozen", "functions", "positional", "stack", "variables",
    )  # fmt: skip

    def __init__(self, cwds: tuple[str | None, ...]) -> None:
        self.cwds = cwds  # all that are possible
        self.before: tuple[str | None, ...] = (None,)  # where `cd -` goes
        self.variables: dict[str, Value] = {}  # changed in this line; the others come from the environment
        self.exported: frozenset[str] = frozenset()
        self.functions: dict[str, tuple[Function | None, ...]] = {}  # None: it may not be defined
        self.positional: tuple[str | None, ...] | None = None  # $1 and so on, None: not known
        self.stack: tuple[tuple[str | None, ...], ...] = ()  # of pushd
        self.doubts: tuple[str, ...] = ()
        self.frozen: frozenset[str] = frozenset()  # that do not take what they are given: readonly, declare -u
        self.forgets = False  # the environment does not hold any more either

    def copy(self, **but: Any) -> State:
        """The same, but for these."""
        other = State(self.cwds)
        for name in State.__slots__:
            setattr(other, name, but[name] if name in but else getattr(self, name))
        return other

    def at(self, cwds: tuple[str | None, ...]) -> State:
        return self.copy(cwds=cwds)

    def doubting(self, why: str) -> State:
        return self if why in self.doubts else self.copy(doubts=(*self.doubts, why))

    def assigning(self, values: dict[str, Value]) -> State:
        if not values:
            return self
        other = self.copy(variables={**self.variables, **values})
        for name in values:
            if name in SHELLS_TO_SET or name in self.frozen:
                other.variables[name] = UNKNOWN
            if is_special(name):
                other.doubts = (*other.doubts, f"{name} is changed")
        return other

    def freezing(self, names: list[str]) -> State:
        return self.copy(frozen=self.frozen | frozenset(names))

    def exporting(self, exported: list[str]) -> State:
        return self.copy(exported=self.exported | frozenset(exported))

    def forgetting(self) -> State:
        """After something that may have set any variable."""
        return self.copy(variables=dict.fromkeys(self.variables, UNKNOWN), forgets=True)


def join(first: State | None, second: State | None) -> State | None:
    """What is known when either of two ways may have been taken; None is a way that does not go on."""
    if first is None or first is second:
        return second
    if second is None:
        return first
    both = first.copy()
    cwds = first.cwds + tuple([cwd for cwd in second.cwds if cwd not in first.cwds])
    both.cwds = cwds if len(cwds) <= MAX_CWDS else (None,)
    if first.variables is not second.variables:
        both.variables = _joined_variables(first, second)
    if first.functions is not second.functions:
        both.functions = {}
        for name in {**first.functions, **second.functions}:
            known, others = first.functions.get(name, (None,)), second.functions.get(name, (None,))
            both.functions[name] = known + tuple([body for body in others if body not in known])
    both.before = first.before + tuple([cwd for cwd in second.before if cwd not in first.before])
    both.exported = first.exported | second.exported
    both.positional = first.positional if first.positional == second.positional else None
    both.stack = first.stack if first.stack == second.stack else ()
    both.doubts = first.doubts + tuple([doubt for doubt in second.doubts if doubt not in first.doubts])
    both.frozen = first.frozen | second.frozen
    both.forgets = first.forgets or second.forgets
    return both


def _joined_variables(first: State, second: State) -> dict[str, Value]:
    joined = {}
    for name in {**first.variables, **second.variables}:
        one, other = first.variables.get(name), second.variables.get(name)
        if one is not None and (
            one is other or (other is not None and one.stem is not None and one.stem == other.stem)
        ):
            joined[name] = one
        else:
            joined[name] = Value(None, merge_sites(one.sites if one else (), other.sites if other else ()))
    return joined


def same(first: State, second: State) -> bool:
    """Nothing new is known: a loop need not be followed once more."""
    return (
        set(first.cwds) == set(second.cwds)
        and set(first.before) == set(second.before)
        and _stems(first) == _stems(second)
        and first.functions.keys() == second.functions.keys()
        and first.doubts == second.doubts
        and first.frozen == second.frozen
    )


def _stems(state: State) -> dict[str, str | None]:
    return {name: value.stem for name, value in state.variables.items()}

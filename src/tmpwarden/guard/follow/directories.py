"""cd, pushd, popd: where the shell is."""

from __future__ import annotations

from ..nouns.call import Call
from ..nouns.fields import Field
from ..nouns.paths import joined, normalised, resolved
from ..nouns.state import State
from .calls import Calls
from .walk import Ways


class Directories(Calls):
    """Adds moving to simple commands."""

    def tell(self, call: Call, state: State) -> Ways:
        """A command that changes nothing here."""
        first = call.fields[0].text or ""
        self.plain(call, state, first.rpartition("/")[2])
        return state, state

    def cd(self, call: Call, state: State) -> Ways:
        self.plain(call, state, "cd")
        return self.moved(call.fields[1:], state), state

    def moved(self, values: list[Field], state: State) -> State:
        """Where cd leads; afterwards every directory is unknown if it cannot be told."""
        is_physical = False
        while values and values[0].text in ("-L", "-P", "-e", "-@", "--", "-LP", "-PL"):
            is_physical = is_physical or "P" in (values[0].text or "")
            values = values[1:]
        if not values:
            target = self.variable("HOME", state).text
        elif len(values) > 1:
            return state.at((None,))
        else:
            target = values[0].text if values[0].pattern_at < 0 else None
        if target is None or target == "-" or (self._searches(target, state)):
            return state.at((None,))
        if not target:
            return state
        full = [joined(cwd, target) for cwd in state.cwds]
        if is_physical:
            return state.at(tuple([None if path is None else resolved(path, True, self.look) for path in full]))
        return state.at(tuple([None if path is None else self._logical(path) for path in full]))

    def _logical(self, path: str) -> str | None:
        """By the letters; where that is no directory, bash goes through the links after all."""
        plain = normalised(path)
        if ".." in path and resolved(path, True, self.look) != resolved(plain, True, self.look):
            return None
        return plain

    def _searches(self, target: str, state: State) -> bool:
        if target.startswith(("/", "./", "../")) or target in (".", ".."):
            return False
        return "CDPATH" in state.variables or "CDPATH" in self.environment

    def pushd(self, call: Call, state: State) -> Ways:
        self.plain(call, state, "cd")
        if len(call.fields) == 1 or (call.fields[1].text or "+").startswith(("+", "-")):
            return state.at((None,)), state
        after = self.moved(call.fields[1:], state).copy()
        after.stack = (*state.stack, state.cwds)
        return after, state

    def popd(self, call: Call, state: State) -> Ways:
        self.tell(call, state)
        if not state.stack or len(call.fields) > 1:
            return state.at((None,)), state
        after = state.at(state.stack[-1])
        after.stack = state.stack[:-1]
        return after, state

"""tmux and screen: what they are told to type or to start is code for a shell."""

from __future__ import annotations

from ..nouns.call import Call
from ..nouns.fields import Field
from ..nouns.state import State
from ..programs.options import parse
from .elsewhere import Elsewhere
from .walk import Ways
from .wrappers import joined

# commands of tmux that start a shell, with their options that take a value
TMUX = {
    **dict.fromkeys(("new", "new-session"), "A c:e:F:f:n:s:t:x:y:"),
    **dict.fromkeys(("neww", "new-window", "splitw", "split-window"), "A c:e:F:l:p:n:t:"),
    **dict.fromkeys(("respawnp", "respawn-pane", "respawnw", "respawn-window", "pipep", "pipe-pane"), "A c:e:t:"),
    **dict.fromkeys(("run", "run-shell", "if", "if-shell", "popup", "display-popup"), "A b:c:d:t:x:y:w:h:"),
}
TMUX_TYPES = ("send", "send-keys")
SCREEN = "A S:s:T:t:c<h:e:p: Logfile>"


class Terminals(Elsewhere):
    """Adds terminals that outlive the command."""

    def tmux(self, call: Call, state: State) -> Ways:
        self.emit(call, [], state)
        rest = parse("A L:S:f<c:T:", call.fields)
        at = call.fields.index(rest.plain[0]) if rest.plain else len(call.fields)
        name = call.fields[at].text if at < len(call.fields) else ""
        if name in TMUX:
            words = _behind_options(TMUX[name], call.fields[at:])
            if words:
                self._typed([joined(words)], call, state)
        elif name in TMUX_TYPES:
            typed = parse("A t:N:", call.fields[at:]).plain
            self._typed([field for field in typed if " " in (field.text or " ")], call, state.at((None,)))
        return state, state

    def screen(self, call: Call, state: State) -> Ways:
        self.emit(call, [], state)
        words = _behind_options(SCREEN, call.fields)
        if any(field.text == "-X" for field in call.fields):
            typed = [field for field in words if " " in (field.text or " ")]
            self._typed(typed, call, state.at((None,)))
        elif words:
            self.call(self.quiet(call.inside("screen", words)), state)
        return state, state

    def _typed(self, code: list[Field], call: Call, state: State) -> None:
        for field in code:
            text = field.text
            if text is not None and "\\" in text:  # \n is its Enter
                field = Field(text.replace("\\n", "\n").replace("\\r", "\n").replace("^M", "\n"), None)
            self.follow_code(field, self.child(state, []), *call.wrappers, call.fields[0].text or "")


def _behind_options(spec: str, fields: list[Field]) -> list[Field]:
    """All from the first plain argument on: what is started has options of its own."""
    plain = parse(spec, fields).plain
    return fields[fields.index(plain[0]) :] if plain else []

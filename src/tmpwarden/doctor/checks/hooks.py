"""The hooks in the agents found here: installed, trusted, current, once."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ..patient import HookState, Patient

_WORDS = {
    "untrusted": ("warn", "has our hooks but does not trust them, so they never run", "{0}  # and there: /hooks"),
    "outdated": ("warn", "runs hooks of an older tmpwarden", "tmpwarden install {0}"),
    "unreached": (
        "warn",
        "does not call the guard for a tool that your rules name, so these rules say nothing there",
        "tmpwarden install {0}",
    ),
    "twice": ("warn", "has our hooks twice; the second copy does nothing", "tmpwarden uninstall {0}"),
    "interpreter gone": (
        "warn",
        "has our hooks, but what they start is gone, so they do nothing",
        "tmpwarden install {0}",
    ),
    "broken settings": ("warn", "has a settings file that cannot be read", "tmpwarden install {0} --dry-run"),
}


def check(patient: Patient) -> Iterator[Diagnosis]:
    wrong = [state for state in patient.hooks if state.state in _WORDS]
    for state in wrong:
        yield _diagnosis(state)
    if wrong:
        return
    there = [state.agent for state in patient.hooks if state.state == "installed"]
    if there:
        yield Diagnosis("hooks", "ok", f"hooks are installed for {', '.join(there)}.")
    else:
        found = [state.agent for state in patient.hooks if state.state == "absent"]
        hint = "tmpwarden setup" if found else ""
        yield Diagnosis("hooks", "ok", "no agent calls tmpwarden by itself yet.", "", hint)


def _diagnosis(state: HookState) -> Diagnosis:
    status, words, remedy = _WORDS[state.state]
    again = f"{state.agent} --guard" if state.guard and remedy.startswith("tmpwarden install") else state.agent
    return Diagnosis("hooks", status, f"{state.agent} {words}.", state.detail, remedy.format(again))

"""What a variable is given, with the place in the text where a rewrite finds it."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.special import LISTS, PROMPTS
from ..nouns.state import UNKNOWN, State, Value, merged
from ..shell.syntax import LITERAL, Assignment
from .expand import DASH, ZSH, discard, expand, expand_single
from .formulas import calculate
from .shell import Shell

SOCKETS = ("PGHOST", "SSH_AUTH_SOCK", "TMUX_TMPDIR", "MYSQL_UNIX_PORT")  # variables that lead to other programs


def assign(shell: Shell, assignment: Assignment, state: State) -> State:
    value = assigned_value(shell, assignment, state)
    return shell.take_assigned(state).assigning({assignment.name: value})


def assigned_value(shell: Shell, assignment: Assignment, state: State) -> Value:
    """The value, with its place in the text so that a rewrite can find it."""
    if assignment.index is not None:
        discard(shell, assignment.index, state)
        start = assignment.value.start if assignment.value is not None else assignment.end
        calculate(shell, assignment.start + len(assignment.name), start, state)
    if assignment.items is not None:
        for item in assignment.items:
            for field in expand(shell, item, state):
                noted(shell, field, state)
        return UNKNOWN
    word = assignment.value
    if word is None or assignment.index is not None:
        return UNKNOWN
    if word.parts and word.parts[0].kind == LITERAL and not word.parts[0].quote and word.parts[0].text[:1] == "=":
        shell.doubt(ZSH)  # to which D==ls is D=/bin/ls
        return UNKNOWN
    field = expand_single(shell, word.parts, word, state) if word.parts else Field("", word)
    if word.parts and shell.in_text and assignment.name not in SOCKETS:
        site = shell.site(word, 0, "", is_list=assignment.name.endswith(LISTS))
        field.sites = merged((site,), field.sites)
    if assignment.name in PROMPTS:
        refuse_prompt(shell, field.text)
    if assignment.is_append:
        shell.doubt(DASH)  # to which NAME+=value is a command
        before = shell.variable(assignment.name, state)
        both = before.text + field.text if before.text is not None and field.text is not None else None
        return Value(both, merged(field.sites, before.sites))
    return as_value(field)


def refuse_prompt(shell: Shell, text: str | None) -> None:
    """PS4='$(code)': it runs whenever the shell shows a line."""
    if text is None or "$(" in text or "`" in text:
        shell.refuse("a prompt is given code")


def declared(shell: Shell, assignment: Assignment, state: State) -> Field:
    """NAME=value behind export: one argument to the program, remembered until it says what to do with it."""
    value = assigned_value(shell, assignment, state)
    word = assignment.value
    if word is not None and word.magic and any("{" in part.text for part in word.parts if not part.quote):
        value = UNKNOWN  # here, unlike in front of a command, {a,b} is two arguments, and the last one counts
    if word is not None and any(part.kind != LITERAL and not part.quote for part in word.parts):
        shell.doubt(DASH)  # which splits what is behind export
    text = None if value.text is None else f"{assignment.name}={value.text}"
    field = Field(text, None, value.sites)
    field.declares = (assignment.name, value)
    for site in value.sites:
        site.is_exported = True  # or might be: declare -x
    return field


def noted(shell: Shell, field: Field, state: State) -> Field:
    if field.word is not None and shell.in_text and field.word.parts and field.word.parts[0].kind == LITERAL:
        field.sites = merged((shell.site(field.word, 0, ""),), field.sites)
    return field


def as_value(field: Field) -> Value:
    value = Value(field.text if field.pattern_at < 0 else None, field.sites)
    value.stem, value.pattern_at = field.stem, field.pattern_at
    return value

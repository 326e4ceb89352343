"""From words to the arguments that a program is given, and what variables are given."""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..nouns.fields import Builder, Field, is_other_in_zsh
from ..nouns.names import LISTS, PROMPTS, names
from ..nouns.paths import path_from
from ..nouns.state import UNKNOWN, State, Value, merge_sites
from ..programs.options import parse
from ..programs.table import program
from ..shell.syntax import ARITHMETIC, COMMAND, LITERAL, PARAMETER, PROCESS, TILDE, Assignment, Part, Word
from .shell import EXTENDED, SHELLS_OWN, Shell


def calculate(shell: Shell, start: int, end: int, state: State) -> None:
    """Every name in it counts as changed if anything is; a value that is no number may be a formula with code."""
    text = shell.source[start:end]
    bare = text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "")
    is_changed = "=" in bare or "++" in bare or "--" in bare
    for name in names_in(text):
        value = shell.variable(name, state)
        if value.text is None or not value.text.isdigit():
            shell.doubt("a value that is calculated is not known")
            refuse_text(shell, value.text)
        if is_changed:
            shell.assigned[name] = UNKNOWN


def refuse_code(shell: Shell, parts: list[Part]) -> None:
    """A quoted subscript is expanded once more when it is calculated."""
    for part in parts:
        if part.kind == LITERAL:
            refuse_text(shell, part.text)


def refuse_text(shell: Shell, text: str | None) -> None:
    if text is not None and "[" in text and ("$(" in text or "`" in text):
        shell.refuse("a subscript runs code")


def names_in(text: str) -> list[str]:
    """The names of variables in a formula."""
    variables, name = [], ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            name += c
        else:
            if name and not name[0].isdigit():
                variables.append(name)
            name = ""
    return variables


NUMBERS = frozenset(
    ("$", "?", "#", "RANDOM", "SECONDS", "UID", "EUID", "PPID", "BASHPID", "LINENO", "EPOCHSECONDS")
)  # $! is empty as long as nothing runs in the background
NOT_IN_DASH = frozenset(("RANDOM", "SECONDS", "UID", "EUID", "BASHPID", "EPOCHSECONDS"))
SPLIT_OR_MATCHED = frozenset(" \t\n*?[\\")  # in a value without quotes around it
ZSH, DASH = "zsh reads this as something else", "dash reads this as something else"
# an allow rests on literal text, on $NAME and ${NAME} with a value that is known, and on nothing else
UNCERTAIN = "a word of it is more than text and $NAME"
_EXTENDED = frozenset("^~#")
MAX_FIELDS = 256
NUMBERING = names("seq nproc uname whoami hostname uuidgen jot")  # they print one name, without a slash


def expand(shell: Shell, word: Word, state: State) -> list[Field]:
    if word.text is not None:
        if word.text[0:1] == "=" and len(word.text) > 1 and not word.parts[0].quote:
            shell.doubt(ZSH)  # =ls is /bin/ls
        elif any(part.quote == "$" for part in word.parts):
            shell.doubt(DASH)  # to which $'...' is a dollar sign and a string
        else:
            for part in word.parts:
                _doubt_literal(shell, part)
        return [Field(word.text, word)]
    variants = [word.parts]
    if word.magic and any(not part.quote and "{" in part.text for part in word.parts if part.kind == LITERAL):
        from .braces import braces  # rare, and every hook pays for each module

        expanded = braces(word.parts)
        if expanded is None:
            return [Field(None, word)]
        variants = expanded
        if len(expanded) > 1:
            shell.doubt(DASH)  # to which {a,b} is a name, here
    builder = Builder(word)
    for parts in variants:
        _build(shell, builder, parts, state)
        builder.close()
        if len(builder.fields) > MAX_FIELDS:
            return [Field(None, word)]
    return builder.fields


def _doubt_literal(shell: Shell, part: Part) -> None:
    """A dollar sign that starts nothing in bash is the head of $~V, $=V or $^V to zsh."""
    if part.kind != LITERAL or part.quote not in ("", '"'):
        return
    if "$" in part.text and (not part.quote or (part.text == "$" and part.end - part.start == 1)):
        shell.doubt(ZSH)
    elif not part.quote and (not _EXTENDED.isdisjoint(part.text) or "**" in part.text):
        shell.doubt(EXTENDED)


def expand_single(shell: Shell, parts: list[Part], word: Word | None, state: State) -> Field:
    """As in an assignment: nothing is split, no pattern means anything."""
    builder = Builder(word)
    builder.is_single = True
    _build(shell, builder, parts, state, splits=False)
    builder.is_open = True
    builder.pattern_at = -1 if not builder.stem_only else builder.pattern_at
    builder.close()
    return builder.fields[0]


def _build(shell: Shell, builder: Builder, parts: list[Part], state: State, splits: bool = True) -> None:
    before: Part | None = None
    for part in parts:
        kind = part.kind
        if kind == LITERAL:
            if (before is None and part.text[0:1] == "=" and splits) or is_other_in_zsh(before, part):
                shell.doubt(ZSH)
            _doubt_literal(shell, part)
            if part.quote == "$":
                shell.doubt(DASH)
            builder.add(part.text, is_pattern=splits and not part.quote)
        elif kind == PARAMETER:
            _add_parameter(shell, builder, part, state, splits and not part.quote)
        elif kind == COMMAND and part.body is not None:
            _add_command(shell, builder, part, state, splits and not part.quote)
        elif kind == PROCESS and part.body is not None:
            shell.doubt(UNCERTAIN)
            number = shell.processes
            shell.simulate_inner(part.body, "", state)
            builder.add(f"/dev/fd/{63 - number}")
            shell.processes = number + 1
        elif kind == TILDE:
            _add_tilde(shell, builder, part.text, state)
        elif kind == ARITHMETIC:
            discard(shell, part.parts, state)
            calculate(shell, part.start, part.end, state)
            if shell.source.startswith("$[", part.start):
                shell.doubt(DASH)
            builder.add_number()
        before = part


def _add_parameter(shell: Shell, builder: Builder, part: Part, state: State, splits: bool) -> None:
    if part.op or not (part.text[:1].isalpha() or part.text[:1] == "_"):
        shell.doubt(UNCERTAIN)
    if part.text in ("@", "*") and not part.op:
        if builder.is_single or (part.text == "*" and part.quote):
            _add_joined(shell, builder, state)
        else:
            _add_positional(shell, builder, part.quote == '"', state)
        return
    if (part.op == "" and part.text in NUMBERS and part.text not in state.variables) or part.op == "#":
        discard(shell, part.parts, state)
        if part.text in NOT_IN_DASH and not builder.size:
            shell.doubt(DASH)  # empty there: $RANDOM/x is /x
        if splits and _may_split("0", state):
            builder.add_unknown()
        else:
            builder.add_number()
        return
    value = parameter(shell, part, state)
    builder.sites = merge_sites(builder.sites, value.sites)
    if splits and value.text is None and _may_split(value.stem, state):
        builder.add_unknown()
    elif value.text is None and value.stem is not None:
        builder.add_stem(value.stem, value.pattern_at)
    elif value.text is None or (splits and value.text and "IFS" in state.variables):
        builder.add_unknown(is_name=value.is_data or _is_inherited(shell, part, state))
    elif splits:
        if not SPLIT_OR_MATCHED.isdisjoint(value.text):
            shell.doubt(ZSH)  # it takes values as they are
        builder.split(value.text)
    else:
        builder.add(value.text)


def _may_split(stem: str | None, state: State) -> bool:
    """Does an IFS of the line part this text? What mktemp or a count puts in for its marks is letters and digits."""
    if "IFS" not in state.variables:
        return False
    marks = state.variables["IFS"].text
    return marks is None or any(mark.isalnum() or mark in (stem or mark) for mark in marks)


def _add_joined(shell: Shell, builder: Builder, state: State) -> None:
    """ "$*", and either of them where nothing is split: one text with blanks between."""
    known = state.positional
    if known is None or None in known or "IFS" in state.variables or state.forgets:
        builder.add_unknown()
    else:
        builder.add(" ".join([text or "" for text in known]))


def _add_positional(shell: Shell, builder: Builder, is_exact: bool, state: State) -> None:
    """ "$@" is one field each; anything else is known only when nothing could be split."""
    known = state.positional
    if (
        known is None
        or len(known) > MAX_FIELDS
        or None in known
        or not (is_exact or all(text and text.isalnum() for text in known if text))
    ):
        builder.add_unknown()
        return
    for at, text in enumerate(known):
        if at:
            builder.close()
        builder.add(text or "")


def _add_command(shell: Shell, builder: Builder, part: Part, state: State, splits: bool) -> None:
    assert part.body is not None
    before = len(shell.commands)
    shell.simulate_inner(part.body, part.text, state)
    source = (part.text or shell.source)[part.body.start : part.body.end].strip()
    doubted, shell.doubted = shell.doubted, UNCERTAIN
    is_pwd = source == "pwd" and len(state.cwds) == 1 and "pwd" not in state.functions
    if is_pwd and (here := state.cwds[0]) is not None and not (splits and _may_split(here, state)):
        builder.add(here)
    elif source.startswith("date +%") and all(c in "%YmdHMSsNjFT_-" for c in source[6:]):
        builder.add_number()  # a date without a slash: some name, never a way up
    elif (fresh := _fresh_name(shell, shell.commands[before:], state)) is not None and not (
        splits and _may_split(fresh, state)
    ):
        shell.doubted = doubted
        builder.add_fresh(fresh)
    elif source == "git rev-parse --show-toplevel" and (top := _top(shell, state)):
        builder.add_stem(top, -1)
    elif (part_of := _part_of_path(shell.commands[before:])) is not None:
        builder.add_stem(part_of, -1)
    elif source.partition(" ")[0] in NUMBERING and "|" not in source:
        builder.add_number()
    elif not builder.size and (fields := _listed(shell.commands[before:], state)) and (len(fields) == 1 or splits):
        for at, field in enumerate(fields):
            if at:
                builder.close()
            builder.add_stem(field.stem or "", field.pattern_at)
    else:
        builder.add_unknown(is_name=".." not in source)


def _is_inherited(shell: Shell, part: Part, state: State) -> bool:
    """A variable that the line does not set."""
    is_set = part.text in state.variables or part.text in shell.assigned or part.text in SHELLS_OWN
    return not part.op and part.text[:1].isalpha() and not is_set


def _part_of_path(commands: list[Simple]) -> str | None:
    """What `basename PATH` and `dirname PATH` print."""
    argv = commands[0].argv if len(commands) == 1 else ()
    if len(argv) not in (2, 3) or argv[0] not in ("basename", "dirname") or None in argv or (argv[1] or "-")[0] == "-":
        return None
    above, _, name = (argv[1] or "").rstrip("/").rpartition("/")
    if argv[0] == "dirname":
        return above or "." if len(argv) == 2 else None
    return name.removesuffix(argv[2] or "") if len(argv) == 3 else name


def _top(shell: Shell, state: State) -> str:
    """The directory with a .git that the shell stands in, "" where there is none."""
    here = state.cwds[0] if len(state.cwds) == 1 else None
    while here and not shell.look(f"{here}/.git")[1]:
        here = here.rpartition("/")[0]
    return here or ""


def _listed(commands: list[Simple], state: State) -> list[Field] | None:
    from .listing import list_names  # rare, and every hook pays for each module

    return None if _may_split("/", state) else list_names(commands)


def _add_tilde(shell: Shell, builder: Builder, user: str, state: State) -> None:
    if user == "":
        home = shell.variable("HOME", state).text
    elif user == "+" and len(state.cwds) == 1:
        shell.doubt(UNCERTAIN)
        home = state.cwds[0]
    else:
        home = None
    if home is None:
        builder.add_unknown()
    else:
        builder.add(home)


def parameter(shell: Shell, part: Part, state: State) -> Value:
    value = shell.variable(part.text, state)
    op = part.op
    if not op:
        return value
    if op in ("!", "other") or op.endswith("?"):
        discard(shell, part.parts, state)
        if op == "other":
            _transform(shell, part, state)
            if (shortened := _shortened(shell, part, value)) is not None:
                return shortened
        return value if op.endswith("?") and value.text else UNKNOWN
    operand = expand_single(shell, part.parts, None, state)
    if value.text is None:
        return UNKNOWN if "=" not in op else _assign(shell, part.text, UNKNOWN)
    is_filled = value.text != ""  # unset and empty are the same to ":-", and we know no other unset ones
    if op.endswith("+"):
        return Value(operand.text) if is_filled else Value("")
    if is_filled or not op.startswith(":"):
        return value if is_filled else UNKNOWN
    return _assign(shell, part.text, Value(operand.text)) if op == ":=" else Value(operand.text)


def _assign(shell: Shell, name: str, value: Value) -> Value:
    shell.assigned[name] = value
    return value


def discard(shell: Shell, parts: list[Part], state: State) -> None:
    """Run the substitutions; what they give does not matter."""
    if parts:
        expand_single(shell, parts, None, state)


def _shortened(shell: Shell, part: Part, value: Value) -> Value | None:
    """${f%.txt}: a name without its ending lies where it lay. No allow rests on it."""
    name, percent, ending = shell.source[part.start + 2 : part.end - 1].partition("%")
    ending = ending.removeprefix("%")
    if name != part.text or not percent or not ending.replace(".", "").replace("_", "").replace("-", "").isalnum():
        return None
    shell.doubt("a value is cut short")
    if value.text is not None:
        return Value(value.text.removesuffix(ending))
    return value if value.stem is not None and value.pattern_at >= 0 else None


def _transform(shell: Shell, part: Part, state: State) -> None:
    """Subscripts and offsets are calculated; @P runs what the value holds."""
    text = shell.source[part.start : part.end]
    if text.endswith("@P}"):
        shell.refuse("a value is expanded as a prompt")
    if "[" in text or ":" in text:
        calculate(shell, part.start + len(part.text) + 2, part.end, state)


def _fresh_name(shell: Shell, commands: list[Simple], state: State) -> str | None:
    """What stands for $(mktemp ...), a name that nobody has yet; None if that is not all, or its place is unknown."""
    if len(commands) != 1 or commands[0].argv[:1] != ("mktemp",) or "mktemp" in state.functions:
        return None
    if any(doubt.endswith("is changed") for doubt in commands[0].doubts):
        return None  # by a PATH of the line it may be another program
    argv = commands[0].argv
    if None in argv or any(
        word in ("-u", "--dry-run") or "=" in (word or "").removeprefix("--suffix=") for word in argv
    ):
        return None
    parsed = parse(program("mktemp"), [Field(word, None) for word in argv])
    template = parsed.plain[0].text or "" if parsed.plain else "tmp.XXXXXXXXXX"
    directory = next((argument.field.text for argument in parsed.paths), None)
    if directory is None and (parsed.has("t", "tmpdir") or not parsed.plain):
        directory = shell.variable("TMPDIR", state).text
    elif directory is None:
        directory = "."
    if not directory or ".." in template or "XXX" not in template:
        return None
    where = template if template.startswith("/") else f"{directory}/{template}"
    return path_from(state.cwds[0], where) if len(state.cwds) == 1 else None


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
                note_word(shell, field, state)
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
        field.sites = merge_sites((site,), field.sites)
    take_setting(shell, assignment.name, field.text, state)
    if assignment.is_append:
        shell.doubt(DASH)  # to which NAME+=value is a command
        before = shell.variable(assignment.name, state)
        both = before.text + field.text if before.text is not None and field.text is not None else None
        return Value(both, merge_sites(field.sites, before.sites))
    return as_value(field)


# variables whose value is code, a file of code, or options with code, to the programs that inherit it
_CODE = names("PROMPT_COMMAND LESSOPEN LESSCLOSE")
_SCRIPTS = names("BASH_ENV ENV ZDOTDIR")
_LIBRARIES = names("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES")
_COMMANDS = names("PAGER MANPAGER EDITOR VISUAL BROWSER SYSTEMD_PAGER SSH_ASKPASS SUDO_ASKPASS")
_CARRYING = {
    "TAR_OPTIONS": ("--to-command", "--checkpoint-action", "--use-compress", "-I", "--absolute", "-P", "-C"),
    "NODE_OPTIONS": ("--require", "-r", "--import", "--loader", "--experimental-loader"),
    "RUBYOPT": ("-r", "-e"), "PERL5OPT": ("-M", "-m", "-d"), "ZIPOPT": ("-T",), "RSYNC_OPTIONS": ("-e",),
}  # fmt: skip
_OF_THE_SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/opt/")


def take_setting(shell: Shell, name: str, text: str | None, state: State) -> None:
    """NAME=value, in front of a command, behind export or env: what do programs run, load or write by it?"""
    if name in PROMPTS and (text is None or "$(" in text or "`" in text):
        shell.refuse("a prompt is given code")  # it runs whenever the shell shows a line
    elif (name in _CODE and text != "") or (name in _SCRIPTS and text not in ("", "/dev/null")):
        shell.refuse(f"{name} is given code")
    elif name in _LIBRARIES and (text is None or not all(map(_is_of_the_system, text.replace(":", " ").split()))):
        shell.refuse(f"{name} puts code into every program")
    elif name.startswith("GIT_TRACE") and (text is None or text[:1] in ("/", "~")):
        shell.refuse(f"{name} leads to a file")
    elif name in _CARRYING and (text is None or any(f" {mark}" in f" {text}" for mark in _CARRYING[name])):
        shell.refuse(f"{name} is given options that run code")
    elif name in _COMMANDS and text is not None and " " in text.strip():
        from .plain import child_state, simulate_code  # rare, and every hook pays for each module

        simulate_code(shell, Field(text, None), child_state(shell, state, []), name)


def _is_of_the_system(library: str) -> bool:
    return "/" not in library or (library.startswith(_OF_THE_SYSTEM) and ".." not in library)


def declaration_of(shell: Shell, assignment: Assignment, state: State) -> Field:
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


def note_word(shell: Shell, field: Field, state: State) -> Field:
    if field.word is not None and shell.in_text and field.word.parts and field.word.parts[0].kind == LITERAL:
        field.sites = merge_sites((shell.site(field.word, 0, ""),), field.sites)
    return field


def as_value(field: Field) -> Value:
    value = Value(field.text if field.pattern_at < 0 else None, field.sites)
    value.stem, value.pattern_at, value.is_data = field.stem, field.pattern_at, field.is_data
    return value

"""Is there nothing to judge? Answers most calls before the guard is loaded, and only ever with "pass". Hot path.

By construction: the table that compiling.py writes beside the rules names programs that neither write nor run anything
that the guard reads, and no rule covers them; the line has only plain words and plain operators, and no word in
it could be a temp root. Whatever is not surely so is left to the full evaluation.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    Table = dict[str, object]

MAX_LENGTH = 2000
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%^*? \t")
_ENDS = ("", ";", "\n")  # operators that need nothing behind them


def is_nothing(command: str, table: "Table", cwd: str = "") -> bool:
    """Would the full evaluation say "pass", rewrite nothing and own nothing?"""
    if len(command) > MAX_LENGTH or not command.isascii():
        return False
    bare = _without_quotes(command)
    if bare is None or any(root in command or root in bare for root in table["roots"]):  # type: ignore[attr-defined]
        return False
    if _names(f"{command} {bare}", cwd, table["named"]):  # type: ignore[arg-type]
        return False
    before = "\n"
    while bare:
        part, operator, bare = _next(bare)
        words = part.split()
        if not words:  # an empty line, or the end behind a semicolon; anything else bash refuses
            if before not in _ENDS or operator not in ("", "\n"):
                return False
        elif operator == "&" or not _PLAIN.issuperset(part) or not _is_quiet(words, table):
            return False
        before = operator if words or before == "\n" else before
    return before in _ENDS


def _names(text: str, cwd: str, named: "list[str]") -> bool:
    """Could a rule about names speak: is a part of one written here, or may a pattern stand for it?"""
    if any(part in text or part in cwd for part in named):
        return True
    if not named or ("*" not in text and "?" not in text):
        return False
    for word in text.split():
        head = word.rpartition("/")[2].partition("*")[0].partition("?")[0]
        if head and head != word.rpartition("/")[2] and any(part.startswith(head) for part in named):
            return True
    return False


def _next(text: str) -> "tuple[str, str, str]":
    """The words up to the next operator, the operator, and what is behind it."""
    for at, c in enumerate(text):
        if c == ";" or c == "\n":
            return text[:at], c, text[at + 1 :]
        if c == "|" or c == "&":
            operator = text[at : at + 2] if text[at + 1 : at + 2] == c else c
            return text[:at], operator, text[at + len(operator) :]
    return text, "", ""


def _is_quiet(words: "list[str]", table: "Table") -> bool:
    entry = table["programs"].get(words[0])  # type: ignore[attr-defined]
    if entry is None:
        return False
    commands, letters, options = entry
    if commands and (len(words) < 2 or words[1] not in commands):
        return False
    named = table["words"]
    for word in words[1:]:
        if word in named or word.rpartition("/")[2] in named:  # type: ignore[operator]
            return False
        if word[0] == "-":
            name = word.lstrip("-")
            if any(letter in letters for letter in name) and word[1:2] != "-":
                return False
            if name and any(option.startswith((name, name.lower())) or option in name.lower() for option in options):
                return False  # --log-file says where it writes, too
    return True


def _without_quotes(command: str) -> str | None:
    """With what is quoted as one plain word, None where a quote holds more than text or may hide an option."""
    if '"' not in command and "'" not in command:
        return command
    bare, at = "", 0
    while at < len(command):
        c = command[at]
        at += 1
        if c not in "'\"":
            bare += c
            continue
        stop = command.find(c, at)
        inside = command[at:stop]
        if stop < 0 or (c == '"' and any(special in inside for special in "\\$`")):
            return None
        is_word = bool(inside) and _PLAIN.issuperset(inside) and " " not in inside and "\t" not in inside
        if not is_word and inside[:1] == "-":
            return None
        bare += inside if is_word else "_"
        at = stop + 1
    return bare


def table_in_force(state_dir: str, config_dir: str) -> "Table | None":
    """The table, if its sources look as they did; None also where a rule switches the first look off."""
    from ..bundle import are_unchanged
    from ..stamped import kept_document

    table = kept_document(path_of(state_dir), 1 << 18)
    if table is None or not table.get("programs") or table["config"] != config_dir:
        return None
    if not are_unchanged(table["stamp"]):
        return None
    return table


def path_of(state_dir: str) -> str:
    return f"{state_dir}/guard/first"

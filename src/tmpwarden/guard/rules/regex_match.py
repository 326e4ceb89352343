"""Does a regular expression match the whole text? By `re` where that surely ends soon, else by its table. Hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rule import Rule

BY_TABLE = "table"


def is_match(rule: "Rule", text: str) -> "bool | None":
    """None: not looked, because the text is too long or holds what the table does not know."""
    regex, limit, *table = rule.operands
    if limit == BY_TABLE:
        return _by_table(table[0], text)
    if len(text) > int(limit):
        return None
    import re  # only a config with such checks pays for it

    return re.fullmatch(regex, text, re.DOTALL) is not None


def _by_table(written: str, text: str) -> "bool | None":
    from ...small_json import decode_object

    table = decode_object(written)
    return None if table is None else matches_table(table, text)


def matches_table(table: "dict[str, object]", text: str) -> "bool | None":
    """One step a character."""
    letters, rows, ends = table["letters"], table["rows"], table["ends"]
    state, last = 1, len(text) - 1
    for at, letter in enumerate(text):
        code = ord(letter)
        kind = ord(letters[code]) if code < 128 else _beyond(table, letter)  # type: ignore[index]
        if kind < 0:
            return None
        row = rows[state]  # type: ignore[index]
        state = ord(row[-1] if at == last and letter == "\n" else row[kind])
        if not state:
            return False
    return bool(ends[state] == "1")  # type: ignore[index]


def _beyond(table: "dict[str, object]", letter: str) -> int:
    """The class of a character past ASCII, by its kind; -1 where the pattern or case tells such ones apart."""
    kinds: str = table["beyond"]  # type: ignore[assignment]
    if not kinds or (table["folds"] and (letter.lower().isascii() or letter.upper().isascii())):
        return -1
    if letter.isdecimal():
        return ord(kinds[0])
    if letter.isalnum():
        return ord(kinds[1])
    return ord(kinds[2] if letter.isspace() else kinds[3])

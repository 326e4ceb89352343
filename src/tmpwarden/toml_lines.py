"""On which line of a TOML file a key stands. tomllib reads values and forgets where they were."""

import re

# Compiled when they are needed: most runs read no file whose lines anybody asks for.
_HEADER = r"\[(\[)?\s*([^\[\]]+?)\s*\]"
_KEY = r"""((?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*'))*)\s*="""
_TOKEN = r"""(?sx)\"\"\"(?:\\.|[^\\])*?\"\"\" | '''.*?''' | "(?:\\.|[^"\\\n])*" | '[^'\n]*'
      | \#[^\n]* | [\[\]{},] | \n | [^\s\[\]{},"'\#]+ | [ \t\r]+"""


def lines_of(text: str) -> dict[str, int]:
    """`guard.arguments[1].command` -> line. Elements of a list have a line of their own: `guard.deny[2]`."""
    line_of_key: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    header_at, key_at = re.compile(_HEADER).match, re.compile(_KEY).match
    at, line = 0, 1
    while at < len(text):
        start = at
        if text[at] == "\n":
            line += 1
            at += 1
        elif text[at] in " \t\r":
            at += 1
        elif text[at] == "#":
            at = _end_of_line(text, at)
        elif header := header_at(text, at):
            table = _table_name(header, counts)
            line_of_key.setdefault(table, line)
            at = header.end()
        elif key := key_at(text, at):
            path = f"{table}.{_plain(key[1])}" if table else _plain(key[1])
            line_of_key.setdefault(path, line)
            at = _value(text, key.end(), path, line, line_of_key)
        else:
            at = _end_of_line(text, at)
        line += text.count("\n", start, at) if at - start > 1 else 0
    return line_of_key


def line_of(key: str, lines: dict[str, int]) -> int:
    """The line of the key, or of the nearest thing around it that has one."""
    while key:
        if key in lines:
            return lines[key]
        key = key[: key.rindex("[")] if key.endswith("]") else key.rpartition(".")[0]
    return 1


def _table_name(header: "re.Match[str]", counts: dict[str, int]) -> str:
    name = _plain(header[2])
    if not header[1]:
        return name
    index = counts.get(name, 0)
    counts[name] = index + 1
    return f"{name}[{index}]"


def _plain(dotted: str) -> str:
    return re.sub(r"""\s*\.\s*""", ".", dotted).replace('"', "").replace("'", "")


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _value(text: str, at: int, path: str, line: int, line_of_key: dict[str, int]) -> int:
    """Past one value; the elements of an outermost list get their lines."""
    depth, index, fresh = 0, 0, True
    token_at = re.compile(_TOKEN).match
    is_list = text[at:].lstrip(" \t")[:1] == "["
    while at < len(text):
        token = token_at(text, at)
        if token is None:
            return at + 1
        word, at = token[0], token.end()
        if word == "\n" and depth == 0:
            return at - 1
        if is_list and depth == 1 and fresh and not word.isspace() and word[0] not in "#],":
            line_of_key.setdefault(f"{path}[{index}]", line)
            fresh = False
        if word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        elif word == "," and depth == 1:
            index, fresh = index + 1, True
        line += word.count("\n")
    return at

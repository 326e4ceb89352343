"""Code given to an interpreter on its command line: harmless only if every name in it is known to be."""

from __future__ import annotations

from ..nouns.names import names
from .tokens import closing, only_known

# names that neither write, nor run anything, nor reach something that does
PYTHON = names(
    "print import from as in for if else elif and or not is None True False lambda len range str int float bool list "
    "dict set tuple sum min max sorted enumerate zip map filter any all abs round repr ord chr hex bin isinstance "
    "json sys math loads dumps load stdin argv version version_info platform system machine indent keys values items "
    "get strip split join upper lower startswith endswith format read readlines rstrip lstrip append count index pi "
    "sqrt floor ceil __version__ datetime date today now isoformat time strftime uuid uuid4 hashlib sha256 md5 "
    "hexdigest encode decode base64 b64encode b64decode re findall search group statistics mean median collections "
    "Counter most_common executable maxsize prefix byteorder f r b"
)
NODE = names(
    "console log JSON stringify parse process version versions argv platform arch const let var of in for if else "
    "return true false null undefined Math floor round max min random map filter reduce join split length Object keys "
    "values entries toString Date now toISOString typeof String Number Array isArray forEach push slice trim replace "
    "match test includes indexOf toUpperCase toLowerCase padStart padEnd sort concat find some every name"
)
MAX_LENGTH = 2000
LANGUAGES = {"python": PYTHON, "node": NODE}
QUOTES = {"python": "'\"", "node": "'\"`"}


def is_harmless(language: str, code: str) -> bool:
    """Only for small code: what is long is not harmless to us."""
    known = LANGUAGES.get(language)
    if len(code) > MAX_LENGTH:
        return False
    if language == "perl":
        from .perl import is_harmless_perl

        return is_harmless_perl(code)
    if known is None:
        return False
    bare = _without_strings(code, QUOTES[language], has_patterns=language == "node")
    if bare is None or "${" in code or "\\" in bare or (language == "node" and _is_indexed(bare)):
        return False
    return only_known(known, bare)


def _without_strings(code: str, quotes: str, has_patterns: bool = False) -> str | None:
    """The code outside of its strings; None if it is not that simple. An f-string stays as it is."""
    bare, at = "", 0
    while at < len(code):
        c = code[at]
        if has_patterns and c == "/" and bare.rstrip()[-1:] in ("", "(", ",", "=", ":", "[", "!", "&", "|", "?", ";"):
            if code[at + 1 : at + 2] in ("/", "*"):
                return None
            c, is_pattern = "/", True
        elif c in quotes:
            is_pattern = False
        else:
            bare += c
            at += 1
            continue
        if code.startswith(c * 3, at):
            return None
        stop = closing(code, at + 1, c)
        if stop < 0:
            return None
        if bare[-1:] in ("f", "F"):
            bare += " " + code[at + 1 : stop]  # names in its braces count, and so do all its words
        if bare.endswith("require(") and code.endswith(".json", at, stop):
            bare = bare[:-8] + "("  # data, not code
        bare += "0" if is_pattern else " "
        at = stop + 1
        while is_pattern and code[at : at + 1].isalpha():  # its flags
            at += 1
    return bare


def _is_indexed(bare: str) -> bool:
    """x[name]: any property can be reached so, and with it any code. Numbers are fine."""
    for at, c in enumerate(bare):
        before = bare[:at].rstrip()[-1:]
        is_index = c == "[" and before != "" and (before.isalnum() or before in ")]_")
        if is_index and not bare[at + 1 : bare.find("]", at)].strip().isdigit():
            return True
    return False


def awk_writes(program: str) -> bool:
    """print > file, print | command, system() and getline."""
    if "system" in program or "getline" in program or "@" in program:
        return True
    prints, nested, at = False, 0, 0
    while at < len(program):
        c = program[at]
        if c == '"':
            at = _string_end(program, at)
            continue
        if c in ";}\n":
            prints = False
        elif program.startswith("print", at):
            prints, nested = True, 0
        elif c in "()":
            nested += 1 if c == "(" else -1
        elif prints and nested <= 0 and c in ">|" and not program.startswith("||", at):
            return True
        at += 2 if program.startswith("||", at) else 1
    return False


def _string_end(program: str, opening: int) -> int:
    at = opening + 1
    while at < len(program) and program[at] != '"':
        at += 2 if program[at] == "\\" else 1
    return at + 1


def sed_writes(script: str) -> bool:
    """The commands w, W and e, and those flags of s. In doubt yes."""
    at, size = 0, len(script)
    while at < size:
        c = script[at]
        if c in " \t\n;{}!,$0123456789+~":
            at += 1
        elif c == "/" or c == "\\":
            at = _delimited(script, at + (c == "\\"), 1)
        elif c in "sy":
            at = _delimited(script, at + 1, 2)
            if at < 0:
                return True
            while at < size and script[at] in "gpiImM0123456789we":
                if script[at] in "we":
                    return True
                at += 1
        elif c in "aicrR:btTq" or c == "#":
            stop = script.find("\n", at)
            semicolon = script.find(";", at) if c in "btTq:" else -1
            ends = [end for end in (stop, semicolon) if end >= 0]
            at = min(ends) if ends else size
        elif c in "dDgGhHnNpPxzlF=IQ":
            at += 1
        else:
            return True
        if at < 0:
            return True
    return False


def _delimited(script: str, at: int, count: int) -> int:
    """Behind `count` texts that end in the delimiter at this place; -1 if they do not end."""
    if at >= len(script):
        return -1
    delimiter, at = script[at], at + 1
    in_class = False
    while at < len(script):
        c = script[at]
        if c == "\\":
            at += 1
        elif c == "[" and not in_class:
            in_class = "]" in script[at + 2 :]
        elif c == "]":
            in_class = False
        elif c == delimiter and not in_class:
            count -= 1
            if count == 0:
                return at + 1
        at += 1
    return -1

"""Code given to an interpreter on its command line: harmless only if every name in it is known to be."""

from __future__ import annotations

from ..nouns.names import names
from .tokens import closing, only_known

MAX_LENGTH = 2000
RUBY = names(
    "puts print p pp require json JSON parse generate pretty_generate File read readlines exist basename dirname "
    "extname size Dir glob each each_with_index map select reject reduce inject first last join split strip to_s to_i "
    "to_f to_a length count sum min max sort sort_by uniq flatten compact inspect keys values key RUBY_VERSION "
    "RUBY_PLATFORM Time now strftime if else elsif end do nil true false and or not then unless in while until case "
    "when ENV fetch ARGV STDIN gets chomp upcase downcase capitalize start_with end_with include reverse zip "
    "each_line lines match gsub sub"
)


def is_harmless(language: str, code: str) -> bool:
    """Only for small code: what is long is not harmless to us."""
    if language == "python":
        from .python_code import is_harmless_python

        return is_harmless_python(code)
    if len(code) > MAX_LENGTH:
        return False
    if language == "node":
        from .node import is_harmless_node

        return is_harmless_node(code)
    if language == "perl":
        from .perl import is_harmless_perl

        return is_harmless_perl(code)
    if language != "ruby" or "#{" in code or "`" in code or "%" in code:
        return False
    bare = _without_strings(code)
    return bare is not None and "\\" not in bare and only_known(RUBY, bare)


def _without_strings(code: str) -> str | None:
    """Ruby outside of its strings; None if it is not that simple."""
    bare, at = "", 0
    while at < len(code):
        c = code[at]
        if c not in "'\"":
            bare, at = bare + c, at + 1
            continue
        stop = closing(code, at + 1, c)
        if stop < 0 or code.startswith(c * 3, at):
            return None
        bare, at = bare + " ", stop + 1
    return bare


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

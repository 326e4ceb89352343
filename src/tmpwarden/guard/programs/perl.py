"""One-liners of perl: harmless if they only match, count and print."""

from __future__ import annotations

from ..nouns.names import names
from .tokens import closing, only_known

PERL = names(
    "print printf say if unless else elsif and or not next last while for foreach my our local qw lc uc ucfirst "
    "lcfirst length split join sort reverse map grep keys values push pop shift unshift chomp chop defined scalar "
    "substr index rindex sprintf exists delete int abs sqrt hex oct ord chr eof exit BEGIN END x eq ne lt gt le ge "
    "cmp"
)


def is_harmless_perl(code: str) -> bool:
    """Patterns and strings without code in them, and names that only print and count."""
    if any(mark in code for mark in ("@{", "${", "#{", "(?", "`", "<", "->", "%{", "&{", "=>", "__")):
        return False
    if _has_code_in_subscript(code):
        return False
    bare, at = "", 0
    while at < len(code):
        c = code[at]
        if c in "'\"":
            stop = closing(code, at + 1, c)
        elif c in "/|{,!#" and bare[-1:] in ("s", "m", "y", "r") and _is_operator(bare):
            stop = _perl_operator(code, at, 1 if bare[-1:] == "m" else 2)
            bare += " 0"
        elif c == "/" and _expects_pattern(bare.rstrip()):
            stop = closing(code, at + 1, "/")
        else:
            bare += c
            at += 1
            continue
        if stop < 0:
            return False
        at = stop + 1
        flags = ""
        while code[at : at + 1].isalpha() and c not in "'\"":
            flags += code[at]
            at += 1
        if flags.strip("gimsxor"):
            return False  # /e runs what it puts in
        bare += " "
    bare = bare.replace("||", " ").replace("&&", " ")
    return (
        not any(c in bare for c in "|&\\")
        and ">" not in bare.replace(">=", "")
        and only_known(PERL | {"s", "m", "y", "tr"}, bare, "$@%")
    )


def _has_code_in_subscript(code: str) -> bool:
    """Between the brackets of $x[...] and $x{...} stands code, in strings and patterns too. A number, a variable, and
    in braces a word are none."""
    for at, c in enumerate(code):
        stop = at + 1
        while c in "$@" and stop < len(code) and (code[stop].isalnum() or code[stop] in "_$&"):
            stop += 1
        while stop > at + 1 and code[stop : stop + 1] in ("[", "{"):
            end = code.find("]" if code[stop] == "[" else "}", stop)
            inside = code[stop + 1 : end] if end > 0 else "("
            word = inside.lstrip("$-")
            is_name = word.replace("_", "a").isalnum() and (code[stop] == "{" or inside[:1] == "$")
            if not is_name and not word.isdigit():
                return True
            stop = end + 1
    return False


def _expects_pattern(bare: str) -> bool:
    """Is a slash behind this the start of a pattern, and no division?"""
    if bare[-1:] in ("", "(", "~", "!", "{", ";", "&", "|", ","):
        return True
    word = bare[len(bare.rstrip("abcdefghijklmnopqrstuvwxyz")) :]
    before = bare[: len(bare) - len(word)][-1:]
    return word in ("if", "unless", "and", "or", "not", "split", "grep") and before in ("", " ", "(", ";", "{")


def _is_operator(bare: str) -> bool:
    """Is the last word s, m, y or tr itself, and no variable?"""
    words = bare.rstrip("smytr")
    return (
        bare[len(words) :] in ("s", "m", "y", "tr") and words[-1:] not in ("$", "@", "%") and not words[-1:].isalnum()
    )


def _perl_operator(code: str, at: int, count: int) -> int:
    """Where s/.../.../ ends; s{...}{...} only without braces in it."""
    opening = code[at]
    for part in range(count):
        if opening == "{" and part:
            at += 1
            if code[at : at + 1] != "{":
                return -1
        start, at = at + 1, closing(code, at + 1, "}" if opening == "{" else opening)
        if at < 0 or (opening == "{" and "{" in code[start:at]):
            return -1
    return at

"""Code given to an interpreter on its command line: harmless only if every name in it is known to be."""

from __future__ import annotations

from ..nouns.names import names

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


def only_known(known: frozenset[str], bare: str, sigils: str = "") -> bool:
    """Are all names in it known ones? Behind a sigil any will do."""
    name, before = "", ""
    for c in bare + " ":
        if c.isalnum() or c == "_":
            name += c
            continue
        if name and not name[0].isdigit() and name not in known and (before or " ") not in sigils:
            return False
        name, before = "", c
    return True


def closing(code: str, at: int, quote: str) -> int:
    while at < len(code) and code[at] != quote:
        at += 2 if code[at] == "\\" else 1
    return at if at < len(code) else -1


RUBY = names(
    "puts print p pp require json JSON parse generate pretty_generate File read readlines exist basename dirname "
    "extname size Dir glob each each_with_index map select reject reduce inject first last join split strip to_s to_i "
    "to_f to_a length count sum min max sort sort_by uniq flatten compact inspect keys values key RUBY_VERSION "
    "RUBY_PLATFORM Time now strftime if else elsif end do nil true false and or not then unless in while until case "
    "when ENV fetch ARGV STDIN gets chomp upcase downcase capitalize start_with end_with include reverse zip "
    "each_line lines match gsub sub"
)


def is_harmless_ruby(code: str) -> bool:
    if "#{" in code or "`" in code or "%" in code:
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

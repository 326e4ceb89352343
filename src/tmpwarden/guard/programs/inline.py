"""Code given to an interpreter on its command line: harmless only if every name in it is known to be."""

from __future__ import annotations

from ..nouns.names import names
from .tokens import closing, only_known

# names that neither write, nor run anything, nor reach something that does
NODE = names(
    "console log JSON stringify parse process version versions node argv platform arch const let var of in for if else "
    "return true false null undefined Math floor round max min random map filter reduce join split length Object keys "
    "values entries toString Date now toISOString typeof String Number Array isArray forEach push slice trim replace "
    "match test includes indexOf toUpperCase toLowerCase padStart padEnd sort concat find some every name "
    "fs readFileSync existsSync readdirSync statSync path basename dirname extname resolve "
    # keys of data
    "dependencies devDependencies peerDependencies scripts engines compilerOptions description license workspaces "
    "packages VERSION title id url status message error items count total results "
    # variables: nothing that could do harm is called so
    "a b c d e f g h i j k l m n o p q r s t u v w x y z pkg data obj res out"
)
MAX_LENGTH = 2000
RUBY = names(
    "puts print p pp require json JSON parse generate pretty_generate File read readlines exist basename dirname "
    "extname size Dir glob each each_with_index map select reject reduce inject first last join split strip to_s to_i "
    "to_f to_a length count sum min max sort sort_by uniq flatten compact inspect keys values key RUBY_VERSION "
    "RUBY_PLATFORM Time now strftime if else elsif end do nil true false and or not then unless in while until case "
    "when ENV fetch ARGV STDIN gets chomp upcase downcase capitalize start_with end_with include reverse zip "
    "each_line lines match gsub sub"
)
LANGUAGES = {"node": NODE, "ruby": RUBY}
_READING = ("fs", "node:fs", "path", "node:path")
QUOTES = {"node": "'\"`", "ruby": "'\""}


def is_harmless(language: str, code: str) -> bool:
    """Only for small code: what is long is not harmless to us."""
    if language == "python":
        from .python_code import is_harmless_python

        return is_harmless_python(code)
    known = LANGUAGES.get(language)
    if len(code) > MAX_LENGTH or (language == "ruby" and ("#{" in code or "`" in code or "%" in code)):
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
        if bare.endswith("require(") and _is_readable(code, at + 1, stop):
            bare = bare[:-8] + "("  # data, not code
        elif bare.endswith(" from ") and code[at + 1 : stop] in _READING:
            before, word, wanted = bare.rpartition("import ")
            bare = f"{before} {wanted[:-6]} " if word else bare
        bare += "0" if is_pattern else " "
        at = stop + 1
        while is_pattern and code[at : at + 1].isalpha():  # its flags
            at += 1
    return bare


def _is_readable(code: str, at: int, stop: int) -> bool:
    """require("./x.json"); modules whose known names only read; of any other its version, which tests load as well."""
    if code.endswith(".json", at, stop) or code[at:stop] in _READING:
        return True
    return code.startswith((").VERSION", ").version"), stop + 1) and code[at:stop].replace("-", "").isalnum()


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

"""JavaScript on a command line: harmless if it reads data and prints it.

A name is known (NODE), a variable of the code's own, or a property of data. Modules are told apart from data: what is
asked of one is a known name, and it is never handed on. No string becomes a property, so nothing else is within reach.
"""

from __future__ import annotations

import re

from ..nouns.names import names
from .inline import closing

# of globals and modules: they neither write, nor run anything, nor reach something that does
NODE = names(
    "console log table error JSON stringify parse process env version versions argv platform arch cwd uptime exit "
    "memoryUsage Math floor round max min random ceil abs sqrt pow PI map filter reduce join split length Object keys "
    "values entries fromEntries assign toString Date now toISOString String Number parseInt parseFloat isNaN Array "
    "isArray from forEach push slice trim replace match test includes indexOf toUpperCase toLowerCase padStart padEnd "
    "sort concat find some every name fs readFileSync existsSync readdirSync statSync path basename dirname extname "
    "resolve relative os cpus totalmem freemem hostname type release homedir tmpdir fetch then Map Set URL "
    "URLSearchParams RegExp Buffer encodeURIComponent decodeURIComponent byteLength crypto createHash randomUUID "
    "performance Promise all Intl true false null undefined NaN Infinity node VERSION"
)
_WORDS = names(
    "const let var of in for if else return typeof new function async await try catch while do break continue switch "
    "case"
)
_MADE = names("Date Map Set URL URLSearchParams RegExp")  # by new; not Error, whose stack leads to functions
# asked for something by a known name, and never handed on
_GLOBALS = names("console process Math Object Array Buffer Promise Intl performance crypto os path fs")
# what leads from data back to code, and what is there in every program without having been declared
_BACK = names(
    "constructor prototype __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ caller callee"
)
_THERE = _BACK | names(
    "eval Function require global globalThis module exports Reflect Proxy WebAssembly import this super arguments "
    "child_process vm worker_threads cluster net http https http2 dgram repl v8 inspector wasi sqlite stream tty zlib "
    "tls trace_events readline domain sea test util process fs os path crypto console Object"
)
_MODULES = ("fs", "path", "os", "crypto")
_MARK = "MODULE0"
_DECLARED = re.compile(
    r"\b(?:const|let|var|function)\s+(\w+)|\b(\w+)\s*=>|[,(]\s*(\w+)\s*(?=[,)][^;{}]*=>)|\bcatch\s*\(\s*(\w+)"
)
_TAKEN_APART = re.compile(r"(?:\b(?:const|let|var)\s*|\(\s*)[\[{]([\w\s,:]*)[\]}]")  # const [a, b] of, ({a, b}) =>
_MODULE = re.compile(r"\b(?:const|let|var)\s+(\w+)\s*=\s*MODULE0(?=\s*(?:;|\n|$))")
_PULLED = re.compile(r"\b(?:const|let|var)\s+\{([\w\s,]*)\}\s*=\s*MODULE0(?=\s*(?:;|\n|$))")
_NAME = re.compile(r"(\.?)\s*\b([A-Za-z_$][\w$]*)")
_ODD = ("\\", "//", "/*", "<!--", "-->")  # comments: they could stand between a dot and its name


def is_harmless_node(code: str) -> bool:
    bare = _bare(code)
    if bare is None or "${" in code or _MARK in code or not bare.isascii() or any(odd in bare for odd in _ODD):
        return False
    modules = set(_MODULE.findall(bare))
    pulled = _words_in(_PULLED.findall(bare))
    bare = _PULLED.sub("", _MODULE.sub("", bare))
    own = {name for found in _DECLARED.findall(bare) for name in found if name} | _words_in(_TAKEN_APART.findall(bare))
    if _is_indexed(bare) or not pulled <= NODE or any(name in _THERE or name[:2] == "__" for name in own):
        return False
    return _all_known(bare, own, modules)


def _words_in(texts: list[str]) -> set[str]:
    return {name for text in texts for name in text.replace(",", " ").replace(":", " ").split()}


def _all_known(bare: str, own: set[str], modules: set[str]) -> bool:
    asked, known, before = modules | _GLOBALS | {_MARK}, own | modules | NODE | _WORDS | {_MARK}, ""
    for found in _NAME.finditer(bare):
        dot, name = found.groups()
        rest = bare[found.end() :].lstrip()
        if name in _BACK:
            return False
        if dot and bare[: found.start()][-1:] != ".":
            if before in asked and name not in NODE:
                return False
            before = ""
            continue
        if (name in asked and rest[:1] != ".") or (before == "new" and name not in _MADE):
            return False
        if name not in known and not _is_key(bare, found, rest):
            return False
        before = name
    return True


def _is_key(bare: str, found: re.Match[str], rest: str) -> bool:
    """{name: value}: of data. Modules are never taken apart so."""
    return rest[:1] == ":" and bare[: found.start(2)].rstrip()[-1:] in ("{", ",")


def _is_indexed(bare: str) -> bool:
    """x[name]: any property can be reached so, and with it any code. Numbers are fine."""
    for at, c in enumerate(bare):
        before = bare[:at].rstrip()[-1:]
        is_index = c == "[" and before != "" and (before.isalnum() or before in ")]}_$'")
        word = re.search(r"(\w*)\s*$", bare[:at])
        if is_index and not (word and word[1] in _WORDS) and not bare[at + 1 : bare.find("]", at)].strip().isdigit():
            return True
    return False


def _bare(code: str) -> str | None:
    """The code outside of its strings and patterns; None if it is not that simple."""
    bare, at = "", 0
    while at < len(code):
        c = code[at]
        is_pattern = c == "/" and bare.rstrip()[-1:] in ("", "(", ",", "=", ":", "[", "!", "&", "|", "?", ";")
        if is_pattern and code[at + 1 : at + 2] in ("/", "*"):
            return None
        if not is_pattern and c not in "'\"`":
            bare, at = bare + c, at + 1
            continue
        stop = closing(code, at + 1, c)
        if stop < 0:
            return None
        text = code[at + 1 : stop]
        at = stop + 1
        if bare.endswith("require(") and not is_pattern:
            told = _told(text, code, at)
            if told is None or code[at : at + 1] != ")":
                return None
            bare, at = bare[:-8] + told, at + 1
        elif bare.rstrip().endswith(" from") and "import " in bare:
            head, _, wanted = bare.rpartition("import ")
            name = wanted.rstrip()[:-5].strip()
            if text.removeprefix("node:") not in _MODULES:
                return None
            bare = f"{head}const {name} = {_MARK};"
        else:
            bare += "0" if is_pattern else " '' "
        while is_pattern and code[at : at + 1].isalpha():  # its flags
            at += 1
    return bare


def _told(text: str, code: str, at: int) -> str | None:
    """require("./x.json") is data; of a module that reads a mark stays; of any other only its version may be read."""
    if text.endswith(".json"):
        return "(0)"
    if text.removeprefix("node:") in _MODULES:
        return _MARK
    is_version = code.startswith((").VERSION", ").version"), at) and text.replace("-", "").isalnum()
    return "(0)" if is_version else None

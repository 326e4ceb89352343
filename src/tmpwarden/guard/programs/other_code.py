"""Node, Ruby, Perl, PHP, Lua and others on a command line: which files the code writes; None where it hides something.

No tree is built. A word that deletes, runs or evaluates is looked for in the whole text, in strings and comments too. A
call that writes must name its file as a plain string; a string that names a place outside may only be read. The caller
judges what is told here as if a command of the line had named it, and never allows it.
"""

from __future__ import annotations

import re

from ..nouns.analysis import DELETE, WRITE
from ..nouns.fields import Field
from ..nouns.names import names
from .inline import is_outside
from .options import Argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .inline import Places

MAX_LENGTH = 4000
# words that take away, run, or reach what they do not name
_COMMON = names(
    "rm rm_r rm_f rm_rf rmdir rmtree rmSync rmdirSync unlink unlinkSync unlink_all truncate ftruncate "
    "truncateSync ftruncateSync system exec eval popen spawn fork kill chmod chown symlink chroot shell_exec "
    "proc_open removeSync"
)
_WORDS = {
    "node": names(
        "rm rmSync rmdir rmdirSync unlink unlinkSync truncate truncateSync ftruncate ftruncateSync lchmod lchown "
        "child_process execSync execFile execFileSync spawn spawnSync fork worker_threads vm cluster inspector "
        "repl dgram eval Function constructor __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ "
        "__lookupSetter__ caller callee binding dlopen mainModule Reflect Proxy WebAssembly globalThis "
        "createRequire getBuiltinModule rimraf removeSync emptyDir emptyDirSync chdir setuid prepareStackTrace "
        "getOwnPropertyDescriptors with symlink symlinkSync chmod chmodSync chown chownSync process_wrap runMain "
        "openSync opendirSync"
    ),
    "ruby": _COMMON
    | names(
        "instance_eval class_eval module_eval instance_exec class_exec binding send __send__ public_send "
        "const_get define_method method_missing instance_method method popen2 popen3 capture2 capture2e capture3 "
        "Fiddle syscall trap at_exit remove_entry remove_entry_secure remove_dir remove_file PTY ObjectSpace "
        "safe_unlink autoload Kernel Process Shellwords Open3 rename mv move remove"
    ),
    "perl": _COMMON
    | names(
        "qx rename remove_tree require do_file syscall sysopen dbmopen tie link utime CORE GLOBAL tainted dump "
        "readpipe pipe socket open2 open3 IPC spew move copy unlink0 cp mv"
    ),
    "php": _COMMON
    | names(
        "passthru pcntl_exec pcntl_fork assert create_function call_user_func call_user_func_array rename "
        "move_uploaded_file include include_once require_once extract parse_str dl mail ReflectionFunction "
        "ReflectionMethod copy link preg_replace_callback_array register_shutdown_function escapeshellcmd"
    ),
    "lua": _COMMON | names("remove rename execute load loadstring dofile loadfile debug setfenv getfenv package"),
    "julia": _COMMON
    | names("run mv cp ccall unsafe_store include include_string parse pipeline invokelatest getfield getproperty"),
    "Rscript": _COMMON
    | names(
        "unlink system2 shell parse call fun sys source sink pipe rename rmarkdown_clean Recall assign evalq remove"
    ),
    "elixir": _COMMON | names("cmd shell apply eval_string eval_quoted eval_file Port open_port rename cp_r cp"),
    "erl": _COMMON
    | names("cmd delete del_dir del_dir_r apply open_port rename erl_eval erl_scan make_symlink copy spawn_link"),
    "ghc": _COMMON
    | names(
        "removeFile removeDirectory removeDirectoryRecursive removePathForcibly renameFile renameDirectory "
        "renamePath callProcess callCommand readProcess readProcessWithExitCode rawSystem createProcess "
        "readCreateProcess shell proc copyFile unsafePerformIO unsafeCoerce removeLink"
    ),
}
_WORDS["deno"] = _WORDS["bun"] = _WORDS["node"] | names("Command remove removeSync run dlopen spawn kill")
_WORDS["iex"], _WORDS["R"] = _WORDS["elixir"], _WORDS["Rscript"]
_SCRIPTS = ("node", "deno", "bun")
# by language: signs of code in a string, or of a function that is called by a name that is worked out
_SIGNS = {
    "node": ("\\u", "\\x", "${", "$`", "]("),
    "ruby": ("`", "%x", "<%", '"|', "'|", "\\x", "\\u"),
    "perl": ("`", "&{", "&$", "->$", "->(", "(?{", "(??{", "\\x", '|"', "|'", '"|', "'|", "*{", "__"),
    "php": ("`", "$$", "\\x", "\\u", "](", "${", "phar:", "expect:"),
    "lua": ("\\x", "os[", "io[", "_G", "_ENV", "\\1"),
    "julia": ("`", "@eval", "\\x", "\\u", "Base."),
    "Rscript": ("\\x", "\\u", ":::", "`", "do.call", "match.fun"),
    "elixir": ("\\x", "\\u", ":os.", ":file.", ":erlang.", ":ets."),
    "erl": ("\\x", "os:cmd", "fun("),
    "ghc": (":!", "\\x", "foreign"),
}
_SIGNS["deno"] = _SIGNS["bun"] = _SIGNS["node"]
_SIGNS["iex"], _SIGNS["R"] = _SIGNS["elixir"], _SIGNS["Rscript"]
_DOTTED = re.compile(r"\b(?:File|Dir|IO|FileUtils|Pathname|FSUtil)\b\s*(?:\.|::)\s*(?:delete|symlink|link|rename)\b")
_DELETING_FILES = re.compile(r"file\.(?:remove|rename|symlink)|(?:\bPkg|\brenv|\binstall)\.(?:rm|gc|purge)")
_VARIABLE_CALL = re.compile(r"\$\w+\s*\(|\bnew\s+\$")
_EVALUATED_TWICE = re.compile(r"[/}|!#]\w*e\w*e\w*(?=[\s;})]|$)")
_STRING = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`")
_JOINED = re.compile(r"['\"`]\s*(?:\+|\.\.|\.|<>)\s*['\"`]")
_CALLEE = re.compile(r"([\w.!?:>-]*[\w!?])\s*(?:\(\s*|\s+)?$")
_MODULE = re.compile(
    r"\b(?:const|let|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:require|import)\s*\(\s*['\"](?:node:)?(?:fs|fs/promises|process|os|module)"
    r"['\"]\s*\)(?:\.promises)?\s*(?:[;,\n]|$)|\bimport\s+(?:\*\s*as\s+)?(\w+)\s+from\s*['\"](?:node:)?(?:fs|fs/promises|process|os)['\"]"
)
_MODULE_AS_VALUE = re.compile(
    r"(?:require|import)\s*\(\s*['\"](?:node:)?(?:fs|fs/promises|process|module)['\"]\s*\)(?:\.promises)?(?!\s*(?:\.\s*\w|[;,\n]|$))"
)
_REQUIRED = re.compile(r"\b(?:require|import)\b(?!\s*\(?\s*['\"])")
_IMPORTED = re.compile(r"\bimport\s+(?:[\w$*{},\s]+\s+from\s*)?['\"]|\bimport\s*\.\s*meta")
_SUBSCRIPT = re.compile(r"(?<=[\w)\]}])\s*(?:\?\.)?\[([^\[\]]*)\]")
_KNOWN_SUBSCRIPT = re.compile(r"\s*(?:-?[\w.$]+(?:\s*[-+*%]\s*(?:\d+|[a-z]))?|['\"][^'\"]*['\"])?\s*$")
_CALL = re.compile(r"[A-Za-z_][\w.:]*[!?]?(?=\s*\(|\s+['\"(])")
_PERL_CALL = re.compile(r"\bopen\b|\bmkdir\b")
_KEYWORDS = names("const let var of in return case yield await typeof")
# calls that write the file that is their first argument
_WRITING = names(
    "writeFile writeFileSync appendFile appendFileSync createWriteStream mkdir mkdirSync mkdtemp mkdtempSync "
    "writeTextFile writeTextFileSync outputFile outputFileSync writeJson writeJsonSync outputJson outputJsonSync "
    "utimesSync File.write IO.write File.binwrite IO.binwrite FileUtils.touch FileUtils.mkdir FileUtils.mkdir_p "
    "FileUtils.makedirs Dir.mkdir Bun.write Deno.writeFile Deno.writeFileSync Deno.mkdir Deno.mkdirSync "
    "Deno.create Deno.makeTempDir file_put_contents touch mkdir fputcsv imagepng imagejpeg tempnam File.write! "
    "File.mkdir File.mkdir! File.mkdir_p File.mkdir_p! File.touch File.touch! write mkpath write_file "
    "file:write_file file:make_dir writeFile appendFile createDirectory createDirectoryIfMissing dir.create "
    "writeLines"
)
# those of R take it as the second, or by name
_SECOND = names(
    "write.csv write.table saveRDS write_csv write_rds ggsave fwrite write.csv2 dput writexl::write_xlsx cat save"
)
_OPENING = names(
    "File.open open fopen io.open IO.open File.new Deno.open Deno.openSync gzopen File.open! file:open gzfile"
)
_COPYING = names(
    "copyFile copyFileSync cp cpSync renameSync rename FileUtils.cp FileUtils.copy FileUtils.cp_r "
    "FileUtils.copy_file FileUtils.ln_s File.cp File.cp! Deno.copyFile Deno.copyFileSync Deno.rename "
    "Deno.renameSync file.copy"
)
_READING = names(
    "readFileSync readFile existsSync readdirSync readdir statSync lstatSync stat access accessSync "
    "createReadStream require import from join resolve dirname basename extname normalize relative log error warn "
    "print puts p pp say echo printf includes startsWith endsWith indexOf split replace test match get fetch "
    "file_get_contents file_exists is_file is_dir glob scandir json_decode fopen filesize read readlines foreach "
    "exist exist? exists? file? directory? children entries load_file safe_load_file parse lines io.lines "
    "read_csv read.csv readLines readRDS list.files file.exists dir readdir isfile isdir ispath joinpath "
    "expanduser expand_path realpath file open use lib parse_file read! stream! ls ls! read_file consult list_dir "
    "readTextFile readTextFileSync readDir readDirSync lstat use_module doc eq ne if unless and readtable "
    "normpath homedir when return"
)


def uses_of_other_code(
    language: str, code: str, places: Places, options: tuple[str, ...] = ()
) -> list[Argument] | None:
    """What the code does to files; None where that cannot be said, and for a language that is not in the table."""
    words = _WORDS.get(language)
    if (
        words is None
        or len(code) > MAX_LENGTH
        or (not code.isprintable() and not code.replace("\n", "").replace("\t", "").isprintable())
    ):
        return None
    if any(sign in code for sign in _SIGNS[language]) or _hides(language, code):
        return None
    if any(word in words for word in re.findall(r"[A-Za-z_]\w*", code)):
        return None
    return _paths_of(language, code, places)


def _hides(language: str, code: str) -> bool:
    """What is reached by a name that is worked out, and by others than its own."""
    if _JOINED.search(code) and re.search(r"['\"]\w+['\"]\s*(?:\+|\.\.|\.|<>)\s*['\"]\w+['\"]", code):
        return True  # nobody writes two words as one, but to hide it
    if language in _SCRIPTS:
        return _hides_in_script(code)
    if language == "ruby":
        return bool(_DOTTED.search(code)) or bool(re.search(r"=\s*(?:File|Dir|IO|FileUtils|Object)\b(?!\s*[.:])", code))
    if language == "perl":
        return bool(_EVALUATED_TWICE.search(code)) or bool(re.search(r"\bdo\s*['\"$(]|<\s*\$?\w*\|", code))
    if language == "php":
        return bool(_VARIABLE_CALL.search(code))
    if language in ("Rscript", "R", "julia"):
        return bool(_DELETING_FILES.search(code))
    return False


def _hides_in_script(code: str) -> bool:
    bare = _STRING.sub("''", code)
    if re.search(r"\bprocess\s*\.\s*(?:kill|chdir|dlopen|setuid|abort)\b", bare):
        return True
    if any(odd in bare for odd in ("//", "/*", "<!--", "-->")) or not bare.isascii():
        return True  # a comment could stand between a dot and its name
    if _REQUIRED.search(_IMPORTED.sub("", code)) or _MODULE_AS_VALUE.search(code):
        return True
    for match in _SUBSCRIPT.finditer(code):
        word = re.search(r"(\w*)\s*$", code[: match.start()])
        if not (word and word[1] in _KEYWORDS) and not _KNOWN_SUBSCRIPT.match(match[1]):
            return True
    for name in {name for pair in _MODULE.findall(code) for name in pair if name} | {
        "process",
        "Deno",
        "Bun",
        "console",
    }:
        for use in re.finditer(rf"(?<![\w.'\"/:-]){name}\b(?!\s*(?:\?\.|\.)\s*\w)", bare):
            before = bare[: use.start()].rstrip()
            if not re.search(r"\b(?:const|let|var|import|as|typeof)$", before) and not bare[
                use.end() :
            ].lstrip().startswith("from"):
                return True
    return False


def _paths_of(language: str, code: str, places: Places) -> list[Argument] | None:
    paths: list[Argument] = []
    taken: set[int] = set()  # where the strings begin that a call has accounted for
    strings = {match.start(): match for match in _STRING.finditer(code)}
    for match in (_PERL_CALL if language == "perl" else _CALL).finditer(code):
        name = match[0]
        last = name.rpartition(".")[2]
        is_parted_by_blanks = language == "ghc"
        arguments = [strings.get(match.end() + 1)] if is_parted_by_blanks else _arguments(code, match.end(), strings)
        if name in _OPENING or (last == "open" and "open" in _OPENING and language in ("perl", "ruby", "julia")):
            if not _tell_opened(language, arguments, paths, taken):
                return None
        elif name in _COPYING or (last in _COPYING and language in _SCRIPTS):
            if len(arguments) < 2 or None in arguments[:2]:
                return None
            _note(paths, taken, arguments[0], DELETE if "rename" in name else "read")
            _note(paths, taken, arguments[1], WRITE)
        elif name in _WRITING or (last in _WRITING and language in _SCRIPTS and last not in ("write", "touch")):
            if not (language in _SCRIPTS and name in ("write", "process.stdout.write")) and not (
                language == "lua" and last == "write"
            ):
                if not arguments or arguments[0] is None:
                    return None
                _note(paths, taken, arguments[0], WRITE)
        elif name in _SECOND and language in ("Rscript", "R"):
            if name in ("cat", "save"):
                if re.search(r"\bfile\s*=", code):
                    return None
            elif len(arguments) < 2 or arguments[1] is None:
                return None
            else:
                _note(paths, taken, arguments[1], WRITE)
    for start, string in strings.items():
        text = string[1] or string[2] or string[3] or ""
        name = _callee(code, start, strings)
        if start not in taken and is_outside(text, places) and name not in _READING:
            paths.append(Argument(Field(text, None), 0, WRITE))
    if re.search(r"homedir\(\)|Dir\.home|Path\.home|\$HOME|HOME['\"\]]", code) and re.search(
        r"(?i)write|append|mkdir|save", code
    ):
        return None
    return paths


def _callee(code: str, at: int, strings: dict[int, re.Match[str]]) -> str:
    """The last part of the name of the call that this string is an argument of, the first one or a later one."""
    ends = {match.end(): start for start, match in strings.items()}
    nested = 0
    while at > 0:
        if at in ends:
            at = ends[at]
            continue
        at -= 1
        c = code[at]
        nested += 1 if c in ")]}" else 0
        if c in "([{" and nested:
            nested -= 1
        elif c == "(" or (c in ";\n" and not nested):
            break
    head = code[: at + (at == 0 or code[at] != "(")]
    callee = _CALLEE.search(head) if code[at : at + 1] == "(" else re.match(r"[\s;]*([\w.!?:>-]+)", code[at:])
    return callee[1].rpartition(".")[2].rpartition(":")[2].rpartition(">")[2] if callee else ""


def _arguments(code: str, at: int, strings: dict[int, re.Match[str]]) -> list[re.Match[str] | None]:
    """The arguments of a call as far as they are plain strings; None for any other."""
    rest = code[at:]
    at += len(rest) - len(rest.lstrip())
    if code[at : at + 1] == "(":
        at += 1
    strings_of: list[re.Match[str] | None] = []
    nested, start = 0, at
    while at <= len(code):
        c = code[at : at + 1]
        if at in strings:
            at = strings[at].end()
            continue
        if c in ("(", "[", "{"):
            nested += 1
        if (
            (c in (")", "]", "}") and nested == 0)
            or c == ""
            or (c in (";", "\n") and nested == 0)
            or (c == "," and nested == 0)
        ):
            strings_of.append(_as_string(code, start, at, strings))
            if c != ",":
                break
            start = at + 1
        elif c in (")", "]", "}"):
            nested -= 1
        at += 1
    return strings_of


def _as_string(code: str, start: int, end: int, strings: dict[int, re.Match[str]]) -> re.Match[str] | None:
    text = code[start:end]
    name = re.match(r"\s*(?:\w+\s*[=:]\s*)?", text)
    at = start + (name.end() if name else 0)
    match = strings.get(at)
    if match is None:
        return None
    is_text = (match[2] is None or not re.search(r"[#$@]", match[2])) and match[3] is None and "\\" not in match[0]
    return match if is_text and code[match.end() : end].strip() in ("", "do |f|", "do") else None


def _note(paths: list[Argument], taken: set[int], string: re.Match[str] | None, mode: str) -> None:
    if string is not None:
        taken.add(string.start())
        paths.append(Argument(Field(string[1] or string[2] or "", None), 0, mode))


def _tell_opened(language: str, arguments: list[re.Match[str] | None], paths: list[Argument], taken: set[int]) -> bool:
    """False: it may write what nobody can tell."""
    texts = [None if one is None else one[1] or one[2] or "" for one in arguments]
    if language == "perl":
        if len(texts) < 2 or texts[1] is None:
            return False
        mode = texts[1]
        if len(texts) == 2:
            return mode[:1] not in (">", "+", "|") and mode[-1:] != "|"
        if mode.lstrip()[:1] == "<" and "+" not in mode:
            return True
        if mode.lstrip()[:1] == ">" and texts[2] is not None:
            _note(paths, taken, arguments[2], WRITE)
            return True
        return False
    mode = texts[1] if len(texts) > 1 else "r"
    if mode is None:
        return False
    if any(letter in mode for letter in "wacx+"):
        if not texts or texts[0] is None:
            return False
        _note(paths, taken, arguments[0], WRITE)
    elif texts[:1] and (texts[0] or "").startswith("|"):
        return False
    return True

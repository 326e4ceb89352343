"""Python on a command line: the files that it writes, and the programs that it runs; None where something is hidden.

The tree is read, not run. A name of a file is followed through variables, pathlib, os.path and tempfile, as far as the
code says what they hold. What deletes, evaluates, or reaches a module by another way than its name is not looked into:
that is asked about. The caller judges what is told here as if a command of the line had named it, and never allows it.
"""

from __future__ import annotations

from ..nouns.analysis import CODE, DELETE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.names import names
from .inline import is_outside, quoted
from .options import Argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .inline import Places

    Node = Any  # of the module `ast`, which is never imported

MAX_LENGTH = 8000
_ONLY_TREE = 0x400  # ast.PyCF_ONLY_AST; the module `ast` costs more than a whole hook
_MAX_DEPTH = 24
_MAX_VALUES = 16

# builtins and attributes that evaluate text, or reach code by another name than its own
_HIDING = names(
    "eval exec compile __import__ globals locals breakpoint setattr delattr attrgetter methodcaller modules "
    "import_module reload runcode runsource exec_module load_module run_path run_module unsafe_load find_loader"
)
_DELETING = names("unlink rmtree rmdir removedirs send2trash truncate ftruncate remove_tree rm_rf delete_recursive")
# of the module os, and of what reaches it
_RUNNING = names(
    "system popen fork forkpty kill killpg abort chroot setuid setgid startfile posix_spawn posix_spawnp execl "
    "execle execlp execlpe execv execve execvp execvpe spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp "
    "spawnvpe create_subprocess_exec create_subprocess_shell getstatusoutput"
)
_RUNNING_MODULES = names(
    "ctypes cffi pty runpy code codeop imp marshal builtins pexpect sh plumbum invoke fabric gc _thread posix nt "
    "send2trash multiprocessing.managers importlib._bootstrap"
)
_SUBPROCESS = names("run call check_call check_output Popen getoutput")
_KEPT = names("os shutil subprocess builtins")  # modules that are only asked for something by its name
_INNER = names("os _os sys _sys subprocess shutil builtins codecs io _io posix nt")  # reached through another module
_DUNDERS = names(
    "__name__ __version__ __file__ __doc__ __path__ __len__ __all__ __annotations__ __qualname__ __module__"
)
_MOVING = names("rename renames replace move link symlink copymode copystat")  # two paths, the first one goes with some
_LEAVING = names("link symlink copymode copystat")
_COPYING = names("copy copy2 copyfile copytree")
# methods of a path, which they write
_OF_PATHS = names("write_text write_bytes touch symlink_to hardlink_to chmod lchmod")
# methods and functions whose first argument is a file that they write
_SAVING = names(
    "to_csv to_json to_parquet to_excel to_pickle to_html to_markdown to_feather to_hdf to_latex to_xml to_stata "
    "to_string tofile savefig save savetxt savez savez_compressed imsave imwrite save_pretrained save_model "
    "export write_image write_html write_file write_csv write_parquet write_json mkstemp_to make_archive serialize"
)
_ARCHIVES = names("ZipFile PyZipFile TarFile GzipFile BZ2File LZMAFile")
_TAKING_AWAY = ("drop ", "delete ", "truncate ", "attach ", "vacuum into", "load_extension", "pragma writable_schema")
# calls that only look at a path, compare it or print it
_LOOKING = names(
    "print len str repr format join abspath realpath normpath expanduser basename dirname exists isfile isdir "
    "islink getsize getmtime stat lstat listdir scandir walk glob iglob rglob iterdir Path PurePath PosixPath "
    "read_text read_bytes read_csv read_parquet read_json read_excel read_table read_sql load loads safe_load "
    "loadtxt genfromtxt parse literal_eval getenv get startswith endswith split replace strip find index count in "
    "is_relative_to relative_to match search sub findall fullmatch disk_usage which access samefile sorted list "
    "set tuple insert append extend reader DictReader open load_workbook find_spec get_docstring getsource "
    "namelist urlopen Request add is_dir is_file fspath relpath commonpath commonprefix splitext partition "
    "rpartition removeprefix removesuffix version isinstance hasattr"
)
_TEMPORARY = names(
    "mkdtemp mkstemp NamedTemporaryFile TemporaryDirectory TemporaryFile SpooledTemporaryFile gettempdir mktemp"
)


class _HiddenError(Exception):
    """Something in the code cannot be read, deletes, or runs what is not known."""


def uses_of_python(code: str, places: Places) -> list[Argument] | None:
    """What the code does to files, and what it runs; None where that cannot be said."""
    if len(code) > MAX_LENGTH:
        return None
    try:
        tree = compile(code, "<line>", "exec", _ONLY_TREE, dont_inherit=True)
        return _Reader(tree, places).read()
    except (_HiddenError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is(node: object, *kinds: str) -> bool:
    return type(node).__name__ in kinds


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for field in getattr(node, "_fields", ()):
        value = getattr(node, field, None)
        for inner in value if isinstance(value, list) else (value,):
            if hasattr(inner, "_fields"):
                yield from _walk(inner)


class _Names:
    """What names of the code stand for."""

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}  # name here -> module
        self.taken: dict[str, tuple[str, str]] = {}  # name here -> (module, name there)
        self.bound: dict[str, list[Node]] = {}  # name here -> what it is given; None: not known

    def bind(self, node: Node) -> None:
        kind = type(node).__name__
        if kind == "Import":
            for one in node.names:
                if one.name.partition(".")[0] in _RUNNING_MODULES or one.name in _RUNNING_MODULES:
                    raise _HiddenError
                self.modules[one.asname or one.name.partition(".")[0]] = (
                    one.name if one.asname else one.name.split(".")[0]
                )
        elif kind == "ImportFrom":
            if node.level or (node.module or "").partition(".")[0] in _RUNNING_MODULES:
                raise _HiddenError
            for one in node.names:
                self._take(node.module or "", one.name, one.asname or one.name)
        elif kind == "Assign":
            for target in node.targets:
                self._give(target, node.value)
        elif kind in ("AnnAssign", "NamedExpr"):
            self._give(node.target, node.value)
        elif kind == "AugAssign":
            self._give(node.target, None)
        elif kind in ("For", "AsyncFor", "comprehension"):
            self._give_each(node.target, node.iter)
        elif kind == "withitem" and node.optional_vars is not None:
            self._give(node.optional_vars, node.context_expr)
        elif kind == "arg":
            self.bound.setdefault(node.arg, []).append(None)
        elif kind in ("FunctionDef", "AsyncFunctionDef", "ClassDef") or (kind == "ExceptHandler" and node.name):
            self.bound.setdefault(node.name, []).append(None)

    def _take(self, module: str, name: str, here: str) -> None:
        if name == "*" or name in _HIDING | _DELETING | _RUNNING:
            raise _HiddenError
        if name in _KEPT or f"{module}.{name}" in _RUNNING_MODULES:
            raise _HiddenError
        if module == "os" and name == "remove":
            raise _HiddenError
        self.taken[here] = (module, name)

    def _give(self, target: Node, value: Node) -> None:
        if _is(target, "Name"):
            self.bound.setdefault(target.id, []).append(value)
        elif _is(target, "Tuple", "List"):
            elements = value.elts if _is(value, "Tuple", "List") and len(value.elts) == len(target.elts) else None
            if elements is None and _is(value, "Call") and self.name_of(value.func) == "mkstemp":
                elements = [None, value]
            for at, one in enumerate(target.elts):
                self._give(one, elements[at] if elements is not None else None)
        elif _is(target, "Starred"):
            self._give(target.value, None)
        elif _is(target, "Attribute") and _is(target.value, "Name"):
            module = self.modules.get(target.value.id)
            if module is not None and (module, target.attr) not in (("sys", "argv"), ("sys", "path")):
                raise _HiddenError  # json.dumps = ...

    def _give_each(self, target: Node, source: Node) -> None:
        if _is(target, "Name"):
            self.bound.setdefault(target.id, []).append(source)
            return
        name = self.name_of(source.func) if _is(source, "Call") else ""
        inner = source.args if name in ("enumerate", "zip", "walk") else []
        if _is(target, "Tuple") and name == "enumerate" and inner and len(target.elts) == 2:
            self._give(target.elts[0], None)
            self._give_each(target.elts[1], inner[0])
        elif _is(target, "Tuple") and name == "zip" and len(inner) == len(target.elts):
            for one, value in zip(target.elts, inner, strict=True):
                self._give_each(one, value)
        elif _is(target, "Tuple") and name == "walk" and inner:
            for at, one in enumerate(target.elts):
                self._give(one, source if not at else None)
        else:
            self._give(target, None)

    def name_of(self, node: Node) -> str:
        """The last part of what is called, by the name that it has in its module."""
        if _is(node, "Name"):
            return self.taken[node.id][1] if node.id in self.taken else str(node.id)
        return str(node.attr) if _is(node, "Attribute") else ""

    def module_of(self, node: Node) -> str:
        """The module that a function is taken from, "" where it is a method or of this code."""
        if _is(node, "Name"):
            return self.taken[node.id][0] if node.id in self.taken else ""
        if _is(node, "Attribute") and _is(node.value, "Name"):
            return self.modules.get(node.value.id, "")
        if _is(node, "Attribute") and _is(node.value, "Attribute"):  # os.path
            inner = self.module_of(node.value)
            return f"{inner}.{node.value.attr}" if inner else ""
        return ""


class _Values:
    """What an expression may hold: paths; None where that is not known."""

    def __init__(self, names: _Names, places: Places) -> None:
        self.names = names
        self.places = places
        self.depth = 0

    def of(self, node: Node) -> list[Field] | None:
        self.depth += 1
        try:
            if node is None or self.depth > _MAX_DEPTH:
                return None
            values = self._values_of(node, type(node).__name__)
            return None if values is None or len(values) > _MAX_VALUES else values
        finally:
            self.depth -= 1

    def _values_of(self, node: Node, kind: str) -> list[Field] | None:
        if kind == "Constant":
            return [Field(node.value, None)] if isinstance(node.value, str) and "\0" not in node.value else None
        if kind == "JoinedStr":
            return _joined([self.of(one) for one in node.values])
        if kind == "FormattedValue":
            return self.of(node.value)
        if kind == "Name":
            nodes = self.names.bound.get(node.id)
            return _union([self.of(one) for one in nodes]) if nodes else None
        if kind in ("List", "Tuple", "Set"):
            return _union([self.of(one) for one in node.elts]) if node.elts else None
        if kind == "IfExp":
            return _union([self.of(node.body), self.of(node.orelse)])
        if kind == "BoolOp":
            return _union([self.of(one) for one in node.values])
        if kind in ("ListComp", "GeneratorExp", "SetComp"):
            return self.of(node.elt)
        if kind == "NamedExpr":
            return self.of(node.value)
        if kind == "Subscript":
            if _is(node.value, "Attribute") and node.value.attr == "environ" and _is(node.slice, "Constant"):
                return self._variable(node.slice.value)
            return self.of(node.value) if not _is(node.value, "Dict") else None
        if kind == "BinOp":
            return self._calculated(node)
        if kind == "Attribute":
            if node.attr == "executable" and _is(node.value, "Name") and self.names.modules.get(node.value.id) == "sys":
                return [Field("python3", None)]
            base = self.of(node.value)
            if node.attr == "parent" and base is not None:
                return [_directory_of(one) for one in base]
            return base if node.attr in ("name", "value") and _is_made_by(self.names, node.value) else None
        return self._returned(node) if kind == "Call" else None

    def _calculated(self, node: Node) -> list[Field] | None:
        operator = type(node.op).__name__
        left, right = self.of(node.left), self.of(node.right)
        if operator == "Add":
            return _joined([left, right])
        if operator == "Div":
            return _below(left, right)
        if operator == "Mod" and left is not None:
            return [_up_to(one, "%") for one in left]
        return None

    def _returned(self, call: Node) -> list[Field] | None:
        name, module = self.names.name_of(call.func), self.names.module_of(call.func)
        of: Node = call.func.value if _is(call.func, "Attribute") and not module else None
        first: Node = call.args[0] if call.args else None
        if name in _TEMPORARY:
            inside = _named(call, "dir")
            base = self.of(inside[0]) if inside else [Field(self.places.temp, None)]
            return base if name == "gettempdir" else _below(base, [Field("tmp.python", None)])
        if name == "text" and "sqlalchemy" in module:
            return self.of(first)
        if name in ("getcwd", "cwd"):
            return [Field(".", None)]
        if name == "home" and not call.args:
            return [Field(self.places.home, None)]
        if name in ("getenv", "get") and (
            name == "getenv" or (_is(of, "Attribute") and of.attr == "environ") or module
        ):
            return self._variable(first.value) if _is(first, "Constant") else None
        if name == "expanduser":
            inner = self.of(of if of is not None else first)
            return None if inner is None else [_from_home(one, self.places.home) for one in inner]
        if name in ("Path", "PurePath", "PosixPath", "join", "joinpath"):
            parts = [of, *call.args] if name == "joinpath" else call.args
            if name == "join" and of is not None and module == "":
                return None  # of a string
            result: list[Field] | None = [Field(".", None)] if not parts else self.of(parts[0])
            for part in parts[1:]:
                result = _below(result, self.of(part))
            return result
        if name in (
            "str",
            "fspath",
            "abspath",
            "realpath",
            "normpath",
            "sorted",
            "list",
            "set",
            "tuple",
            "reversed",
            "iter",
            "next",
        ):
            return self.of(first)
        if of is not None and name in ("resolve", "absolute", "as_posix", "strip", "rstrip"):
            return self.of(of)
        if name in ("rglob", "iterdir") or (name == "glob" and of is not None):
            return _below(self.of(of), None)
        if name in ("glob", "iglob"):
            inner = self.of(first)
            return None if inner is None else [_pattern(one) for one in inner]
        if name in ("walk", "scandir"):
            return _below(self.of(first), None) if first is not None else _below([Field(".", None)], None)
        if name == "dirname":
            inner = self.of(first)
            return None if inner is None else [_directory_of(one) for one in inner]
        if name in ("with_suffix", "with_name", "with_stem") or (name == "replace" and _are_plain(call.args)):
            inner = self.of(of)
            return None if inner is None else _below([_directory_of(one) for one in inner], None)
        if name == "format" and of is not None:
            inner = self.of(of)
            return None if inner is None else [_up_to(one, "{") for one in inner]
        return None

    def _variable(self, name: object) -> list[Field] | None:
        if name == "HOME":
            return [Field(self.places.home, None)]
        return [Field(self.places.temp, None)] if name in ("TMPDIR", "TMP", "TEMP") else None


class _Reader:
    """Nodes are those of the module `ast`, which is never imported: they are known by the names of their classes."""

    def __init__(self, tree: Node, places: Places) -> None:
        self.nodes = list(_walk(tree))
        self.places = places
        self.names = _Names()
        self.values = _Values(self.names, places)
        self.paths: list[Argument] = []
        self.called = {id(node.func) for node in self.nodes if _is(node, "Call")}
        self.asked = {id(node.value) for node in self.nodes if _is(node, "Attribute")}

    def read(self) -> list[Argument]:
        for node in self.nodes:
            self.names.bind(node)
        if any(name in ("open", "getattr", "vars", "str") for name in (*self.names.bound, *self.names.modules)):
            raise _HiddenError
        for node in self.nodes:
            kind = type(node).__name__
            if kind == "Name":
                self._look_at_name(node)
            elif kind == "Attribute":
                self._look_at_attribute(node)
            elif kind == "Call":
                self._look_at_call(node)
        return self.paths

    def _look_at_name(self, node: Node) -> None:
        name = self.names.name_of(node)
        if name in _HIDING or (name[:2] == "__" and name not in _DUNDERS):
            raise _HiddenError
        is_called = id(node) in self.called
        if name == "open" and not is_called:
            raise _HiddenError  # by another name it could be told to write
        if node.id in self.names.taken and not is_called and self._writes(name):
            raise _HiddenError
        if self.names.modules.get(node.id) in _KEPT and id(node) not in self.asked and not _is(node.ctx, "Store"):
            raise _HiddenError
        if name in ("getattr", "vars") and not is_called:
            raise _HiddenError

    def _look_at_attribute(self, node: Node) -> None:
        name = node.attr
        if name in _HIDING and not (name == "compile" and self.names.module_of(node) in ("re", "regex", "")):
            raise _HiddenError
        if name in _DELETING or name in _RUNNING or (name[:2] == "__" and name not in _DUNDERS):
            raise _HiddenError
        module = self.names.module_of(node)
        if name == "remove" and module:
            raise _HiddenError
        if name in _INNER:
            raise _HiddenError  # shutil.os
        if id(node) not in self.called and (self._writes(name) and (module or name not in _MOVING | _COPYING)):
            raise _HiddenError
        if id(node) not in self.called and (module.partition(".")[0], name) in (
            ("numpy", "load"),
            ("os", "open"),
            ("io", "open"),
        ):
            raise _HiddenError
        if module == "subprocess" and id(node) not in self.called and name in _SUBPROCESS:
            raise _HiddenError

    def _writes(self, name: str) -> bool:
        return name in _SAVING | _OF_PATHS | _MOVING | _COPYING or name in (
            "urlretrieve",
            "connect",
            "extractall",
            "execute",
        )

    # calls

    def _look_at_call(self, call: Node) -> None:
        name, module = self.names.name_of(call.func), self.names.module_of(call.func)
        if name in ("getattr", "vars") and not module:
            self._look_at_reach(name, call)
        elif name == "open":
            self._look_at_open(call, module)
        elif name in _ARCHIVES:
            self._tell_by_mode(call, call.args[:1], [*call.args[1:2], *_named(call, "mode")])
        elif module == "subprocess" and name in _SUBPROCESS:
            self._look_at_program(name, call)
        elif name in _MOVING and self._is_of_files(name, module, call):
            self._look_at_move(name, module, call)
        elif name in _COPYING and module == "shutil":
            self._tell(WRITE, call.args[1:2] or _named(call, "dst"))
        elif name in ("mkdir", "makedirs", "chown", "utime", "mkfifo", "chmod") and module == "os":
            self._tell(WRITE, call.args[:1])
        elif name in _OF_PATHS or (name == "mkdir" and not module):
            self._tell(WRITE, [call.func.value] if _is(call.func, "Attribute") else [None])
        elif name in _SAVING:
            if call.args or _named(call, "path_or_buf", "path", "buf", "fname"):
                self._tell(WRITE, call.args[:1] or _named(call, "path_or_buf", "path", "buf", "fname"))
        elif name in ("extractall", "extract", "unpack_archive"):
            at = 0 if name == "extractall" else 1
            into = call.args[at : at + 1] or _named(call, "path", "extract_dir")
            self._tell(WRITE, into) if into else self._note(WRITE, Field(".", None))
        elif name == "urlretrieve":
            self._tell(WRITE, call.args[1:2] or _named(call, "filename") or [None])
        elif name in ("execute", "executescript", "executemany"):
            self._look_at_sql(call)
        elif name == "connect" and "sqlite" in module:
            if any(one.arg == "uri" for one in call.keywords):
                raise _HiddenError
            self._tell(WRITE, call.args[:1] or _named(call, "database"))
        elif name == "dump" and not module and len(call.args) == 1 and _is(call.args[0], "Constant"):
            self._tell(WRITE, call.args)
        elif name == "write" and _is(call.func, "Attribute") and self._is_tree(call.func.value):
            self._tell(WRITE, call.args[:1])
        elif any(one.arg == "mmap_mode" for one in call.keywords) or (name == "load" and len(call.args) > 1):
            if module.partition(".")[0] in ("numpy", "np"):
                raise _HiddenError
        elif (any(one.arg is None for one in call.keywords) and module.partition(".")[0] in ("numpy", "np")) or (
            name in ("delete", "dump") and module in ("requests", "httpx", "shutil")
        ):
            raise _HiddenError
        elif name not in _LOOKING and name not in _TEMPORARY:
            for value in (*call.args, *[one.value for one in call.keywords]):
                for field in self.values.of(value) or ():
                    text = field.stem or ""
                    if is_outside(text, self.places) and not text.startswith(self.places.temp + "/"):
                        self._note(WRITE, field)

    def _is_tree(self, node: Node) -> bool:
        """Of XML: its write() takes the name of a file."""
        nodes = self.names.bound.get(node.id, []) if _is(node, "Name") else [node]
        return any(_is(one, "Call") and self.names.name_of(one.func) in ("parse", "ElementTree") for one in nodes)

    def _look_at_reach(self, name: str, call: Node) -> None:
        """getattr(x, "name") is x.name; any other way may reach anything."""
        inner: Node = call.args[0] if call.args else None
        module = self.names.modules.get(inner.id, "") if _is(inner, "Name") else ""
        if name == "vars":
            if not call.args or module in _KEPT or module == "sys":
                raise _HiddenError
            return
        constant: Node = call.args[1] if len(call.args) > 1 else None
        if not _is(constant, "Constant") or not isinstance(constant.value, str) or module in _KEPT or module == "sys":
            raise _HiddenError
        attribute = constant.value
        if attribute in _HIDING | _DELETING | _RUNNING | _INNER or self._writes(attribute) or attribute[:2] == "__":
            raise _HiddenError

    def _look_at_open(self, call: Node, module: str) -> None:
        if any(_is(one, "Starred") for one in call.args) or any(one.arg in (None, "opener") for one in call.keywords):
            raise _HiddenError
        is_method = _is(call.func, "Attribute") and not module
        if module == "os":
            flags: Node = call.args[1] if len(call.args) > 1 else None
            if not (_is(flags, "Attribute") and flags.attr == "O_RDONLY"):
                raise _HiddenError
        elif is_method:
            mode = [*call.args[:1], *_named(call, "mode")]
            if mode and _is(mode[0], "Constant") and not _is_mode(mode[0].value):
                return  # a member of an archive, an address
            self._tell_by_mode(call, [call.func.value], mode)
        elif module != "webbrowser":
            self._tell_by_mode(
                call, call.args[:1] or _named(call, "file", "name"), [*call.args[1:2], *_named(call, "mode")]
            )

    def _tell_by_mode(self, call: Node, files: Node, mode: Node) -> None:
        if not mode:
            return
        if not _is(mode[0], "Constant") or not isinstance(mode[0].value, str):
            raise _HiddenError
        if any(letter in mode[0].value for letter in "wax+"):
            self._tell(WRITE, files or [None])

    def _look_at_program(self, name: str, call: Node) -> None:
        """The words of a list are known as those of a line are. A string is read by another shell, or by none."""
        words_node: Node = call.args[0] if call.args else None
        if (
            not _is(words_node, "List", "Tuple")
            or not words_node.elts
            or any(one.arg in ("executable", None) for one in call.keywords)
        ):
            raise _HiddenError
        words = []
        for element in words_node.elts:
            values = [] if _is(element, "Starred") else self.values.of(element) or []
            if len(values) != 1 or values[0].text is None:
                raise _HiddenError
            words.append(quoted(values[0].text))
        for where in _named(call, "cwd"):
            values = self.values.of(where) or []
            if len(values) != 1 or values[0].text is None:
                raise _HiddenError
            words = ["cd", quoted(values[0].text), "&&", *words]
        self.paths.append(Argument(Field(" ".join(words), None), 0, CODE))

    def _is_of_files(self, name: str, module: str, call: Node) -> bool:
        """str.replace takes two texts, DataFrame.rename no plain argument."""
        if module in ("os", "shutil"):
            return True
        return name in ("rename", "replace") and not module and len(call.args) == 1 and not call.keywords

    def _look_at_move(self, name: str, module: str, call: Node) -> None:
        both = call.args[:2] if module else [call.func.value, *call.args]
        if len(both) != 2:
            raise _HiddenError
        self._tell(READ if name in _LEAVING else DELETE, both[:1])
        self._tell(WRITE, both[1:])

    def _look_at_sql(self, call: Node) -> None:
        for field in self.values.of(call.args[0]) or [Field(None, None)] if call.args else ():
            text = (field.stem or "").lstrip().lower()
            if not text or any(word in text for word in _TAKING_AWAY):
                raise _HiddenError

    def _tell(self, mode: str, nodes: list[Node]) -> None:
        for node in nodes:
            fields = self.values.of(node) if node is not None else None
            if fields is None:
                if _is_stream(node):
                    continue
                raise _HiddenError
            for field in fields:
                self._note(mode, field)

    def _note(self, mode: str, field: Field) -> None:
        self.paths.append(Argument(field, 0, mode))


def _named(call: Node, *keys: str) -> list[Node]:
    return [one.value for one in call.keywords if one.arg in keys][:1]


def _is_mode(text: object) -> bool:
    return isinstance(text, str) and bool(text) and not text.strip("rwaxbtU+")


def _is_stream(node: Node) -> bool:
    """sys.stdout, io.StringIO()."""
    inner = node.func if _is(node, "Call") else node
    return _is(inner, "Attribute") and inner.attr in ("stdout", "stderr", "buffer", "StringIO", "BytesIO")


def _is_made_by(names: _Names, node: Node) -> bool:
    """f.name of a temporary file; of a path that is only its last part."""
    nodes = names.bound.get(node.id, []) if _is(node, "Name") else [node]
    return all(_is(one, "Call") and names.name_of(one.func) in _TEMPORARY for one in nodes)


def _are_plain(nodes: list[Node]) -> bool:
    """.replace(".js", ".ts") leaves a file where it is."""
    return len(nodes) == 2 and all(
        _is(one, "Constant") and isinstance(one.value, str) and "/" not in one.value and ".." not in one.value
        for one in nodes
    )


def _union(all_of: list[list[Field] | None]) -> list[Field] | None:
    union: list[Field] = []
    for one in all_of:
        if one is None:
            return None
        union += one
    return union


def _joined(parts: list[list[Field] | None]) -> list[Field] | None:
    """Texts behind each other. What is not known stands for one name, if a directory is known before it."""
    whole: list[Field] = [Field("", None)]
    for part in parts:
        if part is None:
            if any("/" not in (one.stem or "") and one.pattern_at < 0 and not one.stem for one in whole):
                return None
            whole = [_open_ended(one) for one in whole]
        else:
            whole = [_added(one, other.stem or "", other.pattern_at) for one in whole for other in part]
    return whole


def _added(field: Field, text: str, pattern_at: int = -1) -> Field:
    at = field.pattern_at if field.pattern_at >= 0 else len(field.stem or "") + pattern_at if pattern_at >= 0 else -1
    return _field((field.stem or "") + text, at)


def _field(stem: str, pattern_at: int) -> Field:
    field = Field(stem if pattern_at < 0 else None, None)
    field.stem, field.pattern_at = stem, pattern_at
    return field


def _open_ended(field: Field) -> Field:
    return _field((field.stem or "") + "?", field.pattern_at if field.pattern_at >= 0 else len(field.stem or ""))


def _below(base: list[Field] | None, names_there: list[Field] | None) -> list[Field] | None:
    if base is None:
        return None
    if names_there is None:
        return [_open_ended(_added(one, "/")) for one in base]
    return [
        other
        if (other.stem or "").startswith("/")
        else _added(one, f"/{other.stem or ''}", other.pattern_at + (other.pattern_at >= 0))
        for one in base
        for other in names_there
    ]


def _up_to(field: Field, mark: str) -> Field:
    head, separator, _ = (field.stem or "").partition(mark)
    return _open_ended(Field(head, None)) if separator else field


def _pattern(field: Field) -> Field:
    stem = field.stem or ""
    at = min([place for mark in "*?[" if (place := stem.find(mark)) >= 0], default=-1)
    return field if at < 0 else _field(stem[:at] + "?", at)


def _directory_of(field: Field) -> Field:
    stem = field.stem or ""
    head = stem.rpartition("/")[0] or ("/" if stem.startswith("/") else ".")
    return _field(head, field.pattern_at if 0 <= field.pattern_at < len(head) else -1)


def _from_home(field: Field, home: str) -> Field:
    stem = field.stem or ""
    return _field(home + stem[1:], field.pattern_at) if stem[:2] in ("~", "~/") else field

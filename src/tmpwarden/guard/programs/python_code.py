"""Python on a command line: harmless if its tree has only names, modules and attributes that read, count and print."""

from __future__ import annotations

from ..nouns.names import names

# what they hold is reached only through ATTRIBUTES; those in WRITING_TOO have namesakes there that change files
MODULES = names(
    "sys json math re collections itertools functools datetime time random statistics string textwrap base64 hashlib "
    "uuid platform ast os pathlib glob csv struct decimal fractions pprint tomllib typing operator bisect heapq "
    "difflib unicodedata zlib binascii calendar locale copy enum os.path collections.abc importlib.metadata keyword "
    "colorsys pandas numpy yaml requests urllib.request urllib.parse urllib.error socket sqlite3 "
    "xml.etree.ElementTree configparser zipfile inspect importlib.util ipaddress shutil traceback"
)
WRITING_TOO = names("os pathlib numpy shutil xml.etree.ElementTree")
_TOLD = names(
    "__version__ __file__ __path__ VERSION version get_version cuda backends"
)  # of a module that is not known
AMBIGUOUS = names("replace remove system copy write dump")
BUILTINS = names(
    "print len range str int float bool list dict set tuple frozenset sum min max sorted reversed enumerate zip map "
    "filter any all abs round repr ord chr hex oct bin isinstance type bytes bytearray open next iter divmod pow "
    "format hash id slice complex ascii callable hasattr super object input exit quit __name__ __file__ Exception "
    "ValueError KeyError IndexError TypeError OSError FileNotFoundError UnicodeDecodeError StopIteration SystemExit "
    "AttributeError ImportError NameError ZeroDivisionError RuntimeError AssertionError KeyboardInterrupt"
)
ATTRIBUTES = names(
    "argv stdin stdout stderr version version_info executable maxsize prefix byteorder path exit platform getsizeof "
    "write loads dumps load read readline readlines splitlines strip lstrip rstrip split rsplit join upper lower "
    "title capitalize startswith endswith format count index find rfind encode decode isdigit isalpha isalnum isspace "
    "zfill ljust rjust center partition rpartition removeprefix removesuffix casefold translate maketrans append "
    "extend insert pop sort reverse keys values items get update setdefault add discard union intersection difference "
    "issubset issuperset clear pi e sqrt floor ceil log log2 log10 exp pow sin cos tan gcd comb factorial inf nan "
    "isnan findall search match fullmatch sub subn finditer compile group groups groupdict start end span escape "
    "MULTILINE DOTALL IGNORECASE Counter defaultdict OrderedDict deque namedtuple most_common chain product "
    "permutations combinations islice groupby accumulate reduce partial lru_cache datetime date timedelta timezone "
    "utc now today utcnow fromtimestamp fromisoformat isoformat strftime strptime timestamp total_seconds days "
    "seconds year month day hour minute second weekday time perf_counter monotonic sleep ctime gmtime localtime "
    "random randint choice sample shuffle uniform seed mean median stdev variance ascii_letters digits dedent indent "
    "wrap fill b64encode b64decode urlsafe_b64encode hexdigest digest sha256 sha1 md5 sha512 blake2b new uuid4 uuid1 "
    "hex int machine node release python_version system processor parse literal_eval dump walk unparse listdir getcwd "
    "environ sep linesep name cpu_count getpid scandir stat lstat st_size st_mtime st_mode is_dir is_file is_symlink "
    "exists isfile isdir islink getsize getmtime basename dirname abspath realpath relpath normpath expanduser "
    "splitext commonpath commonprefix Path PurePath read_text read_bytes glob rglob iterdir stem suffix suffixes "
    "parent parents parts resolve absolute relative_to with_suffix with_name home cwd as_posix iglob reader "
    "DictReader fieldnames unpack calcsize Decimal Fraction pprint pformat itemgetter bisect_left nlargest nsmallest "
    "heappush heappop unified_diff SequenceMatcher ratio get_close_matches normalize category crc32 decompress "
    "hexlify unhexlify version_info real imag numerator denominator bit_length to_bytes from_bytes __name__ "
    "__version__ __doc__ __file__ replace remove copy month_name day_name flush getenv uname sysname nodename "
    "metadata body lineno end_lineno targets FunctionDef AsyncFunctionDef ClassDef Import ImportFrom iter_child_nodes "
    "get_docstring cuda mps is_available device_count "
    # pandas: what reads and counts; of the rest each may be told a file to write
    "read_csv read_parquet read_json read_excel read_table DataFrame Series head tail describe info columns dtypes "
    "shape size iloc loc value_counts sort_values sort_index nunique unique isna isnull notna notnull fillna dropna "
    "drop_duplicates duplicated astype agg merge concat reset_index set_index corr quantile std var cumsum "
    "iterrows itertuples to_datetime to_numeric to_dict tolist to_string pivot_table crosstab nlargest dt str between "
    "isin max min sum groupby "
    # numpy; yaml; what asks a server, as curl does; sqlite3, of which _is_asked sees the statement
    "mean dtype ndim array arange zeros ones linspace argmax argmin argsort reshape T flatten ravel isinf where dot "
    "loadtxt genfromtxt float32 float64 int64 int32 nbytes safe_load safe_load_all "
    "request urlopen status getcode headers quote unquote urlencode urlparse parse_qs post json text status_code ok "
    "content raise_for_status socket connect connect_ex settimeout close gethostbyname gethostname AF_INET SOCK_STREAM "
    "execute fetchall fetchone cursor description get_version "
    "linalg norm getroot tag attrib iter findtext iterfind ElementTree ConfigParser sections options has_section "
    "ZipFile namelist infolist getinfo filename file_size getsource getdoc signature util find_spec origin "
    "ip_network ip_address hosts num_addresses is_private which disk_usage free total used get_terminal_size "
    "print_exc format_exc"
)
_WATCHED = (
    "open",
    "to_string",
    "execute",
    "connect",
    "load",
)  # write or not by what they are told: only called, by this name
_ASKING = ("select ", "explain ", "pragma table_info", "pragma index_list")
_SHAPES = ("index", "header", "max_rows", "max_cols", "columns", "justify", "na_rep")  # not buf: that is a file
MAX_LENGTH = 8000
_ONLY_TREE = 0x400  # ast.PyCF_ONLY_AST; the module `ast` costs more than a whole hook
_STATEMENTS = names(
    "Module Expr Assign AugAssign AnnAssign For While If With Try ExceptHandler Return Import ImportFrom alias "
    "FunctionDef arguments arg Pass Break Continue Delete Assert Raise withitem match_case Load Store Del"
)
_EXPRESSIONS = names(
    "BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp comprehension "
    "Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple Slice keyword Yield "
    "YieldFrom And Or Not Invert UAdd USub Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd "
    "FloorDiv Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn"
)


def is_harmless_python(code: str) -> bool:
    if len(code) > MAX_LENGTH:
        return False
    try:
        tree = compile(code, "<line>", "exec", _ONLY_TREE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(_walk(tree))
    own = {node.id for node in nodes if _is(node, "Name") and not _is(node.ctx, "Load")}
    own |= {node.arg for node in nodes if _is(node, "arg")}
    own |= {node.name for node in nodes if _is(node, "FunctionDef") or (_is(node, "ExceptHandler") and node.name)}
    own |= {(one.asname or one.name).partition(".")[0] for node in nodes if _is(node, "Import") for one in node.names}
    own |= {one.asname or one.name for node in nodes if _is(node, "ImportFrom") for one in node.names}
    called = {id(node.func) for node in nodes if _is(node, "Call")}
    if any(_name_of(node) in _WATCHED and id(node) not in called for node in nodes):
        return False  # by another name it could be told to write
    touches_files = any(module in WRITING_TOO for node in nodes for module in _modules(node))
    return _strangers_only_told(nodes) and all(_is_fine(node, own, touches_files) for node in nodes)


def _strangers_only_told(nodes: list) -> bool:  # type: ignore[type-arg]
    """Any module may be imported, as any script may be run; of one that is not known only a version is read."""
    strangers = {
        one.asname or one.name.partition(".")[0]
        for node in nodes
        for one in (node.names if _modules(node) else ())
        if (one.name if _is(node, "Import") else node.module) not in MODULES
    }
    told = {id(node.value) for node in nodes if _is(node, "Attribute") and node.attr in _TOLD}
    used = [node for node in nodes if _is(node, "Name") and node.id in strangers]
    return "*" not in strangers and all(id(node) in told for node in used)


def _name_of(node) -> str:  # type: ignore[no-untyped-def]
    return node.id if _is(node, "Name") else node.attr if _is(node, "Attribute") else ""


def _is(node: object, kind: str) -> bool:
    return type(node).__name__ == kind


def _walk(node: object):  # type: ignore[no-untyped-def]
    yield node
    for field in getattr(node, "_fields", ()):
        value = getattr(node, field, None)
        for inner in value if isinstance(value, list) else (value,):
            if hasattr(inner, "_fields"):
                yield from _walk(inner)


def _modules(node: object) -> list[str]:
    if _is(node, "Import"):
        return [one.name for one in node.names]  # type: ignore[attr-defined]
    return [node.module or ""] if _is(node, "ImportFrom") else []  # type: ignore[attr-defined]


def _is_fine(node: object, own: set[str], touches_files: bool) -> bool:
    kind = type(node).__name__
    if kind not in _STATEMENTS and kind not in _EXPRESSIONS:
        return False
    if kind in ("Import", "ImportFrom"):
        is_known = all(module in MODULES for module in _modules(node))
        told = [one.name for one in node.names] if kind == "ImportFrom" and is_known else []  # type: ignore[attr-defined]
        return not getattr(node, "level", 0) and all(
            _is_read(name, touches_files) and name not in _WATCHED for name in told
        )
    if kind == "Attribute":
        return _is(node.ctx, "Load") and _is_read(node.attr, touches_files)  # type: ignore[attr-defined]
    if kind == "Name":
        name = node.id  # type: ignore[attr-defined]
        return (name in BUILTINS and name not in own) or (name in own and name not in BUILTINS)
    if kind == "Call" and _is(node.func, "Name") and node.func.id == "open":  # type: ignore[attr-defined]
        return _only_reads(node)
    if kind == "Call" and _is(node.func, "Attribute"):  # type: ignore[attr-defined]
        return _is_asked(node)
    return kind != "keyword" or node.arg not in (None, "mmap_mode")  # type: ignore[attr-defined]


def _is_asked(call) -> bool:  # type: ignore[no-untyped-def]
    """Methods that write or not by what they are told."""
    if call.func.attr == "to_string":
        return not call.args and all(one.arg in _SHAPES for one in call.keywords)
    if call.func.attr in ("load", "ZipFile"):
        return len(call.args) == 1 and not call.keywords  # the mode is the second
    told = call.args[0].value if call.args and _is(call.args[0], "Constant") else ""
    if call.func.attr == "execute":
        return isinstance(told, str) and told.lstrip().lower().startswith(_ASKING)
    is_address = bool(call.args) and _is(call.args[0], "Tuple")
    is_near = isinstance(told, str) and told[:1] not in ("", "/") and ".." not in told and ":" not in told
    return call.func.attr != "connect" or is_address or is_near


def _is_read(name: str, touches_files: bool) -> bool:
    return name in ATTRIBUTES and not (touches_files and name in AMBIGUOUS)


def _only_reads(call) -> bool:  # type: ignore[no-untyped-def]
    """open(FILE) and open(FILE, "r")."""
    modes = [one.value for one in call.keywords if one.arg == "mode"] + call.args[1:2]
    if len(call.args) > 2 or any(one.arg not in ("mode", "encoding", "errors", "newline") for one in call.keywords):
        return False
    return all(_is(mode, "Constant") and mode.value in ("r", "rb", "rt") for mode in modes)

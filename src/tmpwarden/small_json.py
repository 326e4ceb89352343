"""JSON without the json module, which alone costs more than a whole hook. Hot path: `_json` is loaded when asked for.

One reader for payloads, leases, compiled rules and package.json: what any of them could trip over, none does.
"""

import sys
from _frozen_importlib import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


class _Lenient:
    """What the C scanner asks its decoder for. Agents put control characters into strings, and NaN is no number."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: "dict[str, str]" = {}  # noqa: RUF012 - the scanner clears it after each document

    @staticmethod
    def parse_constant(_name: str) -> None:
        return None


def decode_object(json_text: "str | bytes") -> "dict[str, object] | None":
    """The object at the head of a text, or None for anything else: torn, deep, not UTF-8. Never raises."""
    try:
        text = json_text.decode() if isinstance(json_text, bytes) else json_text
        value, _ = _scanner()(text, len(text) - len(text.lstrip()))
    # SystemError: the C scanner has no JSONDecodeError to raise for a torn text as long as nobody imported json
    except (ValueError, StopIteration, RecursionError, MemoryError, SystemError):
        return None
    return value if isinstance(value, dict) else None


def _scanner() -> "Callable[[str, int], tuple[object, int]]":
    fast = _fast_half()
    if fast is not None:
        return fast.make_scanner(_Lenient)  # type: ignore[no-any-return]
    from json.scanner import make_scanner

    return make_scanner(_Lenient)  # type: ignore[arg-type]


def quoted(text: str) -> str:
    """A JSON string in ASCII, with its quotes."""
    fast = _fast_half()
    if fast is not None:
        return fast.encode_basestring_ascii(text)  # type: ignore[no-any-return]
    from json.encoder import encode_basestring_ascii

    return encode_basestring_ascii(text)


def _fast_half() -> "ModuleType | None":
    """`_json`, where an interpreter has it. From the place where it lies: the import system looks into each directory
    of the path before, which takes as long as loading it does."""
    name = "_json"
    if name in sys.modules or name in sys.builtin_module_names:
        return __import__(name)
    directory = [path for path in sys.path if path.endswith("/lib-dynload")]
    try:
        from _imp import create_dynamic, exec_dynamic, extension_suffixes

        spec = ModuleSpec(name, None, origin=f"{directory[0]}/{name}{extension_suffixes()[0]}")
        module = create_dynamic(spec)
        exec_dynamic(module)
    except (ImportError, OSError, IndexError):
        try:
            return __import__(name)
        except ImportError:
            return None
    sys.modules[name] = module
    return module


def encode(value: object) -> str:
    """JSON text in ASCII of what `decode_object` gives."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(str(key))}:{encode(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(encode, value)) + "]"
    if isinstance(value, int):
        return repr(value)
    return repr(value) if isinstance(value, float) and abs(value) < float("inf") else "null"


def dumps(value: object, *, compact: bool = False) -> str:
    """What `json.dumps` writes, by the encoder in C that it uses, and without `re`, which it imports."""
    encoder = _encoders.get(compact) or _encoder(compact)
    try:
        return "".join(encoder(value, 0))
    except BaseException:
        _encoders.clear()  # it remembers what it was in the middle of
        raise


_encoders: "dict[bool, Callable[[object, int], tuple[str, ...]]]" = {}


def _encoder(compact: bool) -> "Callable[[object, int], tuple[str, ...]]":
    between, behind = (",", ":") if compact else (", ", ": ")
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        from json import JSONEncoder

        slow = JSONEncoder(separators=(between, behind))
        return lambda value, _: (slow.encode(value),)
    encoder = make_encoder({}, _refuse, encode_basestring_ascii, None, behind, between, False, False, True)
    return _encoders.setdefault(compact, encoder)


def _refuse(value: object) -> object:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

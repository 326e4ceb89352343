"""Which version of an agent calls us. Unknown is an empty tuple, and is not new. Hot path."""

from ... import small_json
from ...bundle import are_unchanged, read_private
from ...small_files import read
from ...stamped import stamp
from .. import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...model.facts import Facts

Version = tuple[int, ...]
_INTERPRETERS = ("node", "bun", "deno")
_PLATFORMS = ("linux", "darwin", "win32", "_")  # what may follow the numbers; an alpha of a version is older than it
_HIGHEST = 6  # directories above a program that may hold its package.json
_LONGEST, _LONGEST_NUMBER = 1 << 18, 100


def version_of(
    facts: "Facts",
    environ: "Mapping[bytes, bytes]",
    payload: "dict[str, object]",
    program: "Callable[[], str]",
    memory: str = "",
) -> Version:
    """The first of `version_from` that tells it. `memory`: a file that remembers what a program's package said."""
    for source in facts["version_from"]:
        kind, _, name = source.partition(":")
        if kind == "environment":
            version = numbers(environ.get(name.encode(), b"").decode("utf-8", "replace"))
        elif kind == "payload":
            version = numbers(str(payload.get(name, "")))
        elif kind == "program":
            version = numbers(program().rpartition("/")[2])
        else:
            version = _remembered(program(), name, memory)
        if version:
            return version
    return ()


def numbers(text: str) -> Version:
    """`2.1.325`, `claude-code_2-1-325_harness`, `0.166.0-linux-x64` -> (2, 1, 325), ...; anything else is unknown."""
    if not text[:1].isdigit():
        text = text.partition("_")[2]
    end = 0
    while text[end : end + 1].isdigit() or (text[end : end + 1] in (".", "-") and text[end + 1 : end + 2].isdigit()):
        end += 1
    rest = text[end:].lstrip("-")
    parts = text[:end].replace("-", ".").split(".")
    if not text.isascii() or not all(map(str.isdigit, parts)) or (rest and not rest.startswith(_PLATFORMS)):
        return ()
    return tuple(map(int, parts)) if end < _LONGEST_NUMBER else ()


def program_of(pid: int) -> str:
    """The file that a process runs: its program, or an interpreter's script."""
    program = system.hot.program(pid)
    if not program.rpartition("/")[2].startswith(_INTERPRETERS):
        return program
    words = system.hot.arguments(pid, 1 << 16)
    return next((word for word in words[1:] if word.startswith("/")), "")


def program_on_path(facts: "Facts", path: str | None = None) -> str:
    """The file behind the agent's command, links followed; empty if there is none."""
    import os
    from shutil import which

    paths = (which(program, path=path) for program in facts["programs"])
    return next((os.path.realpath(one) for one in paths if one), "")


def _remembered(program: str, package: str, memory: str) -> Version:
    """As `_beside`, which is asked again only when the program has changed."""
    if not program:
        return ()
    known = small_json.decode_object(read_private(memory, _LONGEST) or b"") if memory else None
    if known is not None and known.get("program") == program:
        stamps, version = known.get("stamps"), known.get("version")
        if isinstance(stamps, list) and isinstance(version, str) and are_unchanged(stamps):
            return numbers(version)
    stamps, version = stamp((program,)), _beside(program, package)
    if memory:
        _remember(memory, {"program": program, "stamps": stamps, "version": version})
    return numbers(version)


def _remember(memory: str, known: "dict[str, object]") -> None:
    from ..files.atomic import write

    try:
        write(memory, small_json.encode(known))
    except OSError:
        pass  # the next call looks again


def _beside(program: str, package: str) -> str:
    """The version in the package.json that lies in or above the program's directory and has this name."""
    directory = program
    for _ in range(_HIGHEST):
        directory = directory.rpartition("/")[0]
        if not directory:
            break
        manifest = small_json.decode_object(read(f"{directory}/package.json", _LONGEST, flags=0) or b"") or {}
        name, version = manifest.get("name"), manifest.get("version")
        if isinstance(name, str) and isinstance(version, str) and (name == package or name.startswith(f"{package}-")):
            return version
    return ""

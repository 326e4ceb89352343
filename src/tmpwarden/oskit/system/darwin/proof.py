"""Whether what macOS says of processes has been proven on this very build: a child of ours uses things in ways that we
know, and a look must find each of them, at the right place, and nothing else.

The structures that we read are Apple's promise, and none of its builds has been seen by us. A test that passed counts
for that build of the system, that library and this edition of tmpwarden; until then nobody is believed to be gone.
Hooks ask for the result before a tool call, so this module alone is light: `self_test` is what tries it.
"""

from __future__ import annotations

import os
import zlib

from .... import small_files, small_json
from . import layouts, libproc, machine

IS_UNATTENDED = False  # only a person's own run, until our CI on Macs has proven an edition

_RESULT = "macos-proof.json"
_LONGEST = 4096
_UNTESTED = "what macOS tells about processes has not been tested on this build yet: run `tmpwarden doctor`"
_known: dict[str, str] = {}  # of whom -> doubt


def doubt(state: str) -> str:
    """Why nobody may be believed to be gone, in words; "" where that has been proven here."""
    whom = _whom()
    if whom in _known:
        return _known[whom]
    kept = small_json.decode_object(small_files.read_text(f"{state}/{_RESULT}", _LONGEST))
    why = kept.get("why") if kept is not None and kept.get("whom") == whom else None
    if not isinstance(why, str):
        return _UNTESTED
    _known[whom] = why
    return why


def test(state: str) -> str:
    """The same after trying it out; `state`: where a result may be kept."""
    if doubt(state) == "":
        return ""
    from ...files import state_file
    from . import self_test

    whom = _whom()
    try:
        why = self_test.tried(f"{state}/macos-proof-{os.getpid()}")
    except OSError as error:
        return f"what macOS tells about processes could not be tested: {error.strerror}"  # not kept: tried again
    _known[whom] = why
    state_file.write(f"{state}/{_RESULT}", {"whom": whom, "why": why})
    return why


def _whom() -> str:
    """The build of the system, the library it tells by, and what we make of its answers."""
    try:
        status = os.stat(libproc.LIBRARY)
        library = f"{status.st_size}:{status.st_mtime_ns}"
    except OSError:
        library = "in the shared cache of its build"  # where macOS keeps its libraries
    ours = zlib.crc32(repr(sorted((name, value) for name, value in vars(layouts).items() if name.isupper())).encode())
    return f"{machine.build()} {library} {_edition()} {ours}"


def _edition() -> str:
    from .... import __version__

    return __version__

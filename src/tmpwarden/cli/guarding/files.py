"""Which files hold the guard's rules for this call, and what they say together."""

from __future__ import annotations

import os
import sys

from ...errors import BadArgument, BadConfig
from ...guard.rules.compiled import config_files
from ...guard.rules.config import NO_PRESET, Loaded, load, preset_names
from ...oskit.files import places
from ...text import shown
from ..call import Call


def loaded(call: Call, preset: str | None) -> Loaded:
    for name in preset.split(",") if preset is not None else ():
        if name not in (*preset_names(), NO_PRESET):
            raise BadArgument(f"there is no preset {shown(name)}", hint=f"there are {', '.join(preset_names())}")
    found = load(() if preset else files(call), preset=preset, temp_roots=temp_roots())
    call.warn(*map(str, found.mistakes))
    return found


def files(call: Call) -> tuple[str, ...]:
    if call.config_file is None:
        return config_files(places.config_dir())
    if not os.path.exists(call.config_file):
        raise BadConfig(shown(call.config_file), "there is no such file")
    return (call.config_file,)


def temp_roots() -> tuple[str, ...]:
    """/tmp, by both of its names where it has two (macOS)."""
    return ("/tmp", "/private/tmp") if sys.platform == "darwin" else ("/tmp",)

"""Make or find the scratch of the session that calls. Not on the hot path: most calls find it written down."""

import os

from ...leases import scratch
from ...model.belongings import Scratch
from ...oskit.files.places import temp_roots
from .hook_call import HookCall
from .session_scratch import remember


def open_scratch(call: HookCall) -> Scratch:
    """And write down where it is. Raises UnsafeScratch or NoSpace."""
    made = scratch.open_scratch(
        temp_roots()[0],
        call.dialect.agent,
        call.session,
        pid=call.dialect.owner_pid(call.environ, call.payload),
        config_home=os.environ.get(call.dialect.facts["variable"]) or None,
        sandboxed=call.dialect.is_sandboxed(call.environ, call.payload),
    )
    remember(call, made.path)
    return made

"""The temp directories that agents' settings name: without one, every mktemp of that agent's commands fails."""

import os
from collections.abc import Iterator

from ...errors import UnsafeScratch
from ...leases.static_temp import directories
from ...model.sweep import Diagnosis
from ...oskit.files import own_dirs, places
from ...text import quoted, shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    paths = directories(places.state_dir())
    wrong = [problem for path in paths if (problem := _problem(path))]
    yield from wrong
    if not wrong:
        summary = "the temp directories that agents' settings name are there."
        yield Diagnosis("tempdirs", "ok", summary if paths else "no agent's settings name a temp directory of ours.")


def _problem(path: str) -> Diagnosis | None:
    agent = os.path.basename(path)
    try:
        os.close(own_dirs.open_private_dir(path, make=False))
    except FileNotFoundError:
        summary = f"{agent} sends its commands to {shown(path)}, which does not exist: every mktemp of theirs fails."
        return Diagnosis("tempdirs", "fail", summary, "", f"mkdir -p -m 700 -- {quoted(path)}")
    except (OSError, UnsafeScratch) as problem:
        summary = f"{agent} sends its commands to {shown(path)}, which cannot be used: {problem}."
        return Diagnosis("tempdirs", "fail", summary, "", f"tmpwarden setup --remove  # {agent} then uses /tmp")
    return None

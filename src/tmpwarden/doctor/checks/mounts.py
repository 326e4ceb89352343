"""Mount options that change what ages mean."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit.proc.namespaces import MountTable
from ...text import shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    table = MountTable.of()
    unread = [root for root in patient.roots if table is not None and "noatime" in table.options(root)]
    if not unread:
        yield Diagnosis("mounts", "ok", "reading a file in the temp roots is noticed.")
        return
    words = ", ".join(map(shown, unread))
    summary = f"{words} is mounted noatime: being read does not make a file younger there, only being changed does."
    yield Diagnosis("mounts", "ok", summary)

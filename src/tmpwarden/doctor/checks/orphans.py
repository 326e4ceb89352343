"""Processes that outlived their agent: the ports they block, the memory and the temp files they hold."""

from collections.abc import Iterator

from ...model.processes import Fate, Orphan
from ...model.sweep import Diagnosis
from ...processes.find import look
from ...text import plural, shown, size
from ..patient import Patient

_MUCH_MEMORY = 512 << 20


def check(patient: Patient) -> Iterator[Diagnosis]:
    found = [one for one in look(patient.roots, config_file=patient.request.config_file) if one.fate is Fate.END]
    if not found:
        yield Diagnosis("orphans", "ok", "no process has outlived its agent.")
        return
    memory, held = sum(one.memory_bytes for one in found), sum(one.held_bytes for one in found)
    ports = sorted({port for one in found for port in one.ports})
    words = [plural(len(found), "process has outlived its agent", "processes have outlived their agents")]
    words.append(f"holding {size(memory)} of memory")
    words += [f"{size(held)} of temp files"] if held else []
    words += [f"and the port{'s' if len(ports) > 1 else ''} {', '.join(map(str, ports))}"] if ports else []
    matters = bool(ports) or held > 0 or memory >= _MUCH_MEMORY
    status = "warn" if matters else "ok"
    yield Diagnosis("orphans", status, " ".join(words) + ".", _named(found), "tmpwarden orphans end" if matters else "")


def _named(found: list[Orphan]) -> str:
    biggest = sorted(found, key=lambda one: -one.memory_bytes)[:3]
    return "; ".join(f"{one.pid} {shown(one.command[:60])}" for one in biggest)

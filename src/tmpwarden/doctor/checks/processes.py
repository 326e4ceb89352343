"""Processes: what outlived its agent, and what could not be looked into."""

from collections.abc import Iterator

from ...model.answers import Held, Nobody, NotMeasured
from ...model.processes import Fate, Orphan
from ...model.sweep import Diagnosis, Keep
from ...model.terms import OwnerState, Reason
from ...oskit.files import kernel_word
from ...oskit.proc import proven
from ...processes.find import look
from ...text import plural, shown, size
from ..patient import Patient

_MUCH_MEMORY = 512 << 20


def check_orphans(patient: Patient) -> Iterator[Diagnosis]:
    """Processes that outlived their agent: the ports they block, the memory and the temp files they hold."""
    if why := proven.doubt():
        yield Diagnosis("orphans", "unknown", f"what outlived its agent could not be checked here: {why}.")
        return
    processes = look(patient.roots, config_file=patient.request.config_file, may_note=patient.may_probe)
    orphans = [one for one in processes if one.fate is Fate.END]
    if not orphans:
        yield Diagnosis("orphans", "ok", "no process has outlived its agent.")
        return
    memory, held = sum(one.memory_bytes for one in orphans), sum(one.held_bytes for one in orphans)
    ports = sorted({port for one in orphans for port in one.ports})
    words = [plural(len(orphans), "process has outlived its agent", "processes have outlived their agents")]
    words.append(f"holding {size(memory)} of memory")
    words += [f"{size(held)} of temp files"] if held else []
    words += [f"and the port{'s' if len(ports) > 1 else ''} {', '.join(map(str, ports))}"] if ports else []
    matters = bool(ports) or held > 0 or memory >= _MUCH_MEMORY
    status = "warn" if matters else "ok"
    yield Diagnosis(
        "orphans", status, " ".join(words) + ".", _programs_text(orphans), "tmpwarden orphans end" if matters else ""
    )


def _programs_text(orphans: list[Orphan]) -> str:
    biggest = sorted(orphans, key=lambda one: -one.memory_bytes)[:3]
    return "; ".join(f"{one.pid} {shown(one.command[:60])}" for one in biggest)


_MUCH_LITTER = 100 << 20
_BY_ENVIRONMENT = (Reason.TMPDIR, Reason.SESSION)


def check_inherited(patient: Patient) -> Iterator[Diagnosis]:
    """Big units of dead sessions that stay only because some process inherited their TMPDIR or session id."""
    kept = [
        verdict
        for verdict in patient.verdicts
        if isinstance(verdict, Keep)
        and verdict.reason in _BY_ENVIRONMENT
        and verdict.evidence.owner.state is not OwnerState.ALIVE
        and verdict.evidence.measure is not None
        and verdict.evidence.measure.bytes >= _MUCH_LITTER
    ]
    for verdict in sorted(kept, key=lambda v: -(v.evidence.measure.bytes if v.evidence.measure else 0))[:3]:
        users, measure = verdict.evidence.users, verdict.evidence.measure
        witness = users.by[0] if isinstance(users, Held) else None
        if witness is None or measure is None or witness.pid is None:
            continue
        summary = (
            f"{size(measure.bytes)} in {shown(verdict.finding.path)} are kept because"
            f" {shown(witness.command or 'a process')} (pid {witness.pid}) still belongs to their session."
        )
        yield Diagnosis("inherited", "warn", summary, witness.detail, f"kill {witness.pid}; tmpwarden clean")
    if not kept:
        yield Diagnosis("inherited", "ok", "no large item is kept only because a process inherited its environment.")


def check_unseen(patient: Patient) -> Iterator[Diagnosis]:
    """Somebody who cannot be looked at: what that costs, and where it keeps everything."""
    world = patient.prepared.weigher.world
    match world.holders.unseen:
        case Nobody():
            yield Diagnosis("unseen", "ok", "every process that could use your files can be inspected.")
        case NotMeasured(why) as doubt if not doubt.askable:
            summary = f"it could not be checked who uses your files, so they are kept: {shown(why)}."
            yield Diagnosis("unseen", "warn", summary)
        case NotMeasured(why):
            yield from _in_doubt(patient, shown(why))


def _in_doubt(patient: Patient, why: str) -> Iterator[Diagnosis]:
    mounts = patient.prepared.weigher.world.mounts
    mute = [root for root in patient.roots if kernel_word.foreseen(mounts.filesystem(root) if mounts else None, 1)]
    for root in mute:
        kind = (mounts.filesystem(root) if mounts else None) or "its file system"
        summary = (
            f"nothing in {shown(root)} is removed automatically: {why}, and on {kind} the kernel cannot answer instead."
        )
        detail = "mount a tmpfs or a volume there, as `docker run --tmpfs /tmp` does; `tmpwarden teardown` still works"
        yield Diagnosis("unseen", "warn", summary, detail)
    if not mute:
        summary = "some processes cannot be inspected, so items are only moved to quarantine after asking the kernel."
        yield Diagnosis("unseen", "ok", summary, why)

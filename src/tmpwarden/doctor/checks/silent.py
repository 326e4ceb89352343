"""Agents that fail without a word when temp is full: versions that print nothing but "Exit code 1"."""

import os
from collections.abc import Iterator
from functools import partial

from ...agent_facts import FACTS
from ...model.sweep import Diagnosis
from ...oskit.proc.agent_version import program_on_path, version_of
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    path = patient.environ.get("PATH", os.defpath)
    is_known = False
    for facts in FACTS.values():
        if not facts["silent"] or not (program := program_on_path(facts, path)):
            continue
        version = version_of(facts, {}, {}, partial(str, program))
        if not version:  # to run it and ask would take a second and write files
            continue
        is_known = True
        since, until = facts["silent"]
        told = f"{facts['name']} {_spelled(version)}"
        if since <= version < until:
            summary = f"{told} answers a full temp directory with `Exit code 1` and nothing else."
            detail = f"{_spelled(until)} and later say what is wrong"
            yield Diagnosis("silent", "warn", summary, detail, facts["update"])
        else:
            yield Diagnosis("silent", "ok", f"{told} says so when its temp directory is full.")
    if not is_known:
        yield Diagnosis("silent", "ok", "no agent version is known here that fails in silence.")


def _spelled(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))

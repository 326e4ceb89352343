"""`tmpwarden doctor`: why does my agent fail."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click

from ...doctor.examine import examine
from ...doctor.patient import Patient
from ...model.request import Request
from ...model.sweep import Diagnosis
from ...oskit.files import places
from ...setup import health
from .. import documents
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import all_users_option, for_whom
from . import TABLE

_MARKS = {"fail": "FAIL", "warn": "warn", "unknown": "?", "ok": "ok"}


@click.command()
@click.option("--no-probe", is_flag=True, help="Do not make the test write of 64 KiB.")
@click.option("-v", "--verbose", is_flag=True, help="Also tell what is in order.")
@all_users_option
@pass_call
def command(call: Call, no_probe: bool, verbose: bool, all_users: bool) -> Answer:
    """Why does my agent fail: one sentence of cause, one command to run, the worst first.

    Works with a full temp directory. The only thing it writes is a test file of 64 KiB, gone at once (--no-probe).
    Exit status 2 when something fails.
    """
    return for_whom(call, all_users, lambda: answered(call, no_probe, verbose))


def answered(call: Call, no_probe: bool, verbose: bool) -> Answer:
    if call.roots:
        places.temp_roots(call.roots)  # what the call itself got wrong is its error, and no finding
    patient = Patient(
        Request(roots=call.roots, config_file=call.config_file),
        os.environ,
        may_probe=not no_probe,
        hooks=health.of_hooks(),
        timer=health.of_timer(),
        instead_of_timer=health.instead_of_timer(),
        now_ns=call.now_ns,
        can_rescue=any(name == "rescue" for _, name, _ in TABLE),
    )
    found = examine(patient)
    failing = any(diagnosis.status == "fail" for diagnosis in found)
    told = [documents.of(d, "check", "status", "summary", "detail", "remedy") for d in found]
    return Answer({"diagnoses": told}, lambda: _lines(found, verbose), 2 if failing else 0)


def _lines(found: Sequence[Diagnosis], verbose: bool) -> Iterator[str]:
    told = [d for d in found if verbose or d.status != "ok"]
    for diagnosis in told:
        yield f"{_MARKS[diagnosis.status]:<5} {diagnosis.summary}"
        if diagnosis.detail:
            yield f"      {diagnosis.detail}"
        if diagnosis.remedy:
            yield f"      run: {diagnosis.remedy}"
    if not told:
        yield "Nothing is wrong with the temp directories here."
    if not verbose:
        for diagnosis in found:
            if diagnosis.status == "ok" and diagnosis.remedy:
                yield f"hint  {diagnosis.summary} {diagnosis.remedy}"

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
from ..paint import Painter
from . import TABLE

_STYLES = {"fail": "full", "warn": "warn", "unknown": "warn", "ok": "ok"}
_MARKS = {"fail": "FAIL", "warn": "warn", "unknown": "?", "ok": "ok"}


@click.command()
@click.option("--no-probe", is_flag=True, help="Skip the 64 KiB test write.")
@click.option("-v", "--verbose", is_flag=True, help="Also list the checks that passed.")
@all_users_option
@pass_call
def command(call: Call, no_probe: bool, verbose: bool, all_users: bool) -> Answer:
    """Find out why an agent's commands fail. For each problem: one sentence and one command, the worst first.

    Works on a full disk. It writes only a 64 KiB test file, which it removes at once (--no-probe: not even that).
    Exit status 2 if a check fails.
    """
    return for_whom(call, all_users, lambda: answer(call, no_probe, verbose))


def answer(call: Call, no_probe: bool, verbose: bool) -> Answer:
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
    diagnoses = examine(patient)
    failing = any(diagnosis.status == "fail" for diagnosis in diagnoses)
    documents_ = [documents.of(d, "check", "status", "summary", "detail", "remedy") for d in diagnoses]
    return Answer({"diagnoses": documents_}, lambda: _lines(diagnoses, verbose), 2 if failing else 0)


def _lines(diagnoses: Sequence[Diagnosis], verbose: bool) -> Iterator[str]:
    shown_diagnoses = [d for d in diagnoses if verbose or d.status != "ok"]
    paint = Painter()
    for diagnosis in shown_diagnoses:
        mark = _MARKS[diagnosis.status]
        yield f"{paint(mark, _STYLES[diagnosis.status])}{' ' * (6 - len(mark))}{diagnosis.summary}"
        if diagnosis.detail:
            yield from (f"      {point}" for point in _points(diagnosis.detail))
        if diagnosis.remedy:
            yield f"      run: {paint(diagnosis.remedy, 'command')}"
    if not shown_diagnoses:
        yield "No problems found."
    if not verbose:
        for diagnosis in diagnoses:
            if diagnosis.status == "ok" and diagnosis.remedy:
                yield f"{paint('hint', 'head')}  {diagnosis.summary}"
                yield f"      run: {paint(diagnosis.remedy, 'command')}"


def _points(detail: str) -> list[str]:
    """A line for each point: a detail of three of them is no sentence that anybody reads."""
    return detail.split("; ")

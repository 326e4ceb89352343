"""Agents that fail without a word when temp is full: versions that print nothing but "Exit code 1"."""

import json
import os
import re
import shutil
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ..patient import Patient

_FIRST_SILENT, _FIRST_SPEAKING = (2, 1, 50), (2, 1, 153)
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_LARGEST = 1 << 20


def check(patient: Patient) -> Iterator[Diagnosis]:
    version = _version(patient.environ.get("PATH", os.defpath))
    if version is None:
        yield Diagnosis("silent", "ok", "no agent version is known here that fails in silence.")
        return
    words = ".".join(map(str, version))
    if _FIRST_SILENT <= version < _FIRST_SPEAKING:
        summary = f"Claude Code {words} answers a full temp directory with `Exit code 1` and nothing else."
        yield Diagnosis("silent", "warn", summary, "2.1.153 and later say what is wrong", "claude update")
    else:
        yield Diagnosis("silent", "ok", f"Claude Code {words} says so when its temp directory is full.")


def _version(path: str) -> tuple[int, ...] | None:
    """From the program's own name (the native installer's `versions/2.1.100`), else from the package beside it: to run
    it would take a second and write files."""
    program = shutil.which("claude", path=path)
    real = os.path.realpath(program) if program else ""
    if _VERSION.fullmatch(os.path.basename(real)):
        return tuple(map(int, os.path.basename(real).split(".")))
    folder = os.path.dirname(real)
    for _ in range(3):
        if not folder or folder == "/":
            return None
        found = _package_version(f"{folder}/package.json")
        if found:
            return found
        folder = os.path.dirname(folder)
    return None


def _package_version(path: str) -> tuple[int, ...] | None:
    try:
        with open(path, encoding="utf-8") as file:
            package = json.loads(file.read(_LARGEST))
        if "claude-code" not in package["name"]:
            return None
        return tuple(int(part) for part in package["version"].split(".")[:3])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None

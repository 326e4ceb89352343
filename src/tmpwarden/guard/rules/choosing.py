"""Which presets and packs are in force: `presets` of the last file that says so, packs of packs spelled out."""

from __future__ import annotations

import os

from .source import Mistake, Source, read

PRESETS_DIR = os.path.join(os.path.dirname(__file__), "presets")
DEFAULT_PRESET = "sandbox"
NO_PRESET = "none"


def preset_names() -> tuple[str, ...]:
    return tuple(sorted(name[:-5] for name in os.listdir(PRESETS_DIR) if name.endswith(".toml")))


def preset_sources(names: tuple[str, ...]) -> list[Source]:
    """The files behind these names, each once, behind those that it extends: `destructive` is all of its packs."""
    found: dict[str, Source] = {}
    for name in names:
        _add(name, found)
    return list(found.values())


def _add(name: str, found: dict[str, Source]) -> None:
    if name == NO_PRESET or name in found:
        return
    source = read(os.path.join(PRESETS_DIR, f"{name}.toml"), name)
    base = source.document.get("extends", [])
    for below in base if isinstance(base, list) else [base]:
        _add(str(below), found)
    found[name] = source


def chosen(files: list[Source]) -> tuple[tuple[str, ...], list[Mistake]]:
    """The last file that sets `guard.presets` (or `preset`) wins; nobody set it: the sandbox."""
    names, mistakes = (DEFAULT_PRESET,), []
    for source in files:
        guard = source.document.get("guard")
        keys = [key for key in ("presets", "preset") if isinstance(guard, dict) and key in guard]
        if not keys or not isinstance(guard, dict):
            continue
        value = guard[keys[0]]
        wanted = tuple(value) if isinstance(value, list) else (value,)
        known = (*preset_names(), NO_PRESET)
        wrong = [name for name in wanted if name not in known]
        where = f"guard.{keys[0]}"
        if len(keys) > 1:
            mistakes.append(source.mistake(where, "preset and presets mean the same; keep one of them"))
        elif wrong:
            choice = ", ".join(known)
            mistakes.append(source.mistake(where, f"there is no preset {wrong[0]!r}; there are {choice}"))
        else:
            names = wanted
    return names, mistakes

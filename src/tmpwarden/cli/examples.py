"""The examples at the end of every --help: what people really type, from examples.txt. A test runs each of them."""

from __future__ import annotations

import os
from functools import cache

import click

Example = tuple[str, str]  # what to type after `tmpwarden`, what it does
_WIDEST = 76  # columns of the 80 that click writes, behind its indent
_FILE = os.path.join(os.path.dirname(__file__), "examples.txt")


@cache
def examples() -> dict[str, list[Example]]:
    """By the command that they are for: `worktrees proof`; of `tmpwarden` alone by an empty name."""
    found: dict[str, list[Example]] = {}
    path = ""
    with open(_FILE, encoding="utf-8") as lines:
        for line in lines:
            typed, _, does = line.rstrip("\n").partition("  # ")
            words = typed.strip().removeprefix("tmpwarden").strip()
            if does:
                found[path].append((words, does))
            elif words.endswith(":"):
                path = words.removesuffix(":")
                found[path] = []
    return found


def attach(command: click.Command, path: str) -> None:
    """Below the options of the command that is called `tmpwarden PATH`."""
    lines = examples().get(path)
    if lines and not command.epilog:
        command.epilog = "\b\nExamples:\n" + "\n".join(_aligned(lines))


def _aligned(lines: list[Example]) -> list[str]:
    """One line each where that fits, else what it does on the line below."""
    typed = [f"  tmpwarden {words}".rstrip() for words, _ in lines]
    column = max(map(len, typed)) + 2
    if all(column + len(does) <= _WIDEST for _, does in lines):
        return [f"{words:<{column}}{does}" for words, (_, does) in zip(typed, lines, strict=True)]
    return [line for words, (_, does) in zip(typed, lines, strict=True) for line in (words, f"      {does}")]

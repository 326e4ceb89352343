"""Every built-in row proves itself: its file decodes, its examples hold, and a wrong pattern turns them red."""

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from support.regexes import names_of, narrowed, widened
from tmpwarden.catalogue.decode import decode
from tmpwarden.catalogue.load import BUILT_IN, load
from tmpwarden.catalogue.patterns import FLAGS, name_pattern, split_place
from tmpwarden.leases.registries import FORMATS
from tmpwarden.model.sweep import Litter
from tmpwarden.model.terms import Kind, Tier

FILES = sorted(Path(BUILT_IN).glob("*.toml"))
ROWS = {row.key: row for row in load(dirs=()).rows}
TAKEN = {key: row for key, row in ROWS.items() if row.tier is not Tier.NEVER}
SIX = ("claude", "codex", "gemini", "copilot", "opencode", "qwen")
# What a human's own tools make too: nobody may take it unasked.
SHARED_TOOLS = {
    "node",
    "go",
    "pytest",
    "pip",
    "uv",
    "vitest",
    "tsx",
    "playwright",
    "chrome",
    "cargo",
    "rust-tempfile",
    "npm",
    "pnpm",
    "mktemp",
    "bun",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_built_in_file_keeps_the_laws_of_rows(file: Path) -> None:
    agent, complaints = decode(file.read_text(), file.name, builtin=True)
    assert complaints == () and agent is not None
    assert agent.id == file.stem


def test_loading_trusts_built_in_files_but_reads_all_of_them() -> None:
    catalogue = load(dirs=())
    assert catalogue.warnings == ()
    assert len(catalogue.agents) == len(FILES) >= 20
    assert set(SIX) <= {agent.id for agent in catalogue.agents}


def test_no_two_rows_share_a_key() -> None:
    assert [key for key, count in Counter(row.key for row in load(dirs=()).rows).items() if count > 1] == []


def test_what_humans_make_too_is_only_asked_about() -> None:
    assert [key for key, row in TAKEN.items() if row.agent in SHARED_TOOLS and row.tier is Tier.AUTO] == []


def test_every_registry_named_has_a_reader() -> None:
    assert {agent.registry for agent in load(dirs=()).agents if agent.registry} <= set(FORMATS)


def test_every_row_that_is_beaten_exists() -> None:
    assert {loser for row in ROWS.values() for loser in row.beats} <= set(ROWS)


def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(name_pattern(pattern, 1000), FLAGS)


def is_red(row: Litter, mutant: str) -> bool:
    """Whether the row's examples would fail with this pattern."""
    pattern = compiled(mutant)
    return not all(map(pattern.fullmatch, row.matches)) or any(map(pattern.fullmatch, row.spares))


def is_the_same(row: Litter, mutant: str) -> bool:
    """Whether two hundred names of the mutant are all names of the row: then nothing was widened."""
    names = list(names_of(name_pattern(mutant, 1000), Random(row.key), 200))
    return all(map(compiled(row.name).fullmatch, names))


@pytest.mark.parametrize("key", TAKEN)
def test_a_pattern_that_takes_more_turns_red(key: str) -> None:
    row = TAKEN[key]
    survivors = [what for what, mutant in widened(row.name) if not is_red(row, mutant) and not is_the_same(row, mutant)]
    assert survivors == [], row.name


@pytest.mark.parametrize("key", ROWS)
def test_a_pattern_that_knows_less_turns_red(key: str) -> None:
    row = ROWS[key]
    assert [what for what, mutant in narrowed(row.name) if mutant and not is_red(row, mutant)] == [], row.name


def kinds(row: Litter) -> set[Kind]:
    return {Kind.FILE, Kind.DIR, Kind.SOCKET, Kind.OTHER} if row.kind is Kind.ANY else {row.kind}


def may_meet(one: Litter, other: Litter) -> bool:
    """Whether both can see the same entry: same kind, and places that can be the same directory."""
    (base, parts), (other_base, other_parts) = split_place(one.place), split_place(other.place)
    if base != other_base or len(parts) != len(other_parts) or not kinds(one) & kinds(other):
        return False
    return all(globs_meet(part, there) for part, there in zip(parts, other_parts, strict=True))


def globs_meet(one: str, other: str) -> bool:
    for glob, text in ((one, other), (other, one)):
        if re.fullmatch(".*".join(map(re.escape, glob.split("*"))), text):
            return True
    return False


def test_no_two_rows_claim_the_same_name_at_the_same_place() -> None:
    """Unless one is `never` or says `beats`. All examples and sixty random names of each row are tried on others."""
    clashes = []
    rows = list(TAKEN.values())
    for row in rows:
        names = [*row.matches, *names_of(name_pattern(row.name, 1000), Random(row.key), 60)]
        for other in rows:
            if row is other or row.key in other.beats or other.key in row.beats or not may_meet(row, other):
                continue
            fits = compiled(other.name).fullmatch
            clashes += [f"{row.key} {other.key} {name}" for name in names if fits(name)][:1]
    assert clashes == []


def test_no_row_swallows_a_directory_that_another_row_looks_into() -> None:
    """Units are outermost matches: a row that took `tw` whole would hide `tw/<scratch>`. Empty directories may go."""
    hidden = []
    for row in ROWS.values():
        base, parts = split_place(row.place)
        for depth, part in enumerate(parts):
            for other in ROWS.values():
                above_base, above = split_place(other.place)
                if above_base != base or len(above) != depth or "empty-dir" in other.checks or "*" in part:
                    continue
                if list(parts[:depth]) != list(above) and "*" in "".join(parts[:depth]):
                    continue  # it looks into many places, and is hidden in one of them only
                fits = all(globs_meet(a, b) for a, b in zip(parts[:depth], above, strict=True))
                if fits and Kind.DIR in kinds(other) and compiled(other.name).fullmatch(part.replace("{uid}", "1000")):
                    hidden.append(f"{other.key} hides {row.key}")
    assert hidden == []

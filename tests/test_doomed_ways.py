"""Who may destroy, and who may say that something is to be destroyed: each module by name, with its reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test_layers import SRC, modules, nodes_of

# Functions that unlink, or free the bytes of a file for good, and why that module may.
UNLINKS = {
    "oskit/files/emptier.py": "empties what is doomed",
    "oskit/files/roll.py": "the same, by a roll",
    "oskit/files/inplace.py": "the same, where it lies",
    "oskit/files/purge.py": "one doomed file where it lies",
    "oskit/files/own_files.py": "a doomed small file; directories that are empty",
    "oskit/files/take.py": "the other name of a file that it has just linked; a directory that it has just made",
    "oskit/files/atomic.py": "a draft that it has just made, and our reserve",
    "oskit/files/space.py": "an empty directory that it has just made, to see whether one can be made",
}
PUNCHES = {"oskit/files/punch.py": "the file that a person names"}
MAKERS = {
    "judged": {"processes/punching.py", "sweep/take/purger.py", "sweep/take/taking.py", "sweep/take/without_room.py"},
    "expired": {"sweep/store/quarantine.py"},
    "resumed": {"sweep/store/quarantine.py", "sweep/store/settle.py", "sweep/take/without_room.py"},
    "own": {"oskit/files/purge.py", "oskit/files/own_files.py", "session/directory.py"},
}
# What builds an `own` by itself, so who calls it is listed too.
OWN = {
    "purge_own": {
        "leases/scratch.py", "repos/rescue/store.py", "repos/worktrees/compose.py", "session/directory.py",
        "setup/record.py", "sweep/store/way_back.py",
    },
    "remove_file": {
        "cli/commands/off.py", "cli/commands/config.py", "doctor/checks/space.py", "hooks/events/jobs.py",
        "leases/lease_files.py", "leases/scratch.py", "lifecycle/private_tmp.py", "oskit/system/darwin/self_test.py",
        "repos/rescue/restore.py",
        "repos/rescue/notice.py", "session/directory.py", "setup/apply.py", "setup/everything.py",
        "sweep/store/labels.py", "sweep/store/quarantine.py",
    },
}  # fmt: skip
DESTROYERS = {"punch", "purge", "unlink_same", "purge_in_place", "remove_tree"}
GONE_FOR_GOOD = {"unlink", "remove", "rmdir", "rmtree", "removedirs"}


def names_used(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Every function that is called or handed on, by its last name."""
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def users_of(*words: str, below: str = "") -> set[str]:
    found = set()
    for path, _, _ in modules():
        place = str(path.relative_to(SRC))
        if place.startswith(below) and not set(words).isdisjoint(names_used(nodes_of(path))):
            found.add(place)
    return found


def unlinking(path: Path) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in GONE_FOR_GOOD
        and isinstance(node.value, ast.Name)
        and node.value.id in {"os", "shutil", "posix"}
        for node in nodes_of(path)
    )


def test_only_these_modules_unlink() -> None:
    assert {str(path.relative_to(SRC)) for path, _, _ in modules() if unlinking(path)} == set(UNLINKS)


def test_only_these_modules_free_a_part_of_a_file() -> None:
    assert users_of("_fallocate", "fallocate", below="oskit") == set(PUNCHES)


@pytest.mark.parametrize("maker", MAKERS)
def test_only_these_modules_call_a_maker(maker: str) -> None:
    importing = {
        str(path.relative_to(SRC))
        for path, _, _ in modules()
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").rpartition(".")[2] == "doomed"
        and maker in {alias.name for alias in node.names}
    }
    assert importing == MAKERS[maker]
    assert not any(
        isinstance(node, ast.ImportFrom | ast.Import) and "doomed" in {alias.name for alias in node.names}
        for path, _, _ in modules()
        for node in nodes_of(path)
    ), "the makers are imported by their names, or this test does not see who calls them"


@pytest.mark.parametrize("way", OWN)
def test_only_these_modules_destroy_what_is_our_own(way: str) -> None:
    assert users_of(way) - {"oskit/files/own_files.py", "oskit/files/purge.py"} == OWN[way]


def test_only_the_makers_have_the_key() -> None:
    assert users_of("_KEY") & users_of("Doomed") == {"oskit/files/doomed.py"}
    built = [
        str(path.relative_to(SRC))
        for path, _, _ in modules()
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Doomed"
    ]
    assert built == ["oskit/files/doomed.py"] * len(MAKERS)


def test_every_function_that_destroys_takes_a_doomed_first() -> None:
    for path, here, _ in modules():
        if here != "oskit":
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef) and node.name in DESTROYERS and node.args.args[:1] != []:
                first = node.args.args[0]
                if first.arg != "self":
                    assert first.annotation is not None and "Doomed" in ast.unparse(first.annotation), node.name

"""Directories of ours are opened in one module; whoever opens another directory by its path says here which it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import tmpwarden

SOURCE = Path(tmpwarden.__file__).parent
ROOMS = ("oskit/files", "sweep", "leases", "session")  # those that know directories of ours
DOOR = "oskit/files/own_dirs.py"

# (module, function): what it opens by path, and why that is not a directory of ours
BY_PATH = {
    ("oskit/files/disk.py", "is_plain"): "what a command names, for the guard: looked at, never written",
    ("oskit/files/same_mount.py", "mount_id"): "whatever a mount is asked about: looked at, never written",
    ("oskit/files/opening.py", "entry_names"): "whatever its caller names, and that is asked here as well",
    ("oskit/files/places.py", "_is_empty_dir"): "a .git in a temp root: looked at, never written",
    ("oskit/files/dated.py", "dated_tree"): "what a command said that it makes: looked at, never written",
    ("oskit/files/disk.py", "entries"): "names in the scratch, told to a model: nothing is opened",
    ("oskit/files/disk.py", "startup_paths"): "what a shell reads at its start: looked at, never written",
    ("oskit/files/walk.py", "bytes_at"): "whatever is weighed for a person: looked at, never written",
    ("sweep/find/kept_state.py", "_files"): "what agents keep in the home: sized, never written",
    ("sweep/find/named.py", "_is_empty_directory"): "what a person named right in a temp root: looked at",
    ("sweep/find/scan.py", "find"): "a temp root or a home",
    ("sweep/find/scan.py", "open_below"): "a temp root or a home; what is below it goes by descriptor",
    ("sweep/find/named.py", "_below"): "what a person's pattern may mean",
    ("sweep/store/undo.py", "_move"): "the directory that the user named with --to",
    ("sweep/store/way_back.py", "_mend_at"): "where an undo that was killed brought something: a temp root, or --to",
    ("sweep/store/history.py", "_newest"): "the directory of litter that an observing hook saw",
    ("sweep/lock.py", "_open"): "what exists of the way to a state directory that cannot be made, for flock only",
    ("sweep/store/labels.py", "_private_below"): "a temp root, for names; each directory is opened by the door",
    ("leases/registries.py", "names_in"): "an agent's registry",
}
OPENERS = {"open_dir", "listdir", "scandir", "entry_names"}
FLAGS = ("O_DIRECTORY", "O_PATH", "_DIRECTORY", "_PINNED", "_LOOK")


def calls(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.Call]]:
    for node in ast.iter_child_nodes(tree):
        inside = node.name if isinstance(node, ast.FunctionDef) else function
        if isinstance(node, ast.Call):
            yield inside, node
        yield from calls(node, inside)


def opens_by_path(call: ast.Call) -> bool:
    """Whether a directory is opened or listed by a path, and not by a descriptor or relative to one."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if any(word.arg == "dir_fd" for word in call.keywords):
        return False
    if name == "open" and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "os":
        return any(flag in ast.unparse(argument) for argument in call.args[1:2] for flag in FLAGS)
    if name not in OPENERS or (name == "open_dir" and len(call.args) > 1):
        return False
    return not ast.unparse(call.args[0]).endswith("fd")


def test_who_opens_a_directory_by_path_is_known_and_does_not_mean_ours() -> None:
    found = {
        (str(path.relative_to(SOURCE)), function)
        for room in ROOMS
        for path in sorted((SOURCE / room).rglob("*.py"))
        if str(path.relative_to(SOURCE)) != DOOR
        for function, call in calls(ast.parse(path.read_text()))
        if opens_by_path(call)
    }
    unknown = found - BY_PATH.keys()
    assert not unknown, f"open directories of ours through {DOOR}; another one is named in BY_PATH: {sorted(unknown)}"
    assert not BY_PATH.keys() - found, "these do not exist any more"


def test_nobody_hands_the_path_of_a_directory_of_ours_to_a_call_that_opens_it() -> None:
    """By its name such a path is for words; `quarantine.opened` and `own_dirs` take it apart."""
    named = ("ours(", "quarantine(", "beside(", "of_home(", ".directory", "state_dir(")
    for path in sorted(SOURCE.rglob("*.py")):
        for function, call in calls(ast.parse(path.read_text())):
            if opens_by_path(call):
                assert not any(word in ast.unparse(call.args[0]) for word in named), f"{path}: {function}"


def test_the_test_sees_what_it_is_for() -> None:
    seen = [
        "walk.open_dir(quarantine.beside(root))",
        "os.listdir(f'{root}/tmpwarden-{uid}')",
        "os.open(path, os.O_RDONLY | os.O_DIRECTORY)",
        "os.scandir(entry.directory)",
    ]
    passed = ["walk.open_dir(name, dir_fd=fd)", "open_dir('..', fd)", "os.listdir(self.fd)", "os.open(file, flags)"]
    for source, expected in [(source, True) for source in seen] + [(source, False) for source in passed]:
        ((_, call),) = [each for each in calls(ast.parse(source)) if "tmpwarden-" not in ast.unparse(each[1].func)][:1]
        assert opens_by_path(call) is expected, source

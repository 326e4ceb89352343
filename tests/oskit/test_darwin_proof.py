"""The self-test of a Mac, over live processes here: it passes where all is told, and names what is not."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import on_darwin
from tmpwarden.oskit import system
from tmpwarden.oskit.system.darwin import everybody, layouts, libproc, machine, proof, vnodes


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return on_darwin.built(tmp_path_factory.mktemp("library"))


@pytest.fixture(autouse=True)
def mac(library: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = libproc.LIBRARY
    kept = {name: vars(system).get(name) for name in on_darwin.ASKED}
    on_darwin.switch(library)
    monkeypatch.setenv("FAKE_SINCE", "")
    monkeypatch.setenv("FAKE_OURS", "")
    on_darwin.since()
    monkeypatch.setattr(proof, "_known", {})
    yield
    libproc.LIBRARY = before
    for name, module in kept.items():
        vars(system).pop(name) if module is None else setattr(system, name, module)


@pytest.fixture
def state(own_world: Path) -> str:
    return str(own_world / "state" / "tmpwarden")


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process, which knows what was kept and no more."""
    monkeypatch.setattr(proof, "_known", {})


def test_nobody_is_believed_until_it_passed_and_then_by_every_later_run(
    state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "has not been tested" in proof.doubt(state)
    assert proof.test(state) == ""
    forget(monkeypatch)
    assert proof.doubt(state) == ""
    assert os.listdir(state) == ["macos-proof.json"], "what it held is gone"
    assert not proof.IS_UNATTENDED


@pytest.mark.parametrize("changed", ["build", "library", "layout"])
def test_another_build_library_or_layout_is_tested_anew(
    state: str, changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert proof.test(state) == ""
    forget(monkeypatch)
    if changed == "build":
        monkeypatch.setattr(machine, "build", lambda: "25B78")
    elif changed == "library":
        monkeypatch.setattr(libproc, "LIBRARY", on_darwin.built(tmp_path))
    else:
        monkeypatch.setattr(layouts, "VNODE_FILE", 9)
    assert "has not been tested" in proof.doubt(state)


def test_a_system_that_leaves_something_out_fails_by_name_and_stays_failed(
    state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vnodes, "mapped", lambda pid, *, closely=False: iter(()))
    assert proof.test(state) == "macOS did not tell that a process of ours has a file mapped into its memory"
    forget(monkeypatch)
    assert "mapped" in proof.doubt(state)
    assert "mapped" in json.loads(Path(state, "macos-proof.json").read_text())["why"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("VNODE_FILE", 16, "has"),  # another field in its place
        ("PATH_IN_VNODE", 160, "right path"),
        ("UNIQUE_ID", 24, "who started"),
        ("UNIQUE_PARENT", 16, "who started"),
    ],
)
def test_a_layout_that_is_not_the_systems_does_not_pass(
    state: str, name: str, value: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layouts, name, value)
    why = proof.test(state)
    assert said in why


def test_hidden_variables_of_our_own_child_do_not_pass(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As below the Python that Apple ships, whose programs macOS keeps silent about."""
    monkeypatch.setenv("FAKE_HIDDEN", "python")
    assert "environment" in proof.test(state)


def test_what_could_not_be_tried_is_no_result(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everybody.Pass, "look", lambda self: (_ for _ in ()).throw(OSError(1, "not permitted")))
    assert "could not be tested: not permitted" in proof.test(state)
    assert not Path(state, "macos-proof.json").exists()

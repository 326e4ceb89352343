"""Where a system's word is not yet proven by our own CI, only a person removes, until config.toml says otherwise."""

import os
import time
from pathlib import Path

import pytest

import tmpwarden
from tmpwarden.model.request import Request
from tmpwarden.model.terms import Reason
from tmpwarden.oskit import system
from tmpwarden.sweep.weigh.unattended import NOT_ALLOWED, refusal

_DAY_NS = 86_400 * 10**9


@pytest.fixture
def a_mac_that_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its self-test says that processes can be seen, as Linux' can."""
    monkeypatch.setattr(system.proof, "IS_UNATTENDED", False)


@pytest.fixture
def marker(own_world: Path) -> Path:
    path = own_world / "tmp" / "claude-1a2b-cwd"
    path.write_text("/home/me\n")
    os.utime(path, ns=(time.time_ns() - 9 * _DAY_NS,) * 2)
    return path


def later() -> int:
    return time.time_ns() + 9 * _DAY_NS


def allow(own_world: Path) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"], "tmpwarden")
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text("[macos]\nremove = true\n")


def test_a_run_without_a_person_removes_nothing_and_says_why(a_mac_that_passed: None, marker: Path) -> None:
    result = tmpwarden.clean(Request(unattended=True), now_ns=later)
    assert marker.exists()
    assert {(keep.reason, keep.detail) for keep in result.kept} == {(Reason.NOT_MEASURED, NOT_ALLOWED)}


def test_a_persons_clean_works(a_mac_that_passed: None, marker: Path) -> None:
    tmpwarden.clean(Request(), now_ns=later)
    assert not marker.exists()


def test_the_users_word_lets_every_run_remove(a_mac_that_passed: None, marker: Path, own_world: Path) -> None:
    assert refusal() == NOT_ALLOWED
    allow(own_world)
    assert refusal() == ""
    tmpwarden.clean(Request(unattended=True), now_ns=later)
    assert not marker.exists()


def test_where_the_self_test_failed_the_users_word_changes_nothing(
    a_mac_that_passed: None, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(own_world)
    monkeypatch.setattr(system.proof, "doubt", lambda state: "it did not see a mapped file")
    assert refusal() == "it did not see a mapped file"


def test_a_doubt_about_the_system_is_told_with_every_scan(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system.proof, "test", lambda state: "it did not see a mapped file")
    assert "tmpwarden only looks here and removes nothing: it did not see a mapped file" in tmpwarden.scan().warnings

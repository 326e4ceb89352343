"""Names by their shape: what is shown for many can be named in a command, and means them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmpwarden.sweep.find.strangers import literal, matcher, merged, shape

names = st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=60)
words = st.from_regex(re.compile(r"[a-z]{2,8}"), fullmatch=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orch-4f2a", "orch-*"),
        ("orch-1a2b3c4d-0001", "orch-*"),
        ("orch-deadbeef", "orch-*"),
        ("orch-config", "orch-config"),
        ("tmpab3_9xqz", "tmp*"),
        ("tmpqwertyui.json", "tmp*.json"),
        ("tmp.aBcDeFgHiJ", "tmp.*"),
        ("report-2026-11-16.txt", "report-*.txt"),
        ("go-build1234567", "go-build*"),
        ("3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11", "[0-9]*"),
        ("systemd-private-3f0e2c5a7b1d-nginx.service-x8D9s0", "systemd-private-*-nginx.service-*"),
        ("My Documents", "My Documents"),
        ("notes[1].txt", "notes[[]*].txt"),
    ],
)
def test_names_have_the_shape_that_people_see_in_them(name: str, expected: str) -> None:
    assert shape(name) == expected


@given(names)
def test_a_shape_matches_the_name_it_was_made_of_and_never_means_everything(name: str) -> None:
    assert matcher(shape(name)).match(name)
    assert shape(name) not in ("*", "")


@given(names, names)
def test_a_literal_matches_its_name_alone(name: str, other: str) -> None:
    assert matcher(literal(name)).match(name)
    assert bool(matcher(literal(name)).match(other)) == (name == other)


@given(words, st.integers(0, 10**12), st.integers(0, 10**12))
def test_names_that_differ_in_a_number_have_one_shape(word: str, one: int, other: int) -> None:
    assert shape(f"{word}-{one}") == shape(f"{word}-{other}") == f"{word}-*"


@given(st.lists(names, max_size=30))
def test_every_shape_is_told_under_one_that_matches_all_its_names(found: list[str]) -> None:
    shapes = [shape(name) for name in found]
    told = merged(shapes)
    assert set(told) == set(shapes)
    for name in found:
        if "[" not in shape(name):  # an escaped name is told as it is
            assert matcher(told[shape(name)]).match(name)


def test_few_names_that_vary_join_those_that_cover_them() -> None:
    told = merged(["orch-*", "orch-facade", "other", "job-alpha", "job-beta", "job-gamma", "run-a", "run-b"])
    assert told["orch-facade"] == "orch-*"
    assert {told[f"job-{each}"] for each in ("alpha", "beta", "gamma")} == {"job-*"}
    assert (told["other"], told["run-a"], told["run-b"]) == ("other", "run-a", "run-b")

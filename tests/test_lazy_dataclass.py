"""Our dataclass does what the standard one does, as far as our nouns use it; and nothing of it before it is used."""

import copy
import dataclasses
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmpwarden import lazy_dataclass as lazy


def shapes(kind: object) -> dict[str, type]:
    """The same classes by either decorator."""
    made = kind

    @made.dataclass(frozen=True, slots=True)
    class Frozen:
        name: str
        size: int = 3
        seen: tuple[str, ...] = made.field(default_factory=tuple)

        @property
        def told(self) -> str:
            return f"{self.name} {self.size}"

    @made.dataclass(slots=True)
    class Open:
        name: str
        found: list[int] = made.field(default_factory=list)

    @made.dataclass(frozen=True, slots=True)
    class Heir(Frozen):
        more: bool = False

    @made.dataclass
    class Loose:
        name: str = "x"

    @made.dataclass(frozen=True, slots=True)
    class Empty:
        pass

    return {each.__name__: each for each in (Frozen, Open, Heir, Loose, Empty)}


OURS, THEIRS = shapes(lazy), shapes(dataclasses)
CALLS = [
    ("Frozen", ("a",), {}),
    ("Frozen", ("a", 1, ("b",)), {}),
    ("Frozen", (), {"size": 1, "name": "a"}),
    ("Open", ("a",), {}),
    ("Open", ("a", [1]), {}),
    ("Heir", ("a", 1, (), True), {}),
    ("Heir", ("a",), {"more": True}),
    ("Loose", (), {}),
    ("Empty", (), {}),
    ("Frozen", (), {}),
    ("Frozen", ("a",), {"other": 1}),
    ("Open", ("a", [], 1), {}),
]


@pytest.fixture(params=["one of the first", "one of many"])
def ours(request: pytest.FixtureRequest) -> dict[str, type]:
    """Classes of which nothing is compiled yet, and such of which all is."""
    if request.param == "one of the first":
        return shapes(lazy)
    for name, args, named in CALLS[:9]:
        for _ in range(lazy._FEW + 1):
            OURS[name](*args, **named)
    return OURS


@pytest.mark.parametrize(("name", "args", "named"), CALLS, ids=str)
def test_an_instance_is_what_the_standard_one_would_be(
    ours: dict[str, type], name: str, args: tuple, named: dict
) -> None:
    try:
        theirs = THEIRS[name](*args, **named)
    except TypeError:
        with pytest.raises(TypeError):
            ours[name](*args, **named)
        return
    ours = ours[name](*args, **named)
    assert repr(ours) == repr(theirs)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert ours.__match_args__ == theirs.__match_args__
    assert getattr(ours, "__slots__", None) == getattr(theirs, "__slots__", None)
    assert (type(ours).__hash__ is None) == (type(theirs).__hash__ is None)
    assert hasattr(ours, "__dict__") == hasattr(theirs, "__dict__")


@given(st.text(), st.integers(), st.text(), st.integers())
def test_equal_and_hashed_by_value_and_by_class(name: str, size: int, other_name: str, other_size: int) -> None:
    one, two = OURS["Frozen"](name, size), OURS["Frozen"](other_name, other_size)
    assert (one == two) == ((name, size) == (other_name, other_size))
    assert one == OURS["Frozen"](name, size) and hash(one) == hash(OURS["Frozen"](name, size))
    assert one != OURS["Heir"](name, size)


def test_a_frozen_one_cannot_be_changed() -> None:
    frozen = OURS["Frozen"]("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        frozen.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del frozen.name
    assert frozen.name == "a"


def test_no_two_instances_share_what_was_made_for_one() -> None:
    one, two = OURS["Open"]("a"), OURS["Open"]("b")
    one.found.append(1)
    assert two.found == []


@pytest.mark.parametrize("replace", [lazy.replace, dataclasses.replace])
def test_replace_changes_a_copy(replace: object) -> None:
    first = OURS["Heir"]("a", 1, ("s",))
    second = replace(first, size=2)
    assert (first.size, second.size, second.seen, type(second)) == (1, 2, ("s",), OURS["Heir"])
    with pytest.raises(TypeError):
        replace(first, nothing=1)


def test_copies_and_pickles_are_equal() -> None:
    from tmpwarden.model.sweep import Owner
    from tmpwarden.model.terms import OwnerState

    owner = Owner(OwnerState.DEAD, 4)
    assert pickle.loads(pickle.dumps(owner)) == copy.copy(owner) == copy.deepcopy(owner) == owner


def test_nothing_is_compiled_for_a_few_instances() -> None:
    fresh = shapes(lazy)["Frozen"]
    before = fresh.__init__
    for _ in range(lazy._FEW):
        assert fresh("a", seen=("x",)).told == "a 3"
    assert fresh.__init__ is before
    assert fresh("b").told == "b 3"
    assert fresh.__init__ is not before


def test_two_of_the_first_share_nothing_that_was_made_for_one() -> None:
    fresh = shapes(lazy)["Open"]
    one, two = fresh("a"), fresh("b")
    one.found.append(1)
    assert two.found == []

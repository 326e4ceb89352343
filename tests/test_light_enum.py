"""Our words do what the standard Enum's do, as far as anybody here asks them; and `enum` is not imported for them."""

import copy
import enum
import pickle
import subprocess
import sys

import pytest

from tmpwarden.light_enum import Enum
from tmpwarden.model import processes, terms
from tmpwarden.repos import merged, repository
from tmpwarden.worktrees import proof

MODULES = (terms, processes, merged, repository, proof)
WORDS = [
    each for module in MODULES for each in vars(module).values() if isinstance(each, type(Enum)) and each is not Enum
]


@pytest.mark.parametrize("ours", WORDS, ids=lambda each: each.__name__)
def test_the_words_are_those_that_the_standard_enum_makes(ours: type) -> None:
    theirs = enum.Enum(ours.__name__, {word.name: word.value for word in ours}, module=ours.__module__)
    assert [(word.name, word.value, str(word), repr(word)) for word in ours] == [
        (word.name, word.value, str(word), repr(word)) for word in theirs
    ]
    assert len(ours) == len(theirs)
    for word in ours:
        assert ours(word.value) is word
        assert ours(word) is word
        assert getattr(ours, word.name) is word
        assert copy.deepcopy(word) is word
        assert pickle.loads(pickle.dumps(word)) is word
        assert isinstance(word, ours)


def test_words_of_two_kinds_are_never_equal() -> None:
    assert terms.WitnessKind.LEASE.value == terms.Reason.LEASE.value
    assert terms.WitnessKind.LEASE != terms.Reason.LEASE
    assert len({terms.WitnessKind.LEASE, terms.Reason.LEASE}) == 2


def test_a_value_that_no_word_has_is_refused_as_the_standard_enum_does() -> None:
    with pytest.raises(ValueError, match="'gone' is not a valid Kind"):
        terms.Kind("gone")
    with pytest.raises(ValueError, match="is not a valid Kind"):
        terms.Kind([])


def test_two_words_with_one_value_are_refused() -> None:
    with pytest.raises(ValueError, match="B has the value of A"):

        class _Twice(Enum):
            A = "same"
            B = "same"


def test_a_word_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        terms.Kind.FILE = terms.Kind.DIR
    with pytest.raises(AttributeError):
        terms.Kind.FILE.value = "dir"
    assert terms.Kind.FILE.value == "file"


def test_a_method_of_a_kind_of_words_is_no_word() -> None:
    assert len(terms.OwnerState) == 5
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(terms.OwnerState.DEAD)


def test_the_words_of_a_sweep_need_no_enum() -> None:
    code = "import sys, tmpwarden.model.sweep; print('enum' in sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
                         capture_output=True, text=True, check=True)  # fmt: skip
    assert ran.stdout == "False\n"

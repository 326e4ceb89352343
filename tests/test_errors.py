"""The words of an error survive whatever strips docstrings: -OO, PYTHONOPTIMIZE, the hooks' own pack."""

import subprocess
import sys

import pytest

from tmpwarden import errors

SAY = """
from tmpwarden import errors
for name, kind in sorted(vars(errors).items()):
    if isinstance(kind, type) and kind is not errors.Interrupted:
        print(name, kind("one", "two"))
"""


def test_every_error_says_the_same_without_docstrings() -> None:
    said = [
        subprocess.run([sys.executable, *options, "-c", SAY], capture_output=True, text=True, check=True).stdout
        for options in ((), ("-OO",))
    ]
    assert "BrokenSettings cannot change one: two" in said[0]
    assert said[0] == said[1]


def test_an_error_without_words_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="Silent has no words"):

        class Silent(errors.TmpwardenError):
            """a docstring is not enough"""

"""A module that is imported when it is first used is that module, and nothing of it is there before."""

import json
import re
import subprocess
import sys

import pytest

from tmpwarden import later


def test_what_is_asked_of_it_is_the_modules_own() -> None:
    assert later.json.loads is json.loads
    assert later.json.JSONDecodeError is json.JSONDecodeError
    with pytest.raises(AttributeError):
        later.json.no_such_thing  # noqa: B018


def test_a_pattern_is_the_one_that_re_compiles() -> None:
    pattern = later.regex(r"(?x) a (b+) # letters")
    assert pattern.pattern == r"(?x) a (b+) # letters"
    assert pattern.fullmatch("abb")[1] == "bb"
    assert pattern.sub("", "xaby") == re.sub("ab+", "", "xaby")
    with pytest.raises(re.error):
        later.regex("(").match("")


def test_nothing_is_imported_before_it_is_used() -> None:
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from tmpwarden.later import ctypes, fnmatch, json, re, regex, signal, struct, zlib\n"
        "pattern = regex('a+')\n"
        "names = ('ctypes', 'fnmatch', 'json', 're', 'signal', 'struct', 'zlib', 'enum')\n"
        "print([name for name in names if name in sys.modules])\n"
        "assert pattern.match('a') and json.dumps(1) == '1'\n"
        "print('re' in sys.modules, 'json' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nTrue True\n"

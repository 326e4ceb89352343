"""Settings are edited, not rewritten: only our lines change, whatever else stands in the file."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setup.test_install import AGENTS, put
from support.examples import examples
from support.mounts import needs_root
from tmpwarden.setup import apply, runtime
from tmpwarden.setup.inserter import edited
from tmpwarden.setup.jsonc import BrokenJson, parse

ODD = (
    '// mine\n{\n\t// the theme\n\t"theme": "x", // dark\n\t"list": [1, 2,], /* two */\n\t"hooks": {\n'
    '\t\t"Other": [ {"a": 1} ] // theirs\n\t},\n\t"last": null,\n}\n// end\n'
)


@pytest.fixture(autouse=True)
def small_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    monkeypatch.setattr(runtime, "_sources", lambda: iter([("hooks/run.py", b"")]))  # of 500 files; nobody runs them


FORMS = {
    "comments": ODD,
    "CRLF": ODD.replace("\n", "\r\n"),
    "marked": "\ufeff" + ODD,
    "one line": '{"theme":"x","hooks":{"Other":[{"a":1}]}}',
    "no newline at the end": ODD.rstrip("\n"),
    "a comment alone": "{\n  // nothing yet\n}\n",
    "odd spaces": '{ "z" :1 ,\n\n      "a"   : [ ] }',
    "key order": '{"z": 1, "a": 2, "m": {"q": 1, "b": 2}}\n',
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("agent", ["gemini", "qwen", "claude", "opencode"])
def test_an_install_only_adds_lines_and_an_uninstall_gives_every_byte_back(agent: str, form: str) -> None:
    path = put(agent, "")
    path.write_bytes(FORMS[form].encode())
    apply.install(agent, guard=True)
    after = path.read_bytes().decode()
    kept = [line for line in FORMS[form].split("\n") if line.strip() and "//" in line]
    assert all(line.split("//")[1] in after for line in kept)
    without = parse(after).plain()
    assert isinstance(without, dict)
    assert "tmpwarden" in json.dumps(without)
    path.write_bytes(after.replace("x", "y", 1).encode() if "// the theme" in after else after.encode())
    touched = path.read_bytes() != after.encode()
    apply.uninstall(agent)
    expected = FORMS[form].replace("x", "y", 1) if touched else FORMS[form]
    assert path.read_bytes() == expected.encode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=5)


def commented(value: object, depth: int = 0) -> str:
    """JSON with a comment at every place that takes one, and a trailing comma everywhere."""
    pad = "\n" + "\t" * (depth + 1)
    if isinstance(value, dict):
        inner = "".join(f"{pad}{json.dumps(k)} /* k */: {commented(v, depth + 1)}, // m" for k, v in value.items())
        return "{" + inner + pad[:-1] + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{pad}{commented(item, depth + 1)}, // i" for item in value) + pad[:-1] + "]"
    return json.dumps(value)


SPELLINGS = {"flat": json.dumps, "commented": commented, "indented": lambda value: json.dumps(value, indent=4)}


@pytest.mark.parametrize("spelling", SPELLINGS)
@examples(100)
@given(old=DOCUMENTS, new=DOCUMENTS)
def test_the_result_says_what_is_wanted_whatever_stood_there(
    spelling: str, old: dict[str, object], new: dict[str, object]
) -> None:
    text = SPELLINGS[spelling](old)
    assert parse(text).plain() == old
    result = edited(text, new)
    assert parse(result).plain() == new
    assert spelling == "commented" or json.loads(result) == new, "a trailing comma where there was none"
    assert edited(text, old) == text


@examples(100)
@given(DOCUMENTS, st.text(min_size=4, max_size=6), VALUES)
def test_what_was_added_can_be_taken_out_again(old: dict[str, object], key: str, value: object) -> None:
    text = commented(old)
    added = edited(text, old | {key: value})
    assert all(line in added for line in text.split("\n") if line.endswith("// m"))
    if old:
        assert edited(added, old) == text


@given(st.text())
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        parse(text)
    except BrokenJson as broken:
        assert broken.line >= 1


BROKEN = ['{"a": 1 "b": 2}', '{"a"}', "{", "[1", '{"a": 1}}', "{,}", "[,]", "/* ", '{"a": 01}', "[" * 500]


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_json_even_with_comments_is_refused(text: str) -> None:
    with pytest.raises(BrokenJson):
        parse(text)


@pytest.mark.parametrize("agent", AGENTS)
def test_modes_attributes_and_other_names_of_a_file_stay(agent: str, tmp_path: Path) -> None:
    path = put(agent, "{}")
    path.chmod(0o640)
    try:
        os.setxattr(path, "user.mine", b"yes")
    except OSError:
        pytest.skip("no extended attributes here")
    other = path.with_name("other-name")
    os.link(path, other)
    apply.install(agent)
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.getxattr(path, "user.mine") == b"yes"
    assert path.samefile(other)
    other.unlink()
    apply.uninstall(agent)
    if agent != "copilot":  # there the whole file is ours
        assert os.getxattr(path, "user.mine") == b"yes"
        assert path.read_text() == "{}"


@needs_root
def test_an_acl_stays(tmp_path: Path) -> None:
    path = put("claude", "{}")
    if shutil.which("setfacl") is None:
        pytest.skip("needs setfacl")
    subprocess.run(["setfacl", "-m", "u:1:r", str(path)], check=True)
    apply.install("claude")
    assert "system.posix_acl_access" in os.listxattr(path)

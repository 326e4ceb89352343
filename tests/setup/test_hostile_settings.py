"""Settings files as people really have them: marked, with other line ends, edited in between, or not ours to mend."""

import json
import os
import subprocess

import pytest

from setup.test_install import AGENTS, put, settings_of
from support.command import answer
from support.mounts import needs_root
from support.user import UID, OrdinaryUser
from tmpwarden.errors import BrokenSettings, SetupFailed
from tmpwarden.setup import apply, runtime

BOM = b"\xef\xbb\xbf"


@pytest.fixture(autouse=True)
def small_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    monkeypatch.setattr(runtime, "_sources", lambda: iter([("hooks/run.py", b"")]))  # of 500 files; nobody runs them


@pytest.mark.parametrize("mark", [b"", BOM], ids=["", "marked"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_a_file_keeps_its_mark_its_line_ends_and_its_indent(mark: bytes, end: bytes) -> None:
    path = put("claude", "")
    before = mark + end.join([b"{", b'\t"a": "\xc3\xa4",', b'\t"hooks": {}', b"}", b""])
    path.write_bytes(before)
    apply.install("claude")
    now = path.read_bytes()
    assert now.startswith(mark + b"{" + end + b"\t" + '"a": "ä"'.encode())
    assert now.count(b"\n") == now.count(end)
    apply.uninstall("claude")
    assert path.read_bytes() == before


@pytest.mark.parametrize(("agent", "text", "line", "why"), [
    ("claude", '{\n  "hooks": []\n}', 2, "'hooks' is not an object"),
    ("claude", '{\n  "hooks": {\n    "Stop": {"mine": 1}\n  }\n}', 3, "'Stop' is not a list"),
    ("claude", '{\n  "hooks": {},\n  "a": 1,\n  "hooks": {"Stop": []}\n}', 4, "'hooks' appears twice"),
    ("opencode", '{\n\n  "plugin": "one"\n}', 3, "'plugin' is not a list"),
])  # fmt: skip
def test_what_we_would_have_to_guess_about_is_refused_with_its_line(agent: str, text: str, line: int, why: str) -> None:
    path = put(agent, text)
    with pytest.raises(BrokenSettings, match=f"line {line}: {why}"):
        apply.install(agent)
    assert path.read_text() == text


def test_an_event_that_we_never_ask_for_may_have_any_shape() -> None:
    path = put("claude", '{"hooks": {"Setup": {"mine": 1}}}')
    apply.install("claude")
    assert json.loads(path.read_text())["hooks"]["Setup"] == {"mine": 1}


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent != "copilot"])  # there the whole file is ours
def test_an_uninstall_after_a_change_and_a_second_install_leaves_no_hook_of_ours(
    agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second install found hooks of ours in the file: what it keeps to go back to must not hold them."""
    path = settings_of(agent)
    apply.install(agent)
    changed = json.loads(path.read_text()) | {"mine": True}
    path.write_text(json.dumps(changed))
    monkeypatch.setattr(runtime, "__version__", "9.9.9")
    apply.install(agent)
    apply.uninstall(agent)
    assert "tmpwarden" not in path.read_text().replace(str(path), "")
    assert json.loads(path.read_text())["mine"] is True


def test_an_uninstall_says_whether_it_gave_the_old_bytes_back() -> None:
    path = put("claude", '{"model": "x"}')
    apply.install("claude")
    assert [edit.is_former for edit in apply.uninstall("claude").changed] == [True]
    apply.install("claude")
    path.write_text(path.read_text() + "\n")
    assert [edit.is_former for edit in apply.uninstall("claude").changed] == [False]


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 1}'])
def test_the_table_names_broken_settings(text: str) -> None:
    put("claude", text)
    states = {seen.id: seen.state for seen in apply.table()}
    assert states["claude"] == "broken settings"


def test_with_the_plugin_on_watching_only_is_refused() -> None:
    path = put("claude", '{"enabledPlugins": {"tmpwarden@tmpwarden": true}}')
    before = path.read_bytes()
    with pytest.raises(SetupFailed, match="has no --observe"):
        apply.install("claude", observe=True)
    assert path.read_bytes() == before
    status, envelope = answer("install", "claude")
    assert status == 0
    assert "claude plugin disable tmpwarden@tmpwarden" in envelope["data"]["advice"][0]


@needs_root
@pytest.mark.parametrize("what", ["directory", "file of another user", "link into nothing we may write"])
def test_where_we_may_not_write_nothing_changes_and_the_path_is_named(ordinary_user: OrdinaryUser, what: str) -> None:
    home = ordinary_user.home / ".claude"
    ordinary_user.run(["mkdir", "-p", str(home)])
    settings = home / "settings.json"
    if what == "directory":
        settings.write_text("{}")
        home.chmod(0o555)
    elif what == "file of another user":
        settings.write_text("{}")
        settings.chmod(0o600)
    else:
        settings.symlink_to("/etc/tmpwarden-nobody/settings.json")
    os.chown(home, UID, UID)
    done: subprocess.CompletedProcess[str] = ordinary_user.tmpwarden("install", "claude")
    assert done.returncode in (4, 7)
    assert "settings.json" in done.stderr or "tmpwarden-nobody" in done.stderr
    assert not settings.exists() or settings.read_text() == "{}"

"""Commands for other machines and containers: told, but no path of theirs is one of ours."""

from __future__ import annotations

from ..nouns.analysis import PathUse
from ..nouns.fields import Field, Invocation
from ..nouns.names import names
from ..nouns.state import State
from ..programs.options import Argument, by_row, is_on_a_host
from ..programs.table import has, is_known, program
from ..shell.syntax import Unreadable
from .plain import simulate_code
from .shell import Shell, Ways
from .tools import simulate_settings

SSH_VALUES = "BbcDEeFIiJLlmOopQRSWw"
CONTAINER_VALUES = names("-e --env -u --user -w --workdir --env-file -c --container -n --namespace")
SWITCHES = names("-d -i -t -it -ti -dit -P --rm --detach --init --interactive --privileged --tty")


def simulate_ssh(shell: Shell, call: Invocation, state: State) -> Ways:
    simulate_settings(shell, call, state)
    call.is_remote = True
    shell.emit(call, [], state)
    fields = call.fields
    at = 1
    while at < len(fields) and (fields[at].text or "").startswith("-"):
        text = fields[at].text or ""
        if text in ("-i", "-F") and at + 1 < len(fields):
            shell.touch(Argument(fields[at + 1], 0, "read"), state, f"ssh {text}")
        at += 2 if any(c in SSH_VALUES for c in text[1:]) and text[-1] in SSH_VALUES else 1
    remote = fields[at + 1 :]
    if remote and all(field.text is not None for field in remote):
        _remote_code(shell, " ".join([field.text or "" for field in remote]), "ssh", state)
    if call.body is not None and (not remote or has((remote[0].text or "").rpartition("/")[2], "shell")):
        _remote_code(shell, call.body.body or call.body.target.text or "", "ssh", state)
    return state, state


def _remote_code(shell: Shell, text: str, around: str, state: State) -> None:
    """Followed for the rules' sake; whether it can be read is no matter of this machine."""
    before, shell.is_remote = shell.is_remote, True
    opaque = shell.opaque
    try:
        elsewhere = state.at((None,)).forgetting()
        simulate_code(shell, Field(text, None), elsewhere, around)
    except Unreadable:
        pass
    shell.is_remote, shell.opaque = before, opaque


def simulate_container(shell: Shell, call: Invocation, state: State) -> Ways:
    """docker exec, kubectl exec: another file system. Only what is copied touches ours."""
    name = call.name
    texts = [field.text for field in call.fields]
    paths: list[PathUse] = []
    if "cp" in texts[1:3]:
        local = [field for field in call.fields[texts.index("cp") + 1 :] if not is_on_a_host(field)]
        for field in local:
            mode = "write" if field is call.fields[-1] else "read"
            if not (field.text or "").startswith("-"):
                paths += shell.touch(Argument(field, 0, mode), state, f"{name} cp")
    paths += _local(shell, name, call, state)
    shell.emit(call, paths, state)
    if "exec" in texts[1:2]:
        _run_remotely(shell, call, name, state, 2)
    elif "compose" in texts[1:2] and "exec" in texts[2:]:  # its own options stand before, with files of ours
        _run_remotely(shell, call, name, state, texts.index("exec") + 1)
    return state, state


def _local(shell: Shell, name: str, call: Invocation, state: State) -> list[PathUse]:
    """Files of this machine: what is built from, saved to, applied; what a container is given."""
    command = (call.fields[1].text or "") if len(call.fields) > 1 else ""
    row = f"{name}:{command}"
    paths = by_row(program(row), call.fields[1:]) if is_known(row) else []
    if command in ("run", "create") and name not in ("kubectl", "oc"):
        paths += _mounts(call.fields)
    if command in ("run", "compose"):
        paths += _files_in_options(call.fields)
    return [use for argument in paths for use in shell.touch(argument, state, f"{name} {command}")]


def _run_remotely(shell: Shell, call: Invocation, name: str, state: State, at: int) -> None:
    fields = call.fields
    while at < len(fields) and (fields[at].text or "").startswith("-"):
        at += 2 if fields[at].text in CONTAINER_VALUES else 1
    at += 1
    while at < len(fields) and (fields[at].text or "").startswith("-"):
        at += 1
    if at >= len(fields):
        return
    inner = call.inside(name, fields[at:]).quiet()
    before, opaque, shell.is_remote = shell.is_remote, shell.opaque, True
    in_text, shell.in_text = shell.in_text, False  # nothing in there is a path of ours
    try:
        shell.call(inner, state.at((None,)).forgetting())
    except Unreadable:
        pass
    shell.is_remote, shell.opaque, shell.in_text = before, opaque, in_text


def _files_in_options(fields: list[Field]) -> list[Argument]:
    """--env-file FILE, and compose -f FILE, in front of the image or the subcommand."""
    file_options = ("--env-file", "-f", "--file") if fields[1].text == "compose" else ("--env-file",)
    files, at = [], 2
    while at + 1 < len(fields) and (fields[at].text or "").startswith("-"):
        text = fields[at].text or ""
        if text in file_options:
            files.append(Argument(fields[at + 1], 0, "read"))
        at += 1 if text in SWITCHES or "=" in text else 2
    return files


def _mounts(fields: list[Field]) -> list[Argument]:
    """-v HOST:PATH: written, as far as we know, if what runs there is known to change files; else any use."""
    names = [(field.text or "").rpartition("/")[2] for field in fields[2:]]
    changes = any(has(name, "changes") or has(name, "shell") for name in names)
    mounts = []
    for at, field in enumerate(fields):
        before = fields[at - 1].text if at else ""
        text = field.text or ""
        if before in ("-v", "--volume"):
            value = text
        elif text.startswith(("-v", "--volume=")):
            value = text.partition("=")[2] if text.startswith("--") else text[2:]
        elif before == "--mount" or text.startswith("--mount="):
            value = next(
                (part.partition("=")[2] for part in text.split(",") if part.startswith(("source=", "src="))), ""
            )
        else:
            continue
        host, _, rest = value.partition(":")
        if host[:1] in ("/", ".", "~") and not rest.endswith((":ro", ":ro,z")) and "readonly" not in text:
            mounts.append(Argument(Field(host, None), 0, "write" if changes else "any"))
    return mounts

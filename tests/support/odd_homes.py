"""Homes of users of all six agents, with settings of every kind that people keep; and all that a file is, to compare.

`python odd_homes.py TMPWARDEN FORM HOME` sets everything up there, takes it out again, and says what is not as before.
"""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

JSON = {
    ".claude/settings.json": {"model": "opus", "zeta": [1, 2], "hooks": {"Stop": [{"hooks": []}]}, "alpha": {"b": 1}},
    ".codex/hooks.json": {"hooks": {"Stop": []}},
    ".gemini/settings.json": {"theme": "a", "hooks": {"Other": [{"x": "ü"}]}},
    ".qwen/settings.json": {"security": {"auth": {"selectedType": "openai"}}},
    ".copilot/config.json": {"theme": "dark"},
    ".config/opencode/opencode.jsonc": {"plugin": ["other"], "share": "disabled"},
}
TEXT = {
    ".codex/config.toml": '# mine\nmodel = "x" # yes\n\n[shell_environment_policy]\ninherit = "core" # less\n\n[z]\n',
    ".gemini/.env": "GEMINI_API_KEY=x\n",
    ".bashrc": "alias ll=ls\n",
    ".config/systemd/user/mine.timer": "[Timer]\n",
}


def _commented(value: object, indent: str = "\t") -> str:
    lines = json.dumps(value, indent=indent, ensure_ascii=False).splitlines()
    said = [f"{line} // mine" if line.endswith(("{", "[", ",")) else line for line in lines]
    return "// first\n/* and\n second */\n" + "\n".join(said) + "\n// last\n"


def _trailing(value: object) -> str:
    lines = json.dumps(value, indent=2).splitlines()
    ends = [line.strip()[:1] for line in lines[1:]] + [""]
    return "\n".join(
        line + "," if after in ("}", "]") and not line.rstrip().endswith(("{", "[")) else line
        for line, after in zip(lines, ends, strict=True)
    )


SPELLINGS: dict[str, Callable[[object], str]] = {
    "comments and tabs": _commented,
    "trailing commas, no last newline": _trailing,
    "one line": lambda value: json.dumps(value, separators=(",", ":")),
    "CRLF": lambda value: _commented(value, "    ").replace("\n", "\r\n"),
    "a mark at the start": lambda value: "\ufeff" + json.dumps(value, indent=4),
}
TOML = {
    "inline table": 'shell_environment_policy = { inherit = "core", set = { A = "1" } }\n',
    "dotted keys": 'shell_environment_policy.set.A = "1"\nshell_environment_policy.inherit = "all"\n',
    "TMPDIR is set": '[shell_environment_policy.set]\nTMPDIR = "/mine"\n',
    "a set table": '[shell_environment_policy.set] # mine\nA = "1"\n\n[other]\nx = 1\n',
}
FORMS = (*SPELLINGS, *TOML, "an .env at home", "an .env in the project", "links, modes, attributes and other names")


def make(home: Path, form: str) -> Path:
    """Where the user stands: the project."""
    spell = SPELLINGS.get(form, SPELLINGS["comments and tabs"])
    texts = {name: spell(value) for name, value in JSON.items()} | TEXT
    texts |= {".codex/config.toml": TOML[form]} if form in TOML else {}
    texts |= {".qwen/.env": "export TMPDIR=/mine\n"} if form == "TMPDIR is set" else {}
    texts |= {".env": "A=1\n"} if form == "an .env at home" else {}
    texts |= {"project/.env": "A=1\n"} if form == "an .env in the project" else {}
    if form == "CRLF":
        texts = {name: text.replace("\r\n", "\n").replace("\n", "\r\n") for name, text in texts.items()}
    for name, text in texts.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    if form.startswith("links"):
        _dress(home)
    (home / "project").mkdir(exist_ok=True)
    return home / "project"


def _dress(home: Path) -> None:
    dotfiles = home / "dotfiles"
    dotfiles.mkdir()
    for number, name in enumerate((*JSON, *TEXT)):
        path = home / name
        path.chmod((0o600, 0o640, 0o664)[number % 3])
        os.setxattr(path, "user.mine", name.encode())
        other = dotfiles / f"{number}-{path.name}"
        if number % 3 == 0:
            path.rename(other)
            path.symlink_to(os.path.relpath(other, path.parent))
        elif number % 3 == 1:
            os.link(path, other)


def everything(home: Path) -> dict[str, tuple[object, ...]]:
    """All that a file is, but for its number and its dates; what we made for ourselves aside."""
    ours = [home / name for name in (".local/state/tmpwarden", ".cache", "tmp", "bin", "crontab")]
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(home.rglob("*")):
        status = path.lstat()
        if any(path.is_relative_to(own) for own in ours) or stat.S_ISDIR(status.st_mode):
            continue
        is_link = stat.S_ISLNK(status.st_mode)
        attributes = {} if is_link else {name: os.getxattr(path, name) for name in os.listxattr(path)}
        content = os.readlink(path) if is_link else path.read_bytes()
        found[str(path.relative_to(home))] = (status.st_mode, status.st_uid, status.st_nlink, attributes, content)
    return found


def main(tmpwarden: str, form: str, home: str) -> int:
    project = make(Path(home), form)
    (Path(home) / "tmp").mkdir()
    env = {"HOME": home, "PATH": os.environ["PATH"], "SHELL": "/bin/bash", "TMPWARDEN_ROOTS": f"{home}/tmp"}

    def run(*words: str) -> str:
        done = subprocess.run([tmpwarden, *words], env=env, cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    before = everything(Path(home))
    print(run("setup", "--yes"))
    between = everything(Path(home))
    assert between != before
    assert "Everything is set up already" in run("setup", "--dry-run")
    run("setup", "--remove", "--yes")
    after = everything(Path(home))
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            print(f"NOT AS BEFORE: {name}\n  {before.get(name)}\n  {after.get(name)}")
    return int(before != after)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))

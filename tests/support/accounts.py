"""A machine with users of its own: accounts, homes and a shared temp root, in a mount namespace of its own."""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import tmpwarden
from support import interpreters, uids
from support.compiled import compile_all

_ENTER = 'mount --bind "$0" /etc/passwd && exec "$@"'


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    home: Path

    def owns(self, path: Path) -> Path:
        for each in [path, *path.rglob("*")]:
            os.lchown(each, self.uid, self.uid)
        return path


class Machine:
    """alice and bob have homes; web has none. tmpwarden lies where only root can read it, as pipx puts it."""

    def __init__(self, base: Path, library: Path) -> None:
        self.base, self.tmp, self.library = base, base / "shared", library
        self.tmp.mkdir()
        self.tmp.chmod(0o1777)
        self.alice, self.bob = self._account("alice", uids.ALICE), self._account("bob", uids.BOB)
        self.web = Account("web", uids.WEB, base / "nowhere")
        self.root_home = base / "root"
        self.root_home.mkdir(mode=0o700)
        lines = [f"root:x:0:0::{self.root_home}:/bin/sh"]
        lines += [f"{each.name}:x:{each.uid}:{each.uid}::{each.home}:/bin/sh" for each in self.accounts]
        (base / "passwd").write_text("\n".join(lines) + "\n")

    @property
    def accounts(self) -> tuple[Account, ...]:
        return self.alice, self.bob, self.web

    def _account(self, name: str, uid: int) -> Account:
        home = self.base / name
        home.mkdir(mode=0o700)
        return Account(name, uid, Account(name, uid, home).owns(home))

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.root_home),
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "PYTHONPATH": f"{self.library}:{Path(__file__).parents[1]}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPWARDEN_ROOTS": str(self.tmp),
            "LANG": "C.UTF-8",
        }

    def run(self, *argv: str, env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """As root, on this machine."""
        words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER, str(self.base / "passwd"), *argv]
        environ = {**self.environ, **(env or {})}
        return subprocess.run(words, env=environ, cwd="/", capture_output=True, text=True, timeout=120, check=False)

    def tmpwarden(
        self, *args: str, later_s: float = 0, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        start = [str(Path(__file__).with_name("later.py"))] if later_s else ["-m", "tmpwarden"]
        return self.run(interpreters.plain(), *start, *args, env={"LATER_S": str(later_s), **(env or {})})

    def code(self, source: str, *args: str) -> "subprocess.CompletedProcess[str]":
        return self.run(interpreters.plain(), "-c", source, *args)


def fill_private_library(library: Path) -> Path:
    """Us and click (rich draws for a person alone), where only root can read it."""
    library.chmod(0o700)
    click = Path(sysconfig.get_path("purelib"), "click")
    for source in (Path(tmpwarden.__file__).parent, *([click] if click.is_dir() else [])):
        shutil.copytree(source, library / source.name)
    compile_all(library)
    return library

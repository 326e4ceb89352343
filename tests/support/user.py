"""An ordinary user for tests that run as root, one for each test process: he can read our copy, and has a directory."""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tmpwarden
from support import forked, interpreters, uids
from support.compiled import compile_all

UID = uids.ORDINARY
AS_HIM: dict[str, Any] = {"user": UID, "group": UID, "extra_groups": []}  # for whatever starts a process
_DEPENDENCIES = ("click", "rich", "pygments", "markdown_it", "mdurl")


class OrdinaryUser:
    """Runs programs as `UID` with a HOME and a temp root of its own below `base`, and our copy in `library`."""

    def __init__(self, base: Path, library: Path) -> None:
        uids.end_all_of(UID)
        self.base, self.library = base, library
        self.home, self.tmp = base / "home", base / "tmp"
        for path in (self.home, self.tmp):
            path.mkdir(mode=0o700)
            os.chown(path, UID, UID)
        self.python = interpreters.for_everybody()

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "PYTHONPATH": str(self.library),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPWARDEN_ROOTS": str(self.tmp),
            "TMPDIR": str(self.tmp),
            "LANG": "C.UTF-8",
        }

    def run(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return forked.run(
            argv,
            env={**self.env, **(env or {})},
            cwd=cwd or self.base,
            **AS_HIM,
            input=stdin,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=120,
            check=False,
        )

    def tmpwarden(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return self.run([self.python, "-m", "tmpwarden", *args], env=env)

    def code(self, source: str, *args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return self.run([self.python, "-c", source, *args], env=env)


def fill_library(library: Path) -> Path:
    """Us and what `cli` needs, where everybody can read it, and with what Python has compiled of it."""
    site = Path(sysconfig.get_path("purelib"))
    for source in (Path(tmpwarden.__file__).parent, *(site / name for name in _DEPENDENCIES)):
        if source.is_dir():
            shutil.copytree(source, library / source.name)
    compile_all(library)
    return library

"""An ordinary user for tests that run as root: a copy of us that uid 65534 can read, and a directory it owns."""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

import tmpwarden
from support import interpreters

UID = 65534
_DEPENDENCIES = ("click", "rich", "pygments", "markdown_it", "mdurl")


class OrdinaryUser:
    """Runs programs as uid 65534 with a HOME, a temp root and a `tmpwarden` of its own below `base`."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home, self.tmp = base / "home", base / "tmp"
        self.library = base / "lib"
        for path in (self.home, self.tmp):
            path.mkdir(mode=0o700)
            os.chown(path, UID, UID)
        self.library.mkdir(mode=0o755)
        shutil.copytree(
            Path(tmpwarden.__file__).parent, self.library / "tmpwarden", ignore=shutil.ignore_patterns("__pycache__")
        )
        site = Path(sysconfig.get_path("purelib"))
        for name in _DEPENDENCIES:
            if (site / name).is_dir():
                shutil.copytree(site / name, self.library / name, ignore=shutil.ignore_patterns("__pycache__"))
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
        return subprocess.run(
            argv,
            env={**self.env, **(env or {})},
            cwd=cwd or self.base,
            user=UID,
            group=UID,
            extra_groups=[],
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

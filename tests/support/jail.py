"""Real bash in a root directory that holds nothing but bash: it can run any text and start no program.

What it would have started, `command_not_found_handle` writes down; what its redirects made, the directory shows.
"""

import os
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

BASH = "/bin/bash"
DIRECTORIES = ("d1", "d1/d2", "d3")  # there for every command, so that cd has somewhere to go
HANDLER = """\
command_not_found_handle() {
  printf '%s\\0' "$#" "$@" >&200
  [[ $1 != *F ]]
}
"""
DRIVER = """\
for ((i = 0; i < COUNT; i++)); do
  cd /w/$i || exit 3
  unset OLDPWD
  IFS= read -r -d '' text < /c/$i
  BASH_ENV=/handler HOME=/home/u PATH=/none FUNCNEST=20 /bin/bash --norc --noprofile -c "$text" \\
    200>>/r/$i </empty >/o/$i 2>&1
  echo $? >/s/$i
done
wait
"""


class Ran:
    """What bash did with one command."""

    def __init__(self, argv: list[list[str]], files: set[str], status: int, said: str) -> None:
        self.argv = argv
        self.files = files  # absolute, as the jail sees them
        self.status = status
        self.said = said  # its output and errors

    @property
    def is_syntax_error(self) -> bool:
        return "syntax error" in self.said or "unexpected EOF" in self.said or "delimited by end-of-file" in self.said


class Jail:
    """Build it once, then run lists of commands in it. Command i runs in /w/i, which is empty but for DIRECTORIES."""

    def __init__(self, root: Path) -> None:
        self.root = root
        listed = subprocess.run(["ldd", BASH], capture_output=True, text=True, check=True).stdout
        for path in [BASH, *(word for word in listed.split() if word.startswith("/"))]:
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(path), target)
        locale = Path("/usr/lib/locale/C.utf8")
        if locale.is_dir():
            shutil.copytree(locale, root / "usr/lib/locale/C.utf8")
        for name in ("w", "c", "r", "o", "s", "home/u", "tmp", "dev"):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / "empty").write_text("")
        (root / "dev/null").write_text("")
        (root / "handler").write_text(HANDLER)
        (root / "driver").write_text(DRIVER)

    def run(self, commands: list[str], timeout_s: float = 60) -> list[Ran]:
        for at, command in enumerate(commands):
            for name in DIRECTORIES:
                (self.root / "w" / str(at) / name).mkdir(parents=True)
            (self.root / "c" / str(at)).write_bytes(command.encode("utf-8", "surrogateescape") + b"\0")
        own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        chroot = shutil.which("chroot", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or "chroot"
        inside = [chroot, str(self.root), BASH, "--norc", "--noprofile", "/driver"]
        subprocess.run(
            ["unshare", *own, "--mount", "--net", "--pid", "--fork", "--kill-child", *inside],
            env={"COUNT": str(len(commands)), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            check=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        ran = [self._read(at) for at in range(len(commands))]
        self._clear()
        return ran

    def _read(self, at: int) -> Ran:
        here = self.root / "w" / str(at)
        files = {f"/w/{at}/{path.relative_to(here)}" for path in here.rglob("*") if not path.is_dir()}
        record = self.root / "r" / str(at)
        texts = record.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1] if record.exists() else []
        argv, place = [], 0
        while place < len(texts):
            count = int(texts[place])
            argv.append(texts[place + 1 : place + 1 + count])
            place += 1 + count
        status = int((self.root / "s" / str(at)).read_text())
        return Ran(argv, files, status, (self.root / "o" / str(at)).read_text(errors="replace"))

    def _clear(self) -> None:
        for name in ("w", "c", "r", "o", "s"):
            shutil.rmtree(self.root / name)
            (self.root / name).mkdir()


def is_covered(argv: list[str], said: tuple[str | None, ...]) -> bool:
    """Could these be the same command? None in what we say stands for any number of words."""
    if not said:
        return not argv
    if said[0] is None:
        return is_covered(argv, said[1:]) or (bool(argv) and is_covered(argv[1:], said))
    if not argv or (argv[0] != said[0] and not fnmatchcase(argv[0], said[0])):
        return False
    is_pattern = any(c in said[0] for c in "*?[")  # it stands in argv as it is written, whatever it matched
    return is_covered(argv[1:], said[1:]) or (is_pattern and is_covered(argv[1:], said))

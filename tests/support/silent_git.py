"""A git on PATH that is not well: silent, cut short, at the wrong repository, hanging, or failing once."""

import os
import shutil
from pathlib import Path

import pytest

from tmpwarden.repos import git_program

_REAL = shutil.which("git") or "git"
_HEAD = """#!/bin/sh
real={real}
n=$(cat {place}/calls 2>/dev/null || echo 0); n=$((n + 1)); echo $n > {place}/calls
"""
_CUT = 'f={place}/out.$$; "$real" "$@" > $f; s=$?; {cut} < $f; rm -f $f; exit $s\n'


class SickGit:
    """Puts a stub first, in the place of every git that we would find."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place / "sick"
        self.place.mkdir()
        monkeypatch.setattr(git_program, "_PROGRAMS", ())
        monkeypatch.setenv("PATH", f"{self.place}:{os.environ['PATH']}")

    def is_well(self) -> None:
        self._does('exec "$real" "$@"\n')

    def is_silent(self, word: str = "", status: int = 0) -> None:
        """It ends with `status` and says nothing where `word` is asked; everywhere, if that is ""."""
        self._does(f'case " $* " in *" {word}"*) exit {status};; esac\nexec "$real" "$@"\n')

    def is_cut(self, *, lines: int | None = None, of_bytes: int | None = None) -> None:
        cut = f"head -n {lines}" if lines is not None else f"head -c {of_bytes}"
        self._does(_CUT.format(place=self.place, cut=cut))

    def is_elsewhere(self, repository: Path) -> None:
        """It answers for another repository, in good health."""
        self._does(f'cd {repository}; export GIT_DIR={repository}/.git; exec "$real" "$@"\n')

    def stands_elsewhere(self, directory: Path) -> None:
        """It starts in another directory, and believes what it is told to look for there."""
        self._does(f'cd {directory}; exec "$real" "$@"\n')

    def hangs(self, word: str) -> None:
        self._does(f'case " $* " in *" {word}"*) sleep 1000;; esac\nexec "$real" "$@"\n')

    def fails_at(self, number: int, status: int) -> None:
        self._does(f'[ $n -ne {number} ] || exit {status}\nexec "$real" "$@"\n')

    @property
    def calls(self) -> int:
        """How often it was started since it changed."""
        return int((self.place / "calls").read_text() or "0") if (self.place / "calls").exists() else 0

    def _does(self, what: str) -> None:
        (self.place / "calls").unlink(missing_ok=True)
        new = self.place / "git.new"
        new.write_text(_HEAD.format(real=_REAL, place=self.place) + what)
        new.chmod(0o755)
        new.rename(self.place / "git")

"""`__main__.py` of dist/tmpwarden.pyz: unpacks itself once into the user's data directory and runs from there.

Hooks, helper processes and the catalogue are read as files, which a zip does not have. The unpacked copy is private
(0700), is found by the archive's digest, and replaces the copies of older archives that nothing has run for a week.
"""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036  this file meets every Python
    sys.exit("tmpwarden needs Python 3.11 or newer; this is " + sys.version.split()[0])

import hashlib
import re
import shutil
import tempfile
import time
import zipfile

WEEK_S = 7 * 86400


def main() -> None:
    archive = os.path.dirname(os.path.abspath(__file__))
    with open(archive, "rb") as file:
        name = hashlib.file_digest(file, "sha256").hexdigest()[:32]
    try:
        place = unpacked(archive, name)
    except OSError as error:
        sys.exit(
            f"tmpwarden: this file unpacks itself before it runs, and could not: {error}\n"
            "  hint: it needs 15 MB: free some in your home, or name a directory with room: XDG_DATA_HOME=/dev/shm/NAME"
        )
    sys.path[0] = place
    from tmpwarden.cli.main import run

    run()


def unpacked(archive: str, name: str) -> str:
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    base = os.path.join(data, "tmpwarden", "zipapp")
    os.umask(os.umask(0o077) | 0o022)  # whatever is made on the way there is writable for nobody else
    os.makedirs(base, 0o700, exist_ok=True)
    refuse_what_others_can_change(base)
    place = os.path.join(base, name)
    if not os.path.isdir(place):
        fresh = tempfile.mkdtemp(prefix=".new-", dir=base)
        try:
            with zipfile.ZipFile(archive) as file:
                file.extractall(fresh)
            os.rename(fresh, place)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            if not os.path.isdir(place):  # else another run was faster
                raise
        forget_older(base, name)
    refuse_what_others_can_change(place)
    os.utime(place)
    return place


def refuse_what_others_can_change(place: str) -> None:
    found = os.stat(place, follow_symlinks=False)
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"{place} belongs to somebody else, or others can write to it")


def forget_older(base: str, name: str) -> None:
    for entry in os.scandir(base):
        if entry.name == name or not re.fullmatch(r"[0-9a-f]{32}|\.new-.*", entry.name):
            continue
        if time.time() - entry.stat(follow_symlinks=False).st_mtime > WEEK_S:
            shutil.rmtree(entry.path, ignore_errors=True)


main()

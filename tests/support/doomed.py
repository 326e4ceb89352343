"""What tests destroy is their own."""

import os

from tmpwarden.model.sweep import Measure
from tmpwarden.oskit.files.doomed import own, resumed
from tmpwarden.oskit.files.inplace import purge_in_place
from tmpwarden.oskit.files.purge import Purged, purge
from tmpwarden.oskit.files.roll import Roll


def destroy(fd: int, name: str, *, measured: Measure | None = None, roll: Roll | None = None) -> Purged:
    with own(fd, name) as doomed:
        return purge(doomed, measured=measured, roll=roll)


def resume_in_place(fd: int, name: str, *, newest_ns: int) -> Purged:
    status = os.stat(name, dir_fd=fd)
    with resumed(fd, name, identity=(status.st_dev, status.st_ino, None)) as doomed:
        return purge_in_place(doomed, newest_ns=newest_ns)

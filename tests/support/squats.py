"""What somebody puts where a directory of ours is to be."""

import os
from pathlib import Path

from support.user import UID


def a_link(path: Path) -> None:
    path.with_name("elsewhere").mkdir(mode=0o700)
    path.symlink_to("elsewhere")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def a_file(path: Path) -> None:
    path.write_text("")


def a_directory_that_all_may_read(path: Path) -> None:
    path.mkdir()
    path.chmod(0o755)


def a_directory_that_all_may_write(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


def a_directory_of_another_user(path: Path) -> None:
    path.mkdir(mode=0o700)
    os.chown(path, UID, UID)

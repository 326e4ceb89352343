"""What git work a tree holds that exists nowhere else."""


def losses(dir_fd: int, relative: str) -> tuple[str, ...] | None:
    return None

"""Removal by path, for where there are no directory descriptors (Windows). Best effort."""

import os


def remove_tree(path: str) -> bool:
    """A file or a tree; whether it is gone."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    return not os.path.lexists(path)

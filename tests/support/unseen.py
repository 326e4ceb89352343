"""An ordinary user's tests share that user: what hides from its own user in one worker is a doubt in every other.

A process in a user namespace of its own cannot be read by anybody but root until it has become another program:
`run --private-tmp` is one for a moment, and so is the jail of hostile command lines. While a test of such runs, none of
another worker does. Root reads everybody, and nothing waits for anything.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

_HIDERS = (
    "test_private_tmp.py", "test_run.py", "test_first_process.py", "test_help.py", "test_docs.py", "test_doctor.py",
    "test_stale_values.py", "test_leading.py", "test_reader.py", "test_reader_bash.py", "test_holders.py",
    "test_plain.py",
)  # fmt: skip


@pytest.fixture(autouse=True)
def only_one_hides(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if os.geteuid() == 0 or not hasattr(request.config, "workerinput"):
        yield
        return
    with (tmp_path_factory.getbasetemp().parent / "hiding.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if Path(request.node.path).name in _HIDERS else fcntl.LOCK_SH)
        yield

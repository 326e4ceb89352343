"""A test of the tests: on a machine of their own they leave nothing in /tmp, /var/tmp, /dev/shm and the home."""

import sys
from pathlib import Path

import pytest

from support import own_machine
from support.mounts import needs_root

pytestmark = needs_root
# Those that go there on purpose: /tmp made private, another user, jobs in the background, an example of the docs.
SAMPLE = [
    "tests/lifecycle/test_private_tmp.py::test_one_inside_the_other_is_private_again",
    "tests/lifecycle/test_private_tmp.py::test_a_program_that_lies_in_tmp_starts_as_without",
    "tests/hooks/test_jobs.py::test_an_empty_scratch_is_no_loss",
    "tests/doctor/test_remedies.py::test_full_inodes",
    "tests/test_docs.py",
    "-k",
    "not test_docs or add-an-agent",
]
WHOLE = ["-n", "2", "-m", "not long and not clients", f"--deselect=tests/{Path(__file__).name}"]


@pytest.mark.parametrize(
    "what", [pytest.param(SAMPLE, id="some"), pytest.param(WHOLE, id="all", marks=pytest.mark.long)]
)
def test_the_tests_leave_nothing_behind(what: list[str]) -> None:
    ended = own_machine.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *what, timeout_s=1800)
    assert ended.status == 0, ended.said[-4000:]
    assert ended.left == set()


def test_what_is_left_behind_would_be_seen() -> None:
    ended = own_machine.run("sh", "-c", 'touch /tmp/a "/var/tmp/b c" /dev/shm/d ~/.e; echo said; exit 3')
    assert ended == own_machine.Ended(
        3, "said\n", frozenset({"/tmp/a", "/var/tmp/b c", "/dev/shm/d", "/dev/shm/home/.e"})
    )

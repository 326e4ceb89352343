"""`why PATH` tells who uses a path, whose it is and what would be lost, for any path."""

import json
import sys
from pathlib import Path

import pytest

from support import forked, users
from support.holding import process


def why(path: Path) -> dict[str, object]:
    done = forked.run(
        [sys.executable, "-m", "tmpwarden", "why", str(path), "--json"], capture_output=True, text=True, check=False
    )
    answer = json.loads(done.stdout)
    assert answer["ok"], done.stdout + done.stderr
    data: dict[str, object] = answer["data"]
    return data


@pytest.mark.parametrize("inner", ["", "deep", "deep/file"])
def test_it_names_the_process_that_uses_a_unit_and_how(own_world: Path, inner: str) -> None:
    unit = users.leased_scratch(own_world / "tmp")
    with process(users.OPEN, str(unit / "deep" / "file")) as holder:
        data = why(unit / inner)
    assert data["unit"] == str(unit)
    assert (data["verdict"], data["reason"]) == ("keep", "open-file")
    (witness,) = data["witnesses"]  # type: ignore[misc]
    assert (witness["kind"], witness["pid"]) == ("open-file", holder.pid)
    assert witness["command"].startswith("python")
    assert witness["detail"] == str(unit / "deep" / "file")
    owner: dict[str, object] = data["owner"]  # type: ignore[assignment]
    assert (owner["state"], owner["session"]) == ("dead", users.SESSION)


def test_it_answers_for_a_path_that_no_row_knows(own_world: Path) -> None:
    path = users.fill(own_world / "tmp" / "my-own-things")
    with process(users.OPEN, str(path / "deep" / "file")) as holder:
        data = why(path)
    assert [witness["pid"] for witness in data["witnesses"]] == [holder.pid]  # type: ignore[attr-defined]
    assert data["verdict"] == "keep"
    assert data.get("litter") is None

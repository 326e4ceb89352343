"""Kernels with and without openat2, and what nobody may touch."""

from pathlib import Path

import pytest

from tmpwarden.oskit.files import same_mount


@pytest.fixture(params=["the kernel sees to it", "an older kernel"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the kernel refuses to enter a mount, or we have to see that it is one."""
    if request.param == "an older kernel":
        monkeypatch.setattr(same_mount, "_is_known", True)
        monkeypatch.setattr(same_mount, "_call", None)
    else:
        assert same_mount.is_certain()


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A directory of somebody with a file in it, to which links and mounts lead."""
    path = tmp_path / "victim"
    path.mkdir()
    (path / "file").write_text("precious")
    return path

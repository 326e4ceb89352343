"""A plain Python that runs a snippet with our package, without pytest's own weight or descriptors."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tmpwarden

RunPython = Callable[..., str]


@pytest.fixture
def run_python() -> RunPython:
    def run(source: str, *args: str) -> str:
        library = str(Path(tmpwarden.__file__).parents[1])
        code = f"import sys; sys.path.insert(0, {library!r})\n{source}"
        result = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, *args], capture_output=True, text=True, timeout=300, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run

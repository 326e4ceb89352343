"""The package as an install leaves it: compiled. Where PYTHONDONTWRITEBYTECODE is set every child would do it again."""

import os
import subprocess
import sys
from pathlib import Path

_COMPILE = """
import compileall, sys
compileall.compile_dir(sys.argv[1] + "/tmpwarden", quiet=2)
sys.path.insert(0, sys.argv[1])
from tmpwarden.catalogue.load import load
load(dirs=())
"""


def compile_all(library: Path) -> None:
    """The modules and the catalogue of the `tmpwarden` in `library`; where nothing can be written, nothing is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", _COMPILE, str(library)], env=environment, check=False, timeout=300)

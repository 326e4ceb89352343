"""`make zipapp`: dist/tmpwarden.pyz, one file that runs wherever a Python 3.11 is, with all that it needs inside."""

import shutil
import subprocess
import sys
import tempfile
import zipapp
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNUSED = ("bin", "share", "*.dist-info/RECORD", "**/__pycache__", "**/*.so", "**/*.pyi", "pygments/lexers/[a-z]*.py")


def main(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as base:
        inside = Path(base)
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        subprocess.run([*install, "--target", inside, ROOT], check=True)
        for pattern in UNUSED:
            for path in list(inside.glob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copy(ROOT / "tools" / "zipapp_main.py", inside / "__main__.py")
        zipapp.create_archive(inside, target, "/usr/bin/env python3", compressed=True)
    target.chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

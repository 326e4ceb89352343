"""One environment with tmpwarden in it, and its command on the path: is it there as wished, make it so.

Read by the interpreter of a host from its standard input, as whoever owns the place: root never writes into a home,
where a link of its user could lead it elsewhere. What it was made from stands in a file beside it, written last.
"""

import os
import subprocess
import sys


def is_as_wished(base: str, command: str, wish: str) -> bool:
    try:
        with open(f"{base}/made-from") as mark:
            made_from = mark.read()
    except OSError:
        return False
    program = f"{base}/venv/bin/tmpwarden"
    return made_from == wish and os.access(program, os.X_OK) and os.path.realpath(command) == os.path.realpath(program)


def make(base: str, command: str, wish: str, pip: list[str]) -> None:
    for directory in (base, os.path.dirname(command)):
        os.makedirs(directory, mode=0o755, exist_ok=True)
    forget(f"{base}/made-from")
    python = f"{base}/venv/bin/python"
    if not works([python, "-c", "import pip"]):  # none yet, or its interpreter went with an upgrade of the host
        subprocess.run([sys.executable, "-m", "venv", "--clear", f"{base}/venv"], check=True)
    quietly = ["--quiet", "--disable-pip-version-check", "--no-input", "--upgrade", "--force-reinstall"]
    subprocess.run([python, "-m", "pip", "install", *quietly, *pip], check=True)
    forget(command)
    os.symlink(f"{base}/venv/bin/tmpwarden", command)
    with open(f"{base}/made-from", "w") as mark:
        mark.write(wish)


def works(argv: list[str]) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def forget(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


if __name__ == "__main__":
    os.umask(0o022)  # root's environment is for everybody
    verb, base, command, wish, *pip = sys.argv[1:]
    if verb == "make":
        try:
            make(base, command, wish, pip)
        except (OSError, subprocess.CalledProcessError) as wrong:
            sys.exit(f"not installed: {wrong}")
    else:
        print("as wished" if is_as_wished(base, command, wish) else "wanting")

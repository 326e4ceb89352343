"""Directories as npm, pnpm, python and cargo leave them, small, with their makers' lists."""

import base64
import hashlib
import json
import os
import py_compile
from pathlib import Path


def npm(top: Path) -> Path:
    """node_modules with two packages and a program; npm's hidden list is written last."""
    modules = top / "node_modules"
    rows: dict[str, object] = {}
    for name in ("left-pad", "@scope/thing"):
        package = modules / name
        package.mkdir(parents=True)
        (package / "package.json").write_text(json.dumps({"name": name}))
        (package / "index.js").write_bytes(b"x" * 60_000)
        rows[f"node_modules/{name}"] = {"version": "1.0.0"}
    (modules / ".bin").mkdir()
    (modules / ".bin" / "left-pad").symlink_to("../left-pad/index.js")
    later(modules / ".package-lock.json", json.dumps({"name": "x", "lockfileVersion": 3, "packages": rows}))
    return modules


def pnpm(top: Path) -> Path:
    modules = top / "node_modules"
    package = modules / ".pnpm" / "left-pad@1.3.0" / "node_modules" / "left-pad"
    package.mkdir(parents=True)
    (package / "package.json").write_text("{}")
    (package / "index.js").write_text("x")
    (modules / "left-pad").symlink_to(".pnpm/left-pad@1.3.0/node_modules/left-pad")
    (modules / ".pnpm" / "lock.yaml").write_text("packages:\n\n  left-pad@1.3.0:\n    resolution: {}\n")
    later(modules / ".modules.yaml", "layoutVersion: 5\n")
    return modules


def venv(top: Path) -> Path:
    """A virtual environment with one installed package."""
    made = top / ".venv"
    site = made / "lib" / "python3.11" / "site-packages"
    (site / "thing").mkdir(parents=True)
    (site / "thing-1.0.dist-info").mkdir()
    (made / "bin").mkdir()
    (made / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    (made / "bin" / "python").symlink_to("/usr/bin/python3")
    (made / "bin" / "activate").write_text("VIRTUAL_ENV=x\nhash -r 2> /dev/null\n")
    (site / "thing" / "__init__.py").write_text("x = 1\n")
    compiled(site / "thing" / "__init__.py")
    rows = [_row(site, "thing/__init__.py"), "thing-1.0.dist-info/RECORD,,"]
    later(site / "thing-1.0.dist-info" / "RECORD", "\n".join(rows) + "\n")
    return made


def _row(site: Path, name: str) -> str:
    content = (site / name).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(content)}"


def compiled(source: Path) -> Path:
    """Its `__pycache__`."""
    return Path(py_compile.compile(str(source), doraise=True)).parent


def cargo(top: Path) -> Path:
    """target/ with one program, a build script and what cargo remembers of them."""
    target = top / "target"
    profile = target / "debug"
    unit = "x-0123456789abcdef"
    for name in (f".fingerprint/{unit}", "deps", f"build/{unit}/out", "incremental/x-1a2b/s-ab-cd-ef", "examples"):
        (profile / name).mkdir(parents=True)
    (target / ".rustc_info.json").write_text("{}")
    (target / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
    (profile / ".cargo-lock").touch()
    for name in ("invoked.timestamp", "bin-x", "bin-x.json", "dep-bin-x"):
        (profile / ".fingerprint" / unit / name).write_text("x")
    (profile / "deps" / unit).write_bytes(b"\x7fELF" * 20_000)
    (profile / "deps" / f"{unit}.d").write_text("x:\n")
    os.link(profile / "deps" / unit, profile / "x")
    (profile / "x.d").write_text("x:\n")
    (profile / "incremental/x-1a2b/s-ab-cd.lock").touch()
    (profile / "incremental/x-1a2b/s-ab-cd-ef/dep-graph.bin").write_text("x")
    for name in ("invoked.timestamp", "out/made.rs", "root-output", "stderr", "output"):
        (profile / "build" / unit / name).write_text("x")
    return target


def later(path: Path, text: str) -> Path:
    """Written when the clock of the file system has gone on: a maker takes longer than its tick."""
    now = max(each.lstat().st_ctime_ns for each in (path.parent, *path.parent.rglob("*")))
    while True:
        path.write_text(text)
        if path.stat().st_mtime_ns > now:
            return path

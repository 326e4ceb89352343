"""The built wheel works by itself: installed without the repository it scans, cleans and knows its agents."""

import email
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tmpwarden
from support import planted
from support.told import NOT_PROVEN
from support.user import _DEPENDENCIES

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what is in the repository, so that nothing untracked helps."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs" / "man", source / "docs" / "man")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
    built = subprocess.run(build, cwd=source, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = out.glob("tmpwarden-*.whl")
    return path


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("tmpwarden/")}
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "tmpwarden").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted == inside


def test_the_wheel_installs_a_man_page_for_every_command(wheel: Path) -> None:
    (shared,) = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist() if "/share/man/man1/" in name}
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(f"{shared}/data/share/man/man1/")}
    assert {Path(name).name for name in inside} == {path.name for path in (ROOT / "docs" / "man").iterdir()}


def test_the_wheel_says_what_it_is_for_whom_and_what_it_needs(wheel: Path) -> None:
    (name,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    said = email.message_from_bytes(zipfile.ZipFile(wheel).read(name))
    assert {"portable", "ui", "import", "all"} == set(said.get_all("Provides-Extra", []))
    assert said["License-Expression"] == "MIT"
    assert all(said[field] for field in ("Summary", "Keywords", "Author", "Requires-Python", "License-File"))
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert str(said.get_payload()).startswith("# tmpwarden")


def test_the_installed_wheel_scans_and_cleans(wheel: Path, own_world: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    zipfile.ZipFile(wheel).extractall(library)
    for name in _DEPENDENCIES:
        found = __import__(name)
        shutil.copytree(Path(str(found.__file__)).parent, library / name)
    env = {**os.environ, "PYTHONPATH": str(library), "LATER_S": str(planted.DAYS)}
    unit = planted.session(own_world / "tmp")
    code = (ROOT / "tests" / "support" / "later.py").read_text()

    def tmpwarden(*args: str) -> "subprocess.CompletedProcess[str]":
        # -S: no site-packages, so the editable install of this repository cannot help
        argv = [sys.executable, "-S", "-c", code, *args]
        return subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)

    where = subprocess.run(
        [sys.executable, "-S", "-c", "import tmpwarden; print(tmpwarden.__file__)"],
        env=env, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert where.stdout.startswith(str(library))
    assert "removable" in tmpwarden("scan").stdout
    assert tmpwarden("clean", "--yes").returncode == 0
    assert not unit.exists()
    assert tmpwarden("undo").returncode == 0
    assert unit.exists()


EVERY_NAME = '''
"""every.py: a command-line tool that starts agents and uses every public name of tmpwarden."""

from typing import assert_type

import tmpwarden
from tmpwarden import errors


def told(receipt: tmpwarden.Receipt) -> None:
    assert_type(receipt.reason, tmpwarden.Reason)
    print(receipt.finding.path, receipt.freed_bytes, receipt.outcome is tmpwarden.Outcome.FAILED)


def is_small(plan: tmpwarden.Plan) -> bool:
    return plan.count < 1000


@tmpwarden.in_session("every")
def work(s: tmpwarden.Session, agent: str) -> str:
    with tmpwarden.lease(agent, "job-1", warn=print) as scratch, tmpwarden.session("every", on_cancel=print) as inner:
        assert_type(scratch, tmpwarden.Scratch)
        assert_type(inner, tmpwarden.Session)
        print(s.run(["env"], env=scratch.env, check=True).returncode, inner.file("a"), s.hand_over("b", keep="1m"))
    ended = assert_type(tmpwarden.teardown("job-1", wait=True), tmpwarden.TeardownResult)
    return s.envelope({"freed": ended.freed_bytes, "kept": [one.reason.value for one in ended.kept]})


def main() -> int:
    request = tmpwarden.Request(agents=("claude",), thresholds=tmpwarden.Thresholds(max_age_s=86400))
    survey = assert_type(tmpwarden.scan(request), tmpwarden.Survey)
    for verdict in survey:
        assert_type(verdict, tmpwarden.Remove | tmpwarden.Keep)
    try:
        result = assert_type(tmpwarden.clean(request, confirm=is_small, on_receipt=told), tmpwarden.CleanResult)
        with tmpwarden.Periodic(every="1h", roots=("/no/such/directory",), on_result=print) as it:
            print(work("claude"), it.last_error, len(result.receipts), len(result.kept), tmpwarden.__version__)
    except errors.NoSpace as full:
        return assert_type(full.exit_code, int)
    except tmpwarden.errors.TmpwardenError as error:
        print(assert_type(error.code, str), error)
    return 0


if __name__ == "__main__":
    main()
'''.lstrip()
WRONG = """
import tmpwarden

tmpwarden.lease(3)
tmpwarden.teardown().frobnicate
tmpwarden.Periodic(every=1)
tmpwarden.scan("/tmp")
tmpwarden.clean(dry_run="yes")
tmpwarden.session("mycli", keep=3)
"""


@pytest.fixture(scope="module")
def project(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project: our examples and a program of his own, and a venv with the wheel and what it needs."""
    base = tmp_path_factory.mktemp("project")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", base / "venv"], check=True)
    (library,) = (base / "venv" / "lib").glob("python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--python", base / "venv" / "bin" / "python", "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", "--no-index", "--no-deps", wheel], check=True)
    for name in _DEPENDENCIES:
        shutil.copytree(Path(str(__import__(name).__file__)).parent, library / name)
    for example in (ROOT / "examples").glob("*.py"):
        shutil.copy(example, base)
    (base / "every.py").write_text(EVERY_NAME)
    return base


def checked(checker: str, project: Path, *files: str) -> "subprocess.CompletedProcess[str]":
    """Both as strict as they can be. basedpyright is pyright with a node of its own, from PyPI."""
    python = project / "venv" / "bin" / "python"
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", project / "cache", "--python-executable", python]
    argv = [*mypy, *files]
    if checker == "pyright":
        found = Path(sys.executable).with_name("basedpyright")
        if not found.exists():
            pytest.skip(f"{NOT_PROVEN}types for pyright (`make dev` installs basedpyright)")
        settings = project / "pyright.json"
        settings.write_text(json.dumps({"typeCheckingMode": "strict", "include": files}))
        argv = [found, "--pythonpath", python, "--project", settings, "--stats"]
    return subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)


def python_files(project: Path) -> list[str]:
    return sorted(path.name for path in project.glob("*.py") if path.name != "wrong.py")


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_strict_type_checker_sees_every_wrong_call_and_has_nothing_to_say_about_programs_of_users(
    checker: str, project: Path
) -> None:
    files = python_files(project)
    assert {"every.py", "orchestrator.py", "server.py", "words.py", "words_click.py"} <= set(files)
    (project / "wrong.py").write_text(WRONG)
    said = checked(checker, project, *files, "wrong.py").stdout
    count = len(files) + 1
    assert re.search(rf"checked {count} source files|Total files checked: {count}\n", said), said
    assert [name for name in files if re.search(rf"\b{re.escape(name)}:\d", said)] == [], said
    for number, line in enumerate(WRONG.splitlines(), 1):
        assert not line.startswith("tmpwarden.") or f"wrong.py:{number}:" in said, f"{line}: {said}"


def test_the_program_uses_every_public_name_and_runs(project: Path, own_world: Path) -> None:
    used = EVERY_NAME.replace("from tmpwarden import errors", "")
    assert [name for name in tmpwarden.__all__ if f"tmpwarden.{name}" not in used] == []
    ran = subprocess.run(
        [project / "venv" / "bin" / "python", project / "every.py"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert '"ok": true' in ran.stdout
    assert "NoSuchRoot" in ran.stdout, "the last error of Periodic"


def test_an_address_fills_in_the_links_of_the_package_and_of_its_readme() -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec and spec.loader
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    assert build.urls("") == {}
    assert build.urls("https://x/o/r")["Issues"] == "https://x/o/r/issues"
    readme = (ROOT / "README.md").read_text()
    assert build.with_absolute_links(readme, "") == readme
    absolute = build.with_absolute_links(readme, "https://x/o/r")
    assert "](https://x/o/r/blob/main/docs/threat-model.md)" in absolute
    assert "](https://x/o/r/raw/main/docs/pictures/" in absolute
    assert re.findall(r"\]\((?!https?:|#)", absolute) == []

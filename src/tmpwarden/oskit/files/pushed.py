"""Which branch `git push` without a name would change, from the files of a repository: git itself is not run.

Hot path, but only a push with a lease gets here.
"""

from ...small_files import read

_MAX_BYTES = 1 << 18
_MAX_UP = 40


def pushed_branch(directory: str, home: str) -> str | None:
    """The branch that is checked out; None where there is none, or where a setting sends pushes elsewhere."""
    repository = _repository(directory)
    head = _read(f"{repository}/HEAD") if repository else None
    if head is None or not head.startswith("ref: refs/heads/"):
        return None
    common = _read(f"{repository}/commondir")
    shared = repository if common is None else _joined(str(repository), common.strip())
    for path in (f"{shared}/config", f"{home}/.gitconfig", f"{home}/.config/git/config", "/etc/gitconfig"):
        if _may_push_any_branch(_read(path) or ""):
            return None
    return head[len("ref: refs/heads/") :].strip()


def _repository(directory: str) -> str | None:
    here = directory
    for _ in range(_MAX_UP):
        if _read(f"{here}/.git/HEAD") is not None:
            return f"{here}/.git"
        told = _read(f"{here}/.git")
        if told is not None and told.startswith("gitdir: "):
            return _joined(here, told[8:].strip())
        if here in ("", "/"):
            return None
        here = here.rpartition("/")[0]
    return None


def _joined(base: str, path: str) -> str:
    return path if path[:1] == "/" else f"{base}/{path}"


def _may_push_any_branch(config: str) -> bool:
    """`push.default`, `remote.X.push` and includes may mean any branch. A word too many only costs a question."""
    section = ""
    for line in config.lower().split("\n"):
        text = line.strip()
        if text[:1] == "[":
            section = text[1:].partition("]")[0].partition(" ")[0]
            text = text.partition("]")[2].strip()
        key, _, value = text.partition("=")
        if section in ("include", "includeif") and text:
            return True
        if section == "push" and key.strip() == "default" and value.strip() not in ("simple", "current"):
            return True
        if section == "remote" and key.strip() in ("push", "mirror"):
            return True
    return False


def _read(path: str) -> str | None:
    held = read(path, _MAX_BYTES, flags=0)
    return None if held is None else held.decode("utf-8", "replace")

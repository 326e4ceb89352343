"""Bring a rescue back: repositories with their branches, stashes and uncommitted work, files as they were."""

from __future__ import annotations

import os
import time

from ...errors import CannotRestore, NameTaken
from ...lazy_dataclass import replace
from ...oskit.files import own_files
from ...oskit.files.opening import closing
from ...text import shown
from ..git_program import NOBODY, Git
from ..gitdir import Unclear
from . import store
from .bundle import RAW, STANDALONE, TIME_LIMIT_S, joined, make_repository
from .store import Rescued, SavedRepository, copy, is_intact


def restore(word: str, to: str | None = None) -> tuple[Rescued, str, list[str]]:
    """The rescue, where it is now (a new directory `to`, or where it was), and warnings. It stays in the store, too."""
    rescued = store.find(word)
    target = os.path.abspath(to or rescued.path)
    _check(rescued)
    is_one_file = [file.path for file in rescued.files] == [""]
    if os.path.lexists(target) and not (os.path.isdir(target) and not os.listdir(target)):
        raise NameTaken(shown(target), hint="`tmpwarden rescue restore ID --to DIR` puts it into a new directory")
    home = f"{store.directory()}/{rescued.id}"
    if is_one_file:
        copy(f"{home}/files/{os.path.basename(rescued.path)}", None, target, "")
        return rescued, target, []
    warnings: list[str] = []
    os.makedirs(target, 0o700, exist_ok=True)
    for file in rescued.files:
        copy(f"{home}/files/{file.path}", None, f"{target}/{file.path}", file.path)
    for number, saved in enumerate(rescued.repositories, 1):
        try:
            warnings += _bring_back(saved, home, f"{target}/{saved.inside}".rstrip("/"))
        except (Unclear, OSError) as error:
            raise CannotRestore(f"{rescued.id}, repository {number}", str(error), hint=_by_hand(saved)) from None
        for lfs in saved.lfs:
            copy(f"{home}/lfs-{number}/{lfs.path}", None, f"{target}/{saved.inside}/.git/lfs/objects/{lfs.path}", "")
    return rescued, target, warnings


def _check(rescued: Rescued) -> None:
    """Hashes first: half of what was saved is not brought back as if it were all."""
    home = f"{store.directory()}/{rescued.id}"
    name = os.path.basename(rescued.path)
    saved = {f"files/{file.path or name}": file.sha256 for file in rescued.files}
    for number, each in enumerate(rescued.repositories, 1):
        saved |= {each.bundle: each.sha256, each.standalone: each.standalone_sha256}
        saved |= {f"lfs-{number}/{file.path}": file.sha256 for file in each.lfs}
    for path, digest in saved.items():
        if path and not is_intact(f"{home}/{path}", digest):
            raise CannotRestore(rescued.id, f"{shown(path)} differs from what was saved")


def _by_hand(saved: SavedRepository) -> str:
    if not saved.needs:
        return f"the bundle is {shown(saved.bundle)}; its README says how to read it"
    where = saved.source or ", ".join(url for _, url in saved.remotes) or "the repository it came from"
    return f"it needs history of {shown(where)}: fetch the bundle into a clone of it"


def _bring_back(saved: SavedRepository, home: str, target: str) -> list[str]:
    """Warnings: what only a person can do now."""
    os.makedirs(target, exist_ok=True)
    make_repository(f"{target}/.git", saved.object_format, is_bare=False)
    with closing(os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        git = Git(fd, environment=NOBODY | {"GIT_ALLOW_PROTOCOL": "file"}, deadline=time.monotonic() + TIME_LIMIT_S)
        for key, value in saved.settings:
            git.output("config", key, value)
        if saved.needs and not os.path.isdir(saved.source):
            return [_bring_files_back(saved, git, home, target)]
        if saved.needs:  # a worktree's bundle builds on its repository: its history is copied
            git.output("fetch", "-q", "--no-tags", saved.source, "refs/*:refs/rescue/base/*")
        if saved.bundle:
            git.output("fetch", "-q", "--no-tags", "--update-head-ok", f"{home}/{saved.bundle}", "refs/*:refs/*")
        _stand(saved, git)
        _check_out(saved, git, target)
        _merge_on(saved, git, f"{target}/.git")
        for stash in reversed(saved.stashes):
            git.output("stash", "store", "-q", "-m", stash.message or "stash", stash.ref)
        for name, url in saved.remotes:
            git.output("config", f"remote.{name}.url", url)
            git.output("config", f"remote.{name}.fetch", f"+refs/heads/*:refs/remotes/{name}/*")
        for key, value in saved.upstreams:
            git.output("config", key, value)
    return []


def _bring_files_back(saved: SavedRepository, git: Git, home: str, target: str) -> str:
    """The history that the commits build on is not here: all files, and a sentence about the commits."""
    if not saved.standalone:
        raise Unclear("the history it needs is not here")
    git.output("fetch", "-q", "--no-tags", f"{home}/{saved.standalone}", f"{STANDALONE}:{STANDALONE}")
    git.output("update-ref", "--no-deref", "HEAD", STANDALONE)
    _check_out(replace(saved, head="", snapshot=STANDALONE, index=STANDALONE), git, target)
    return f"{shown(target)}: all files are back; for its commits, {_by_hand(saved)} ({home}/{saved.bundle})"


def _stand(saved: SavedRepository, git: Git) -> None:
    """HEAD as it was."""
    if saved.branch and saved.head:
        git.output("update-ref", f"refs/heads/{saved.branch}", saved.head)
    if saved.branch:
        git.output("symbolic-ref", "HEAD", f"refs/heads/{saved.branch}")
    elif saved.head:
        git.output("update-ref", "--no-deref", "HEAD", saved.head)


def _check_out(saved: SavedRepository, git: Git, target: str) -> None:
    """Every file byte for byte; then the index as it was. Older rescues know only the bytes of what git called
    modified: there the rest is as git checks it out."""
    changed = _changed(saved, git)
    spare = replace(git, environment=git.environment | {"GIT_INDEX_FILE": f"{target}/.git/rescue-index"})
    attributes = f"{target}/.git/info/attributes"
    if saved.head:
        if saved.is_raw:
            _write_raw(attributes)
        spare.output("read-tree", saved.head)
        spare.output("update-index", "--force-remove", "-z", "--stdin", stdin=joined(changed))
        spare.output("checkout-index", "-a", "-f", "-q")
    if saved.snapshot:
        _write_raw(attributes)
        spare.output("read-tree", saved.snapshot)
        there = set(os.fsdecode(spare.output("ls-files", "-z")).split("\0"))
        spare.output("checkout-index", "-f", "-q", "-z", "--stdin", stdin=joined([n for n in changed if n in there]))
    own_files.remove_file(attributes)
    own_files.remove_file(f"{target}/.git/rescue-index")
    if saved.index or saved.head:
        git.output("read-tree", saved.index or saved.head)
        git.succeeds("update-index", "-q", "--refresh")


def _write_raw(attributes: str) -> None:
    with open(attributes, "w", encoding="ascii") as file:
        file.write(RAW)


def _merge_on(saved: SavedRepository, git: Git, own: str) -> None:
    """Conflicts with all their sides, and the merge that they belong to."""
    rows = []
    for number, ref in enumerate(saved.stages, 1):
        for line in filter(None, os.fsdecode(git.output("ls-tree", "-r", "-z", ref)).split("\0")):
            fields, name = line.split("\t", 1)
            mode, _, oid = fields.split(" ")
            rows.append(f"{mode} {oid} {number}\t{name}\0")
    if rows:
        git.output("update-index", "-z", "--index-info", stdin=os.fsencode("".join(rows)))
    if saved.merging:
        for name, text in (("MERGE_HEAD", "".join(f"{oid}\n" for oid in saved.merging)), ("MERGE_MSG", saved.message)):
            with open(f"{own}/{name}", "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)


def _changed(saved: SavedRepository, git: Git) -> list[str]:
    if not saved.snapshot:
        return []
    words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"]
    revisions = [saved.head, saved.snapshot] if saved.head else ["--root", "--no-commit-id", saved.snapshot]
    return [name for name in os.fsdecode(git.output(*words, *revisions)).split("\0") if name]

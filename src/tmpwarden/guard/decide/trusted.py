"""`[guard] inside = "allow"`: does a command, as far as it says, stay in the project and the session's temp files?

The user's trust, no proof: what a build script does nobody sees here. It covers programs that are known to work where
they are told, and stops at what discards work, at other machines, and at places that change what agents and git do.
"""

from ...agent_facts import FACTS
from ...text import is_within
from ..nouns.analysis import DELETE, READ, PathUse, Simple
from ..nouns.names import names
from ..nouns.paths import is_sink, landing, normal_form, path_from, real
from .leading import READABLE, is_readable
from .untouchable import is_wild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .scope import Scope

ROOTS = ("@scratch", "@project")
_FETCHING = names("curl wget yq yes")
_FILES = READABLE - _FETCHING | names(
    "ln tree patch grep ag ack realpath readlink shellcheck git-grep column nproc arch locale tty"
)
_CHECKS = names(
    "pytest tox nox mypy pyright basedpyright flake8 pylint ruff black isort tsc eslint prettier stylelint biome jest "
    "vitest mocha rspec phpunit ctest gofmt goimports rustfmt clang-format shfmt yamllint markdownlint hadolint"
)
_BUILDS = names("make gmake ninja cmake meson gcc g++ cc clang clang++ javac rustc gradle gradlew mvn")
_SCRIPTS = names("python python3 node ruby perl php lua")
_MODULES = names("pytest unittest mypy ruff black isort flake8 pylint compileall json.tool doctest timeit")
# of programs with subcommands those that look, build or test
_SUBCOMMANDS = {
    "git": names(
        "status diff log show add commit blame grep ls-files ls-tree rev-parse describe shortlog merge-base rev-list "
        "cat-file name-rev for-each-ref check-ignore count-objects whatchanged version diff-tree"
    ),
    "cargo": names("build test check clippy fmt run tree bench doc metadata nextest"),
    "go": names("build test vet run fmt list version env"),
    "dotnet": names("build test run format"),
    "deno": names("test check lint fmt"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), names("test t run start ls list outdated why")),
}
# options of programs that otherwise read: git grep -O, rg --pre, fd -x, sort --compress-program, tar -I
_RUNNING = (
    "--open-files",
    "--pre",
    "--exec",
    "--compress-prog",
    "--to-command",
    "--use-compress",
    "--pager",
    "--ext-diff",
)
# words behind `make`, `npm run` and the like that mean more than this project
_FAR = (
    "deploy",
    "publish",
    "release",
    "install",
    "upload",
    "push",
    "destroy",
    "migrate",
    "prod",
    "remote",
    "distclean",
    "nuke",
)
_DISCARDING_OPTIONS = (
    "--amend",
    "--no-verify",
    "-n",
)  # of git commit: what was there is replaced, or hooks passed over
_MADE = names(
    "build dist out target bin obj node_modules coverage htmlcov .next .nuxt .cache .turbo .parcel-cache __pycache__ "
    ".pytest_cache .mypy_cache .ruff_cache .tox .nox .venv venv .eggs .gradle _build site tmp temp .tmp logs"
)
_OWN = names(
    ".git .gitmodules .gitattributes .gitconfig .hg .hgrc .envrc .direnv .husky .vscode .idea .devcontainer .tmpwarden"
)
_INPUT = ("-", "-f-", "--file=-", "--makefile=-", "/dev/stdin", "/dev/fd/0")
_HARMLESS = names(
    "CI DEBUG NODE_ENV RUST_LOG RUST_BACKTRACE LANG LC_ALL TZ NO_COLOR FORCE_COLOR CLICOLOR TERM COLUMNS VERBOSE V "
    "PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED GOFLAGS_ CGO_ENABLED GOOS GOARCH TMPDIR"
)


def stays_inside(simple: Simple, scope: "Scope") -> bool:
    """Asked where no rule has spoken; doubts, wrappers and remote programs have cost the trust already."""
    if simple.name is None or None in simple.argv or simple.cwd is None or not simple.exported <= _HARMLESS:
        return False
    roots = scope.roots(ROOTS)
    if not _is_in(simple.cwd, roots, scope) or scope.is_above_home():
        return False
    if simple.argv and not _is_local(simple):
        return False
    uses = (*simple.paths, *simple.redirects)
    if not all(_stays(use, roots, scope) for use in uses) or _discards(simple, scope):
        return False
    return simple.name in ("echo", "printf", "true", "false") or all(
        _is_in(path, roots, scope) for path in _named(simple)
    )


def file_stays_inside(use: PathUse, scope: "Scope") -> bool:
    """Of a file tool."""
    return not scope.is_above_home() and _stays(use, scope.roots(ROOTS), scope)


def _is_in(path: str, roots: "tuple[str, ...]", scope: "Scope") -> bool:
    place = real(path, scope.look)
    return place is not None and any(is_within(place, root) for root in roots)


def _stays(use: PathUse, roots: "tuple[str, ...]", scope: "Scope") -> bool:
    if use.path is not None and is_sink(use.path):
        return True
    place = landing(use)
    if place is None and use.is_glob and use.resolved is not None and scope.is_plain(use.resolved, False):
        place = use.resolved
    if place is None or not any(is_within(place, root) for root in roots):
        return False
    return use.mode == READ or not any(_is_own(path, roots) for path in (place, use.path or ""))


def _is_own(path: str, roots: "tuple[str, ...]") -> bool:
    """A place that says what agents, git, editors or we do."""
    below = next((path[len(root) :] for root in roots if is_within(path, root)), path)
    parts = below.split("/")
    return not _OWN.isdisjoint(parts) or not _of_agents().isdisjoint(parts)


def _of_agents() -> "set[str]":
    """Names in a project and in a home by which agents keep what steers them."""
    globs = [glob for facts in FACTS.values() for glob in (*facts["guarded"], *facts["own"])]
    return {glob.split("/")[1].rstrip("*") for glob in globs if glob[:2] in ("*/", "~/")} - {".config", ".local"}


def _named(simple: Simple) -> "list[str]":
    """Words that look like a path elsewhere, also behind `=`, whatever the program makes of them."""
    paths = []
    for word in simple.argv[1:]:
        for piece in {word or "", (word or "").rpartition("=")[2], (word or "")[2:] if (word or "")[:1] == "-" else ""}:
            if piece[:1] in ("/", "~") or ".." in piece.split("/"):
                paths.append(normal_form(path_from(simple.cwd, piece) or "/"))
    return [path for path in paths if not is_sink(path)]


def _is_local(simple: Simple) -> bool:
    name = simple.name or ""
    words = [word or "" for word in simple.argv[1:]]
    if any(word.startswith(_RUNNING) or (name == "git" and word[:2] == "-O") for word in words):
        return False
    if name in _FILES:
        return name not in READABLE or is_readable(simple)
    if name != "git" and any(far in word.lower() for word in words for far in _FAR):
        return False
    if name in _CHECKS:
        return True
    if name in _BUILDS:
        return "-E" not in words and not any(word in _INPUT for word in words)
    if name in _SCRIPTS:
        return _runs_a_script(words)
    return name in _SUBCOMMANDS and words[:1] != [] and words[0] in _SUBCOMMANDS[name]


def _runs_a_script(words: "list[str]") -> bool:
    """A file of the project, or a module that checks it. Code on the command line or on the input is no file."""
    while words and words[0] in ("-u", "-B", "-q", "-W", "--test", "-w"):
        words = words[1:]
    if words[:1] == ["-m"]:
        return words[1:2] != [] and words[1] in _MODULES
    return words[:1] != [] and words[0][:1] != "-" and words[0] not in _INPUT


def _discards(simple: Simple, scope: "Scope") -> bool:
    """Work that is nowhere else: sources removed, history rewritten."""
    words = [word or "" for word in simple.argv[1:]]
    if simple.name == "git":
        return any(word in _DISCARDING_OPTIONS for word in words) and words[:1] == ["commit"]
    deletions = [use for use in simple.paths if use.mode == DELETE and not scope.is_of_session(use)]
    if simple.name in ("mv", "gmv"):
        return any(use.is_glob and is_wild(use.pattern[1].rpartition("/")[2]) for use in deletions)
    is_deep = any(
        word == "--recursive" or (word[:1] == "-" and word[:2] != "--" and "r" in word.lower()) for word in words
    )
    return any((is_deep or use.is_glob) and not _is_made(use) for use in deletions)


def _is_made(use: PathUse) -> bool:
    """What a build makes again."""
    parts = [part for part in (use.raw.strip("'\"").split("/")) if part not in ("", ".")]
    return bool(parts) and ".." not in parts and not _MADE.isdisjoint(parts)

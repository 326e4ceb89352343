"""Every error a user can meet. The class owns its wording, its code, its exit status and its hint.

Example:

    import tmpwarden

    try:
        tmpwarden.scan(tmpwarden.Request(roots=("/no/such/directory",)))
    except tmpwarden.errors.TmpwardenError as error:
        print(error.code, error.exit_code, error.hint)
"""


class TmpwardenError(Exception):
    """The base class of all errors of tmpwarden. `str(error)` is the sentence for people."""

    # the words are an attribute: a docstring is gone under -OO and in bundles

    wording = "{0}"
    code = "error"
    exit_code = 1
    hint = ""

    def __init__(self, *words: object, hint: str | None = None) -> None:
        super().__init__(*words)
        self.words = words
        if hint is not None:
            self.hint = hint

    def __init_subclass__(cls) -> None:
        if "wording" not in cls.__dict__:
            raise TypeError(f"{cls.__name__} has no words of its own: give it a `wording`")

    def __str__(self) -> str:
        return self.wording.format(*self.words)

    def described(self) -> dict[str, str]:
        """For programs, in the words of the published schema, which allows no others."""
        return {"code": self.code, "message": str(self), "suggestion": self.hint}


class UnsafeRoot(TmpwardenError):
    wording = "cannot clean {0}: {1}"
    code, exit_code, hint = "unsafe-root", 7, "pass a directory you own, such as the one TMPDIR names"


class NoSuchRoot(UnsafeRoot):
    wording = "there is no directory {0}"
    code, exit_code = "no-such-root", 5


class BadArgument(TmpwardenError):
    wording = "{0}"
    code, exit_code = "bad-argument", 3


class UnknownAgent(TmpwardenError):
    wording = "unknown agent {0}"
    code, exit_code, hint = "unknown-agent", 3, "`tmpwarden agents` lists them"


class BadConfig(TmpwardenError):
    wording = "{0}: {1}"
    code, exit_code, hint = "bad-config", 3, "`tmpwarden config show` lists every key and where it is set"


class NotFound(TmpwardenError):
    wording = "{0}"
    code, exit_code = "not-found", 5


class LockHeld(TmpwardenError):
    wording = "another tmpwarden is cleaning up right now"
    code, exit_code, hint = "lock-held", 6, "wait for it, or run again later"


class NameTaken(TmpwardenError):
    wording = "cannot bring back {0}: another file has that name now"
    code, exit_code, hint = "name-taken", 6, "`tmpwarden undo ID --to DIR` puts it elsewhere"


class AlreadyThere(TmpwardenError):
    wording = "{0} already exists"
    code, exit_code = "already-there", 6


class NotTheOwner(TmpwardenError):
    wording = "process {1} is not an owner of session {0}; nothing was changed"
    code, exit_code, hint = "not-the-owner", 6, "`tmpwarden lease list` shows its owners"


class MissingExtra(TmpwardenError):
    wording = "{0} needs Textual, which is not installed"
    code, exit_code, hint = "missing-extra", 4, "`pipx inject tmpwarden textual`, or in a clone: pip install '.[ui]'"


class TeardownFailed(TmpwardenError):
    wording = "the teardown failed: {0}"
    code, exit_code, hint = "teardown-failed", 1, "`tmpwarden clean` can do it later"


class CannotRestore(TmpwardenError):
    wording = "{0} cannot be restored: {1}"
    code, exit_code = "cannot-restore", 1


class NotRescued(TmpwardenError):
    wording = "nothing was saved, and nothing was removed: {0}"
    code, exit_code, hint = "not-rescued", 2, "it was left where it is; `tmpwarden why PATH` says more"


class WouldAsk(TmpwardenError):
    wording = "this asks for confirmation, and there is no terminal to ask on; nothing was changed"
    code, exit_code, hint = "input-required", 4, "pass --yes, or --dry-run to look first"


class StillInQuarantine(TmpwardenError):
    wording = "{0} in quarantine would be lost with the state directory"
    code, exit_code, hint = (
        "still-in-quarantine",
        6,
        "`tmpwarden undo` brings them back, `tmpwarden clean --purge` removes them",
    )


class NotForAgents(TmpwardenError):
    wording = "{0} is set: an agent is running this command, and agents cannot change their own guard"
    code, exit_code, hint = "not-for-agents", 4, "run it in a terminal of your own"


class UnsafeScratch(TmpwardenError):
    wording = "cannot use {0} for temporary files: {1}"
    code, exit_code, hint = "unsafe-scratch", 7, "remove it, or set TMPDIR to a directory of yours"


class UnsafeMetricsDir(TmpwardenError):
    wording = "cannot write metrics into {0}: {1}"
    code, exit_code, hint = "unsafe-metrics-dir", 7, "name a directory that root owns and only root can write"


class FrozenMount(TmpwardenError):
    wording = "cannot read {0}: the file system mounted at {1} does not respond"
    code, exit_code, hint = "frozen-mount", 1, "`tmpwarden doctor` names every mount that does not respond"


class NoSpace(TmpwardenError):
    wording = "cannot create temporary files in {0}: {1}"
    code, exit_code, hint = "no-space", 1, "`tmpwarden doctor` says what fills it"


class TimeLimit(TmpwardenError):
    wording = "stopped after the time limit of {0}; the next run continues"
    code, exit_code = "time-limit", 10


class Partial(TmpwardenError):
    wording = "{0}"
    code, exit_code, hint = "partial", 2, "run it again; `tmpwarden why PATH` says what uses an item"


class NotProven(Partial):
    wording = "{0} may hold work that exists nowhere else: {1}"
    hint = "commit or move that work; or save it with `tmpwarden rescue PATH`, then remove the directory yourself"


class Interrupted(TmpwardenError):
    wording = "interrupted ({0}); `tmpwarden log` shows what was already removed"
    code, exit_code = "interrupted", 130

    def __init__(self, signal_number: int) -> None:
        super().__init__({2: "Ctrl-C", 15: "SIGTERM"}.get(signal_number, f"signal {signal_number}"))
        self.exit_code = 128 + signal_number


class Unexpected(TmpwardenError):
    wording = "internal error: {0}: {1}"
    code, exit_code, hint = "unexpected", 1, "run it again with TMPWARDEN_DEBUG=1 and send us what it prints"


class NeedsRoot(TmpwardenError):
    wording = "{0} is for root only"
    code, exit_code, hint = "needs-root", 7, "leave it out to clean up your own files"


class BrokenSettings(TmpwardenError):
    wording = "cannot change {0}: {1}"
    code, exit_code, hint = "broken-settings", 4, "repair the file first; nothing was changed"


class SetupFailed(TmpwardenError):
    wording = "{0}"
    code, exit_code = "setup-failed", 1


class NoNamespace(TmpwardenError):
    wording = "this system does not allow a private /tmp: {0}"
    code, exit_code, hint = "no-namespace", 4, "`tmpwarden run -- COMMAND` works without: it sets TMPDIR instead"


class PermissionDenied(TmpwardenError):
    wording = "permission denied: {0}"
    code, exit_code, hint = "permission-denied", 7, "check its owner and mode"


class NotYours(TmpwardenError):
    wording = "{0} belongs to {1}; tmpwarden touches your own files only"
    code, exit_code, hint = "not-yours", 7, "root can run `tmpwarden clean --all-users`, which acts as each user"


class SystemRefused(TmpwardenError):
    wording = "the system refused: {0}: {1}"
    code, exit_code, hint = "system", 1, "`tmpwarden doctor` says whether the disk is full"

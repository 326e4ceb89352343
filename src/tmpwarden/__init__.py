"""tmpwarden owns the temp-file lifecycle of AI coding agents. This is all that programs may call:

For orchestrators and servers, which start agents:
    lease(agent, session)      a temp directory for an agent that you start
    teardown(session)          remove what an agent left behind, right after its end
    Periodic(every="1h")       clean up now and then, in a thread of your server
For everybody:
    scan()                     everything found, and for each item whether it may be removed; changes nothing
    clean()                    remove what may be removed
For authors of command-line tools:
    session(app)               a temp directory for one run of your program, removed however that run ends
    in_session(app)            the same, as a decorator

What they give and take: Scratch, TeardownResult, Survey, CleanResult, Plan, Request, Thresholds, Receipt, Remove,
Keep, Reason, Outcome, Session. What they raise: errors.TmpwardenError and its subclasses in tmpwarden.errors.
docs/api.md tells more. All other modules are internal and may change at any time.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  from a clone: pip says it by itself
    _needs = f"tmpwarden needs Python 3.11 or newer, and this is {sys.version_info[0]}.{sys.version_info[1]}"
    if sys.argv[:1] == ["-m"]:
        sys.exit(_needs)
    raise ImportError(_needs)

# Everything here is lazy: a hook starts before every tool call and other people's programs import us,
# so `import tmpwarden` itself must cost next to nothing.
__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:  # for type checkers and editors: the same names as in _PUBLIC
    from . import errors as errors
    from .lifecycle.periodic import Periodic as Periodic
    from .lifecycle.spawn import Scratch as Scratch
    from .lifecycle.spawn import lease as lease
    from .lifecycle.teardown import TeardownResult as TeardownResult
    from .lifecycle.teardown import teardown as teardown
    from .model.request import Request as Request
    from .model.request import Thresholds as Thresholds
    from .model.sweep import Keep as Keep
    from .model.sweep import Receipt as Receipt
    from .model.sweep import Remove as Remove
    from .model.terms import Outcome as Outcome
    from .model.terms import Reason as Reason
    from .session.session import Session as Session
    from .session.session import Session as session  # noqa: N813  what authors call
    from .session.session import in_session as in_session
    from .sweep.compose import clean as clean
    from .sweep.compose import scan as scan
    from .sweep.prepared import CleanResult as CleanResult
    from .sweep.prepared import Plan as Plan
    from .sweep.survey import Survey as Survey

_PUBLIC = {  # name: the module that has it. In this order docs/api.md tells of them
    "lease": "lifecycle.spawn",
    "teardown": "lifecycle.teardown",
    "Periodic": "lifecycle.periodic",
    "scan": "sweep.compose",
    "clean": "sweep.compose",
    "session": "session",
    "in_session": "session.session",
    "Scratch": "lifecycle.spawn",
    "TeardownResult": "lifecycle.teardown",
    "Survey": "sweep.survey",
    "CleanResult": "sweep.prepared",
    "Plan": "sweep.prepared",
    "Request": "model.request",
    "Thresholds": "model.request",
    "Receipt": "model.sweep",
    "Remove": "model.sweep",
    "Keep": "model.sweep",
    "Reason": "model.terms",
    "Outcome": "model.terms",
    "Session": "session.session",
    "errors": "errors",
}

__all__ = [  # noqa: RUF022  in the order of _PUBLIC
    "lease", "teardown", "Periodic", "scan", "clean", "session", "in_session", "Scratch", "TeardownResult", "Survey",
    "CleanResult", "Plan", "Request", "Thresholds", "Receipt", "Remove", "Keep", "Reason", "Outcome", "Session",
    "errors", "__version__",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'tmpwarden' has no attribute {name!r}")
    import importlib

    value: object = importlib.import_module(f"tmpwarden.{_PUBLIC[name]}")
    if name != _PUBLIC[name]:  # else the module is what was asked for: `errors`, and `session`, which can be called
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""tmpwarden owns the temp-file lifecycle of AI coding agents."""

# Everything here is lazy: a hook starts before every tool call and other people's programs import us,
# so `import tmpwarden` itself must cost next to nothing.
__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .session.decorator import in_session as in_session
    from .session.session import Session as session  # noqa: N813  what authors call

_PUBLIC = {
    "in_session": "tmpwarden.session.decorator",
    "lease": "tmpwarden.lifecycle.spawn",
    "teardown": "tmpwarden.lifecycle.teardown",
    "Periodic": "tmpwarden.lifecycle.periodic",
    "scan": "tmpwarden.sweep.compose",
    "clean": "tmpwarden.sweep.compose",
}

__all__ = ["Periodic", "__version__", "clean", "in_session", "lease", "scan", "session", "teardown"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'tmpwarden' has no attribute {name!r}")
    if name == "session":  # a package that can be called: importing it binds this very name, in whatever order
        __import__("tmpwarden.session")
        package: object = globals()["session"]
        return package
    import importlib

    value: object = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""A simple command on its way through its wrappers."""

from __future__ import annotations

from ..shell.syntax import Node, Redirect
from .analysis import PathUse
from .fields import Field


class Invocation:
    """A simple command on its way through its wrappers."""

    __slots__ = ("body", "doubts", "fields", "is_remote", "node", "redirects", "skips_functions", "wrappers")

    def __init__(self, node: Node, fields: list[Field], redirects: list[PathUse], body: Redirect | None) -> None:
        self.node = node
        self.fields = fields
        self.redirects = redirects
        self.body = body  # the here-document or here-string on its input
        self.wrappers: tuple[str, ...] = ()
        self.doubts: tuple[str, ...] = ()
        self.is_remote = False
        self.skips_functions = False  # only a name that the shell itself looks up can be a function

    @property
    def name(self) -> str:
        """The last component of the first word, "" if that is not known."""
        return (self.fields[0].text or "").rpartition("/")[2]

    def inside(self, wrapper: str, fields: list[Field]) -> Invocation:
        """What the wrapper runs, with the files that the shell opens for it."""
        inner = Invocation(self.node, fields, self.redirects, self.body)
        inner.wrappers = (*self.wrappers, wrapper)
        inner.doubts = self.doubts
        inner.is_remote = self.is_remote
        inner.skips_functions = True
        return inner

    def quiet(self) -> Invocation:
        """Without the redirects: they were told with the command around it."""
        self.redirects = []
        self.body = None
        return self

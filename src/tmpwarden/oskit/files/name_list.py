"""Names that wait for their turn in a walk, in little memory."""

from __future__ import annotations

_CHUNK = 64


class NameList:
    """Kept as joined text: a str object each would cost 60 bytes more."""

    __slots__ = ("chunks", "loose")

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self.loose: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.loose or self.chunks)

    def add(self, name: str) -> None:
        self.loose.append(name)
        if len(self.loose) == _CHUNK:
            self.chunks.append("/".join(self.loose))
            self.loose = []

    def pop(self) -> str:
        if not self.loose:
            self.loose = self.chunks.pop().split("/")
        return self.loose.pop()

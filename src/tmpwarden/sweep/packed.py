"""Many nouns in little memory: a list that packs its older members, and unpacks them when somebody looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")
else:
    T = None  # typing would cost more than all that is packed

_BATCH = 512  # what a person looks at is never packed


class _Members(Sequence[T]):
    """What can be counted and iterated, for who expects a list."""

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return list(islice(self, *at.indices(len(self))))
        try:
            return next(islice(self, at + len(self) if at < 0 else at, None))
        except (StopIteration, ValueError):
            raise IndexError(at) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class Packed(_Members[T]):
    """Append and iterate. `tag`: what members are asked for by (`where`); batches without it are passed over."""

    def __init__(self, members: Iterable[T] = (), tag: Callable[[T], object] = lambda _: None) -> None:
        self._tag = tag
        self._batches: list[tuple[frozenset[object], bytes]] = []
        self._last: list[T] = []
        self._counts: Counter[object] = Counter()
        self.extend(members)

    def append(self, member: T) -> None:
        if len(self._last) == _BATCH:
            self._batches.append((frozenset(map(self._tag, self._last)), _packed(self._last)))
            self._last = []
        self._last.append(member)
        self._counts[self._tag(member)] += 1

    def extend(self, members: Iterable[T]) -> None:
        for member in members:
            self.append(member)

    def __iadd__(self, members: Iterable[T]) -> Packed[T]:
        self.extend(members)
        return self

    def where(self, *tags: object) -> Sequence[T]:
        """Those that have one of these tags."""
        return _Chosen(self, frozenset(tags))

    def count_of(self, tags: Iterable[object]) -> int:
        return sum(self._counts[tag] for tag in tags)

    def tagged(self, tags: frozenset[object]) -> Iterator[T]:
        for tag, packed in self._batches:
            if not tags.isdisjoint(tag):
                yield from (each for each in _unpacked(packed) if self._tag(each) in tags)
        yield from (each for each in self._last if self._tag(each) in tags)

    def __iter__(self) -> Iterator[T]:
        for _, packed in self._batches:
            yield from _unpacked(packed)
        yield from self._last

    def __len__(self) -> int:
        return len(self._batches) * _BATCH + len(self._last)


class _Chosen(_Members[T]):
    def __init__(self, packed: Packed[T], tags: frozenset[object]) -> None:
        self._packed, self._tags = packed, tags

    def __iter__(self) -> Iterator[T]:
        return self._packed.tagged(self._tags)

    def __len__(self) -> int:
        return self._packed.count_of(self._tags)


def _packed(members: list[T]) -> bytes:
    import pickle
    import zlib

    return zlib.compress(pickle.dumps(members, pickle.HIGHEST_PROTOCOL), 1)


def _unpacked(packed: bytes) -> list[Any]:
    import pickle
    import zlib

    members: list[Any] = pickle.loads(zlib.decompress(packed))
    return members

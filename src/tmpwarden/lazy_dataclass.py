"""`@dataclass` that costs nothing at import: what makes instances is compiled when there are more than a few of them.

The standard one compiles six functions for each class while a program starts, and imports `inspect` to do so: a third
of a small scan. A request or a set of settings is made once, and compiling for that costs 0.1 ms. This one knows what
our nouns use (`frozen`, `slots`, defaults, `field(default_factory=...)`) and no more. mypy sees the standard one, and
so does `dataclasses.asdict` or `fields` when somebody asks.
"""

from __future__ import annotations

from _operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Maker = Callable[[type], type]

_MISSING = object()
_FEW = 4  # instances that are filled one field after the other
_FIELDS = "__match_args__"  # the names in order; `match` reads them under this name


class _Made:
    """A default that is made anew for each instance."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def _field(*, default: object = _MISSING, default_factory: Callable[[], object] | None = None) -> Any:
    return default if default_factory is None else _Made(default_factory)


def _replace(instance: Any, /, **changes: object) -> Any:
    for name in getattr(type(instance), _FIELDS):
        if name not in changes:
            changes[name] = getattr(instance, name)
    return type(instance)(**changes)


def _dataclass(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False) -> Any:
    """The decorator, with or without its brackets."""

    def decorate(plain: type) -> type:
        return _noun(plain, is_frozen=frozen, has_slots=slots)

    return decorate if cls is None else decorate(cls)


def _noun(plain: type, *, is_frozen: bool, has_slots: bool) -> type:
    body = dict(plain.__dict__)
    own = tuple(body.get("__annotations__", ()))
    defaults = {name: value for base in plain.__mro__[:0:-1] for name, value in _defaults(base).items()}
    names = tuple(dict.fromkeys((*getattr(plain, _FIELDS, ()), *own)))
    defaults |= {name: body[name] for name in own if name in body}
    for name in own:
        if has_slots or isinstance(body.get(name), _Made):
            body.pop(name, None)
    body.pop("__dict__", None), body.pop("__weakref__", None)
    body |= {_FIELDS: names, "_defaults": defaults, "__dataclass_fields__": _Standard(), "__signature__": _Signature()}
    if has_slots:
        body["__slots__"] = own
    for name, method in (_FROZEN if is_frozen else _CHANGEABLE).items():
        body.setdefault(name, method)
    values = attrgetter(*names) if names else lambda _: ()
    body["_values"] = staticmethod(values)
    cls: type = type(plain)(plain.__name__, plain.__bases__, body)
    cls.__qualname__ = plain.__qualname__
    if "__init__" not in plain.__dict__:
        _compile_when_called(cls, is_frozen=is_frozen)
    return cls


def _defaults(base: type) -> dict[str, object]:
    defaults: dict[str, object] = base.__dict__.get("_defaults", {})
    return defaults


def _compile_when_called(cls: Any, *, is_frozen: bool) -> None:
    # Most classes of a run have one or two instances. Compiling an initializer costs more than filling those by name.
    made = 0

    def __init__(self: object, *args: object, **named: object) -> None:  # noqa: N807
        nonlocal made
        made += 1
        if made > _FEW or not _filled(cls, self, args, named):
            cls.__init__ = _initializer(cls, is_frozen=is_frozen)
            cls.__init__(self, *args, **named)

    cls.__init__ = __init__


def _filled(cls: Any, self: object, args: tuple[object, ...], named: dict[str, object]) -> bool:
    """What the compiled one does, without compiling it. False where that has to say what is wrong with the call."""
    names, values = getattr(cls, _FIELDS), dict(cls._defaults)
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or not given.keys().isdisjoint(named) or not named.keys() <= set(names):
        return False
    values |= given | named
    if len(values) < len(names):
        return False
    for name in names:
        value = values[name]
        _set(self, name, value.make() if isinstance(value, _Made) else value)
    return True


_set = object.__setattr__


def _initializer(cls: Any, *, is_frozen: bool) -> Callable[..., None]:
    """`def __init__(self, a, b=...)`. A frozen one writes through the slots: half the price of object.__setattr__."""
    names, defaults = getattr(cls, _FIELDS), cls._defaults
    known: dict[str, object] = {"_MISSING": _MISSING, "_object_set": object.__setattr__}
    parameters, lines = ["self"], []
    for name in names:
        default, value = defaults.get(name, _MISSING), name
        if isinstance(default, _Made):
            known[f"_make_{name}"], known[f"_default_{name}"] = default.make, _MISSING
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        elif default is not _MISSING:
            known[f"_default_{name}"] = default
        parameters.append(name if default is _MISSING else f"{name}=_default_{name}")
        lines.append(_assignment(cls, name, value, known) if is_frozen else f"self.{name} = {value}")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"]), known)
    initializer: Any = known["__init__"]
    made: Callable[..., None] = initializer
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _assignment(cls: Any, name: str, value: str, known: dict[str, object]) -> str:
    slot: Any = getattr(cls, name, None)
    if type(slot).__name__ != "member_descriptor":
        return f"_object_set(self, {name!r}, {value})"
    known[f"_set_{name}"] = slot.__set__
    return f"_set_{name}(self, {value})"


def _eq(self: Any, other: Any) -> Any:
    return self._values(self) == self._values(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._values(self))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in getattr(self, _FIELDS))
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: object, name: str, *_: object) -> None:
    # it imports inspect: only who breaks the rule pays for that
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


def _reduce(self: Any) -> tuple[object, ...]:
    """For copies and pickles: made anew, because a frozen one cannot be filled."""
    return type(self), tuple(getattr(self, name) for name in getattr(self, _FIELDS))


_CHANGEABLE: dict[str, object] = {"__eq__": _eq, "__repr__": _repr, "__hash__": None}
_FROZEN: dict[str, object] = {
    **_CHANGEABLE,
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__reduce__": _reduce,
}


class _Standard:
    """`__dataclass_fields__`, built for who asks: asdict, fields and replace of the standard library work."""

    def __get__(self, _: object, cls: Any) -> dict[str, object]:
        import dataclasses

        made = []
        for name in getattr(cls, _FIELDS):
            default = cls._defaults.get(name, dataclasses.MISSING)
            spec: Any = dataclasses.field(default=default)
            if isinstance(default, _Made):
                spec = dataclasses.field(default_factory=default.make)
            made.append((name, object, spec))
        standard: Any = dataclasses.make_dataclass(cls.__name__, made)
        fields: dict[str, object] = standard.__dataclass_fields__
        return fields


class _Signature:
    """`__signature__`, built for who asks: help() shows the fields of a class, and not `*args`."""

    def __get__(self, _: object, cls: Any) -> object:
        from inspect import Parameter, Signature, get_annotations

        annotations = [get_annotations(base) for base in cls.__mro__[::-1]]
        types = {name: what for each in annotations for name, what in each.items()}
        shown = []
        for name in getattr(cls, _FIELDS):
            value = cls._defaults.get(name, Parameter.empty)
            default = _Default() if isinstance(value, _Made) else value
            shown.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=types[name]))
        return Signature(shown)


class _Default:
    """Stands for a default that is made anew for each instance."""

    def __repr__(self) -> str:
        return "..."


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    dataclass, field, replace = _dataclass, _field, _replace

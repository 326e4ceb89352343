"""A session ends: its scratch is given back."""

from ..dialects.spoken import Answer
from . import Call


def end(call: Call) -> Answer | None:
    return None

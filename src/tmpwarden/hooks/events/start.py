"""A session starts or goes on: its scratch, the way there for its commands, one line for the model."""

from ..dialects.spoken import Answer
from . import Call


def start(call: Call) -> Answer | None:
    return None

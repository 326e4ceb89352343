"""What a test expects of an answer with three cases."""

from tmpwarden.model.answers import Held, Nobody, NotMeasured, Users
from tmpwarden.model.sweep import Witness


def witnesses(answer: Users) -> tuple[Witness, ...]:
    """Who uses it; a test that expects somebody or nobody fails where it was not measured."""
    match answer:
        case Held(by):
            return by
        case Nobody():
            return ()
        case NotMeasured(why):
            raise AssertionError(f"not measured: {why}")

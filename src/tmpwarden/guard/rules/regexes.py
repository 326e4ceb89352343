"""Which regexes a config may hold, how each is matched, and which commands they speak of."""

import json
import re

from ...catalogue.names import power, sre, why_costly
from .regex_match import BY_TABLE
from .regex_table import NoTable, table_of

_LONG, _SHORT = 4096, 1024  # characters: quadratic and cubic then stay below a third of a second
_SHORT_FROM = 3  # open repeats


def prepared(regex: str) -> tuple[str, ...]:
    """The operands of a check: for `re` with the longest text that it may see, or with its table. Raises ValueError."""
    try:
        tree = sre.parse(regex, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regex: {error}") from error
    costly = why_costly(tree)
    if not costly:
        return regex, str(_LONG if power(tree) < _SHORT_FROM else _SHORT)
    try:
        return regex, BY_TABLE, json.dumps(table_of(regex))
    except NoTable as why:
        raise ValueError(f"can blow up: it {costly.partition(',')[0]}, and it {why}") from why


def first_words(regex: str) -> tuple[str, ...]:
    """Every plain word in a regex: `(cp|mv) .*` speaks of cp and mv."""
    return tuple(re.findall(r"(?<![\w/.-])[a-z][a-z0-9_]*(?![\w-])", regex.replace("\\b", " ").replace("\\s", " ")))

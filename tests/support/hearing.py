"""What the judge says of one path, as `tmpwarden why` hears it."""

import time
from collections.abc import Callable

from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import prepare
from tmpwarden.sweep.explain import explain
from tmpwarden.sweep.prepared import Explained


def why(path: str, request: Request | None = None, *, now_ns: Callable[[], int] = time.time_ns) -> Explained:
    return explain(path, prepare(request or Request(), now_ns=now_ns))

"""A clean of what was marked, in a process of its own: `python -m tmpwarden.cli.ui.deed`.

Reads one line of JSON (what was marked, and where) and writes lines of JSON: how far it is, then what became of it. The
view has threads, and a clean forks; and when the view is killed or closed, its end of the pipe closes, and the clean
stops between two units as it does after Ctrl-C.
"""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Callable, Sequence

from ...errors import TmpwardenError
from ...lazy_dataclass import replace
from ...model.request import Request, Thresholds
from ...model.sweep import Receipt
from ...sweep.compose import cleaned
from ...sweep.find.named import LITTER
from ...sweep.prepared import Plan
from .. import removal, render
from ..envelope import plain
from .pins import Pin, of_document, still_marked


def main() -> int:
    order = json.loads(sys.stdin.readline())
    pins = [of_document(each) for each in order["pins"]]
    request = Request(
        roots=tuple(order["roots"]),
        config_file=order["config_file"],
        thresholds=Thresholds(take_ask=True),  # the mark is the request for it
    )
    progress, now_ns = _ProgressLines(), lambda: time.time_ns() + order["ahead_ns"]
    named = [pin for pin in pins if pin.litter == LITTER.key]  # not recognised: judged as if named in a command
    known = [pin for pin in pins if pin.litter != LITTER.key]
    status = 0
    for some, asked in (
        (known, replace(request, only_paths=frozenset(pin.path for pin in known))),
        (named, replace(request, words=tuple(pin.path for pin in named), only_unknown=True)),
    ):
        if some:
            status = _clean_marked(asked, some, progress, now_ns) or status
    return status


def _clean_marked(request: Request, pins: Sequence[Pin], progress: _ProgressLines, now_ns: Callable[[], int]) -> int:
    def only_the_marked(plan: Plan) -> bool:
        plan.removals[:] = still_marked(plan.removals, pins)
        return bool(plan.removals)

    try:
        result = cleaned(
            request, confirm=only_the_marked, on_receipt=progress, should_stop=_is_left_alone, now_ns=now_ns
        )
    except TmpwardenError as error:
        progress.write(error={"message": str(error), "hint": error.hint})
        return error.exit_code
    document = removal.document(result, dry_run=False, quarantine=True)
    progress.write(result=document | {"stopped": result.stopped, "warnings": result.warnings})
    return 0


def _is_left_alone() -> bool:
    """The view has closed its end, or is gone."""
    readable, _, _ = select.select([sys.stdin], [], [], 0)
    return bool(readable) and not sys.stdin.read(1)


class _ProgressLines:
    def __init__(self) -> None:
        self.items = self.bytes = 0

    def __call__(self, receipt: Receipt) -> None:
        self.items += render.items_in(receipt.finding)
        self.bytes += receipt.bytes
        self.write(items=self.items, bytes=self.bytes)

    def write(self, **fields: object) -> None:
        try:
            print(json.dumps(fields, default=plain), flush=True)
        except BrokenPipeError:
            sys.stdout = open("/dev/null", "w")  # noqa: SIM115  # nobody reads any more; what is under way ends well


if __name__ == "__main__":
    raise SystemExit(main())

"""What typical calls use of the guard: played once while a pack is made, so that just that lies ready in it."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from .events.hook_call import HookCall

_TYPICAL = (
    "cd src && grep -rn 'a b' . | head -20 > \"$TMPDIR/found.txt\"; rm -rf build && mkdir -p build/out",
    "FOO=1 npm test 2>&1 | tee /tmp/test.log | tail -5",
    "mkdir -p a/b && cp -r x/. a/b && ls -la a/b > /tmp/list.txt",
    "rm -rf /tmp/build; cd sub && python3 -m pytest -q 2>&1 | tail -20 > ../out.txt",
    "git add -A && git commit -m \"$(cat <<'E'\nwords\nE\n)\"",
    "cat > notes.md <<'E'\nwords\nE",
    'for f in *.py; do wc -l "$f"; done',
    "if [ -f a ]; then cp a b; fi",
)
_NEWLOCALS = 2  # of co_flags: a function, not the body of a class or a module


class CallWatch:
    """Which functions are called, as (module, qualified name); `at_load`: by the body of a module, on every load."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()
        self.at_load: set[tuple[str, str]] = set()

    def __enter__(self) -> "CallWatch":
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: "FrameType", event: str, _: object) -> None:
        if event == "call":
            name = (frame.f_globals.get("__name__", ""), frame.f_code.co_qualname)
            self.seen.add(name)
            if frame.f_code.co_flags & _NEWLOCALS and _is_loading(frame):
                self.at_load.add(name)


def _is_loading(frame: "FrameType | None") -> bool:
    """Whether one of its callers is the body of a module, not that of the script."""
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return frame.f_globals.get("__name__") != "__main__"
        frame = frame.f_back
    return False


def rehearse(call: "HookCall") -> "frozenset[tuple[str, str]]":
    """Judge the typical calls by this one's rules, in a place that is nobody's: what every other of them uses."""
    from ..guard.context import Context  # not before: what they call while they load is watched
    from ..guard.decide.evaluate import evaluate
    from ..model.hot import ToolCall
    from ..oskit.files.disk import Disk
    from .events.rules import guard_rules

    rules = guard_rules(call).rules
    calls: dict[tuple[str, str], int] = {}
    for line in _TYPICAL:
        here, scratch, disk = "/nonexistent/project", "/tmp/tmpwarden-0/0a1b2c3d", Disk()
        context = Context(
            scratch=scratch,
            project=here,
            cwd=here,
            home="/nonexistent",
            uid=0,
            look=disk.look,
            is_plain=disk.is_plain,
            variables={"TMPDIR": scratch},
        )
        with CallWatch() as watch:
            evaluate(ToolCall("", "shell", command=line, cwd=here), rules, context)
        for name in watch.seen:
            calls[name] = calls.get(name, 0) + 1
    return frozenset(name for name, count in calls.items() if 2 * count >= len(_TYPICAL))

"""Programs that run another program: their own options are passed, and what they run is followed."""

from __future__ import annotations

from ..nouns.analysis import CODE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.state import State, Value
from ..programs.options import Argument, Parsed, option
from ..shell.cursor import NAME, NAME_START
from .assignments import LISTS
from .code import child_state, follow_code, joined, value_of
from .directories import moved
from .plain import tell
from .shell import Shell, Ways

# Each line: programs, the arguments in front of the command (: no path  > written  / the directory it runs in), and the
# options that take a value, as in programs.py ($ code for a shell, / the directory it runs in). Behind the arguments:
#   $ the rest is joined and handed to a shell   & each of them is
# A name with a colon is a subcommand that runs what follows.
_TABLE = """\
sudo||u:g:p:C:h:T:r:D/R:t: user: group: prompt: chdir/ chroot: host: role: type: close-from: other-user:
doas||u:C:
env||u:C/S$ unset: chdir/ split-string$
nice||n: adjustment:
ionice||c:n:p:P:u: class: classdata: pid: pgid: uid:
chrt|:|p:T:P:D: pid: sched-runtime: sched-period: sched-deadline:
taskset|:|p: pid:
nohup setsid unbuffer rlwrap catchsegv busybox toybox eatmydata fakechroot dotenv pkexec linux32 linux64 i386 x86_64||
stdbuf||i:o:e: input: output: error:
timeout gtimeout|:|k:s: kill-after: signal:
time gtime||f:o> format: output>
command builtin||
exec||a:
strace ltrace||o>e:p:s:u:a:E:I:P:S:X:n:l:x: output> trace:
caffeinate||t:w:
xvfb-run||n:s:e:f:p:w: server-num: server-args: error-file> auth-file>
dbus-run-session dbus-launch||
flock|>|E:w:c$ timeout: wait: conflict-exit-code: command$
prlimit||p: pid:
systemd-run||p:u:M:G:H: property: unit: description: slice: service-type: uid: gid: nice: working-directory/ setenv: \
on-active: on-boot: on-startup: on-unit-active: on-calendar: timer-property: machine: host:
systemd-inhibit||what: who: why: mode:
ssh-agent||a:E:t:P:
firejail||
fakeroot||l:s:i:b: lib: faked:
unshare||S:G:R:w/ root: wd/ setuid: setgid: propagation: map-user: map-group: map-users: map-groups:
nsenter||t:S:G:r:w/ target: setuid: setgid: root:
chroot|:|userspec: groups:
setpriv||reuid: regid: groups: inh-caps: ambient-caps: bounding-set: securebits: pdeathsig: \
selinux-label: apparmor-profile:
setarch|:|
numactl||N:m:i:p:C:P:w: cpunodebind: membind: interleave: preferred: physcpubind:
cgexec||g:
choom||n: adjust:
runuser||u:g:G: user: group: supp-group:
runcon|:|t:u:r:l: type: user: role: range:
valgrind||tool: log-file> suppressions:
direnv|::|
watch|$|n: interval:
entr|$|
hyperfine|&|w:m:M:r:p$c$n:L:S:s$ warmup: min-runs: max-runs: runs: prepare$ cleanup$ setup$ conclude$ \
command-name: shell: export-json> export-markdown> export-csv>
uv:run||p: with: python: project: directory/ env-file: index: extra: group: package: with-requirements: with-editable:
poetry:run pipenv:run pdm:run rye:run hatch:run||C/ directory/ project: env:
bundle:exec rbenv:exec pyenv:exec nodenv:exec asdf:exec pnpm:exec yarn:exec yarn:dlx pnpm:dlx bun:x devbox:run||
npx bunx||p:c$ package: call$ workspace:
npm:exec npm:x||p:c$ package: call$ workspace:
mise:exec mise:x||
conda:run mamba:run micromamba:run||n:p: name: prefix: cwd/
nix-shell||p:A:I:E: run$ command$ packages: attr: arg: argstr:
op:run doppler:run infisical:run||env-file: project: config:
aws-vault:exec chamber:exec|:|"""
WRAPPERS = {
    name: (plain, options)
    for heads, plain, options in [row.split("|") for row in _TABLE.split("\n")]
    for name in heads.split()
}
RUNNERS = frozenset([name.partition(":")[0] for name in WRAPPERS if ":" in name])
IN_SHELL = frozenset(("command", "builtin", "exec", "time"))
MOVING = frozenset(("chroot", "nsenter", "systemd-run", "pkexec"))  # leave the directory
OTHER_ROOTS = frozenset(("chroot", "nsenter"))  # a /tmp in there is not ours: judged, never rewritten


def run_wrapped(shell: Shell, call: Invocation, state: State) -> Ways:
    name = call.name
    if name not in WRAPPERS:
        return _runner(shell, name, call, state)
    return unwrap(shell, name, 1, call, state)


def unwrap(shell: Shell, name: str, at: int, call: Invocation, state: State) -> Ways:
    """Pass what belongs to the wrapper itself, then follow what it runs."""
    plain, options = WRAPPERS[name]
    parsed = Parsed(f"A {options}" if options else "A")
    at, inner_state = _command_at(shell, name, at, parsed, call, state)
    if at < 0:
        shell.refuse(f"what {name} runs is not known")
        return tell(shell, call, state)
    code = [value_of(argument) for argument in parsed.found if argument.mode == CODE]
    rest = call.fields[at:]
    if code or plain[-1:] in ("$", "&"):
        return _as_code(shell, name, plain, code, rest, call, inner_state)
    if not rest or (name == "command" and parsed.has("vV")):
        return _bare(shell, name, call, state)
    if name in ("sudo", "doas", "pkexec") or (name == "env" and parsed.has("iu", "ignore-environment", "unset")):
        inner_state = inner_state.forgetting()  # TMPDIR and others may be gone
    if name in MOVING:
        inner_state = inner_state.at((None,))
    in_text, shell.in_text = shell.in_text, shell.in_text and name not in OTHER_ROOTS
    try:
        ways = shell.call(call.inside(name.replace(":", " "), rest), inner_state)
    finally:
        shell.in_text = in_text
    if name in IN_SHELL and inner_state is state and "/" not in (call.fields[0].text or ""):
        return ways
    return state, state


def _as_code(
    shell: Shell, name: str, plain: str, code: list[Field], rest: list[Field], call: Invocation, state: State
) -> Ways:
    """Strings for a shell: in options, or all words that are left, together or each."""
    shell.emit(call, [], state)
    if name == "env":
        code = [joined([*code, *rest])]
    elif plain[-1:] == "&":
        code = [*code, *rest]
    elif plain[-1:] == "$" and rest:
        code = [*code, joined(rest)]
    for field in code:
        follow_code(shell, field, child_state(shell, state, []), *call.wrappers, name)
    return state, state


def _bare(shell: Shell, name: str, call: Invocation, state: State) -> Ways:
    """A wrapper with nothing to run."""
    if name in ("sudo", "doas") and has_flags(call.fields[1:], "is"):
        shell.refuse(f"{name} starts a shell")
    shell.emit(call, [], state)
    return state, state


def _command_at(shell: Shell, name: str, at: int, parsed: Parsed, call: Invocation, state: State) -> tuple[int, State]:
    """Where the command starts, -1 if that cannot be told."""
    fields = call.fields
    at = past_options(shell, at, parsed, fields)
    if at >= 0 and name in ("sudo", "env", "doas"):
        at, state = _assignments(shell, call, at, state)
    for kind in WRAPPERS[name][0]:
        if kind in ":>" and 0 <= at < len(fields):
            if kind == ">":
                parsed.found.append(Argument(fields[at], 0, WRITE))
            at = past_options(shell, at + 1, parsed, fields) if name == "flock" else at + 1
    paths = [use for one in parsed.found if one.mode != CODE for use in shell.touch(one, state, name)]
    if paths:
        shell.emit(Invocation(call.node, fields[:1], [], None), paths, state)
    if parsed.moves is not None:
        field, offset = parsed.moves
        shell.touch(Argument(field, offset, READ), state, name)
        state = moved(shell, [field if not offset else Field((field.text or "")[offset:], None)], state)
    return at, state


def past_options(shell: Shell, at: int, parsed: Parsed, fields: list[Field]) -> int:
    """Behind the options, -1 if one of them is not known."""
    while at < len(fields):
        text = fields[at].text
        if text is None:
            return -1
        if text == "--":
            return at + 1
        if not text.startswith("-") or text == "-":
            break
        at += 2 if option(parsed, fields[at], text, fields[at + 1] if at + 1 < len(fields) else None) else 1
    return at


def _assignments(shell: Shell, call: Invocation, at: int, state: State) -> tuple[int, State]:
    values: dict[str, Value] = {}
    while at < len(call.fields):
        field = call.fields[at]
        text = field.text
        if text is None and field.stem is None:
            return -1, state
        name, equals, value = (text or field.stem or "").partition("=")
        if not equals or not name:
            break
        if not is_name(name):
            shell.refuse(f"{name} is no variable of a shell")  # BASH_FUNC_rm%% defines a function
        values[name] = Value(value if text is not None else None)
        if field.word is not None and shell.in_text:
            shell.site(field.word, len(name) + 1, "", name.endswith(LISTS)).modes.add("any")
        at += 1
    if not values:
        return at, state
    return at, state.assigning(values).exporting(list(values))


def _runner(shell: Shell, name: str, call: Invocation, state: State) -> Ways:
    """uv run and its kin: a subcommand runs what follows."""
    at = 1
    while at < len(call.fields) and (call.fields[at].text or "").startswith("-"):
        at += 1
    row = f"{name}:{call.fields[at].text}" if at < len(call.fields) else ""
    if row not in WRAPPERS or at + 1 >= len(call.fields):
        return tell(shell, call, state)
    return unwrap(shell, row, at + 1, call, state)


def has_flags(fields: list[Field], letters: str) -> bool:
    return any((field.text or "").startswith("-") and any(c in (field.text or "") for c in letters) for field in fields)


def is_name(text: str) -> bool:
    return bool(text) and text[0] in NAME_START and all(c in NAME for c in text)

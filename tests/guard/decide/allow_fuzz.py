"""Runs inside a disposable mount, pid and network namespace: builds commands, asks the guard, runs what it allows.

`python allow_fuzz.py SEED RUNS [trusted]` prints one JSON object: how many commands were asked about and run, and each
one that changed something outside the scratch (trusted: outside it and the project, by a user who lets run what stays
inside). Each is run by bash, zsh or dash in turn, some with an environment that means harm, which the guard is told as
the hook would be. Everything but three private tmpfs is read-only there.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from tmpwarden.guard.context import AgentFacts, CallPlace, Context, Probes
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.rule import Rules
from tmpwarden.model.hot import ToolCall
from tmpwarden.oskit.files.disk import Disk

UID = 65533  # nobody else runs as this one: a process of it would be a doubt in another test
SHELLS = [path for path in ("/bin/bash", "/usr/bin/zsh", "/usr/bin/dash") if os.path.exists(path)]
HOSTILE = (
    {"CDPATH": "/srv/outside:/srv/home"},
    {"BASH_FUNC_rm%%": "() { command touch /srv/outside/hit; }"},
    {"BASH_FUNC_cd%%": "() { builtin cd /srv/outside; }"},
    {"BASH_ENV": "/srv/home/hostile", "ENV": "/srv/home/hostile"},
    {"ZDOTDIR": "/srv/home/full"},
    {"GLOBIGNORE": "a"},
    {"POSIXLY_CORRECT": "1"},
    {"SHELLOPTS": "posix", "PS4": "$(touch /srv/outside/hit)"},
    {"PATH": ":/usr/bin:/bin"},
    {"LD_PRELOAD": "/srv/home/none.so"},
    {"SIMPLE_BACKUP_SUFFIX": "/../../b"},
    {"IFS": "/"},
)
SPECIAL = (
    *("path", "commands", "functions", "cdpath", "dirstack", "options", "aliases", "argv", "BASH_CMDS", "BASH_ALIASES"),
    *("DIRSTACK", "GLOBIGNORE", "NULLCMD", "fpath", "PS4", "PWD", "OLDPWD", "ENV", "BASH_ENV", "POSIXLY_CORRECT"),
)
SCRATCH, PROJECT, OUTSIDE, HOME = "/tmp/agent-s1", "/srv/project", "/srv/outside", "/srv/home"
RULES = load(()).rules
LEADING = load((), preset="claude").rules
MINE = ("/tmp/mine", "/tmp/mine.txt", "/tmp/minelink")  # the session made them: a directory, a file, a link to outside
CWDS = (
    PROJECT,
    PROJECT,
    SCRATCH,
    SCRATCH,
    f"{PROJECT}/sub",
    OUTSIDE,
    f"{SCRATCH}/sub",
    f"{SCRATCH}/out_dir",
    "/tmp/mine",
    "/tmp",
    "/",
)
NAMES = (
    *("a", "b", "c", "new", "sub", "sub/x", "sub/deep", "sub/deep/y", "full", "full/f1", "full/f2", "empty"),
    *(
        "out_file",
        "out_dir",
        "out_dir/file",
        "dangling",
        "up",
        "up/b",
        "sub/out",
        "full/out_file",
        "self",
        "'a b'",
        "./-rf",
    ),
    *("to_project", "twin", "to_project/file", "sub/..", "out_dir/..", "up/..", "."),
)
GLOBS = (
    "*",
    "a*",
    "full/*",
    "*/f1",
    "out_d*",
    "?",
    "[ab]",
    "{a,b}",
    "{a,sub/x}",
    "sub/{deep,../..}/z",
    "*/",
    ".*",
    "**",
)
FLAGS = {
    "rm": ("-rf", "-r", "-f", "-rfv", "-d", "", "--recursive --force", "-i", "--no-preserve-root -rf"),
    "rmdir": ("", "-v", "-p", "--ignore-fail-on-non-empty"),
    "mkdir": ("-p", "", "-m 700", "-pv", "--mode=755", "-p --"),
    "touch": ("", "-c", "-d yesterday", "-t 202001010000", "-r {p}", "-h", "--date=2020-01-01", "-am"),
    "mv": ("", "-f", "-n", "-T", "-t {p}", "-v", "-u", "--target-directory={p}", "-b", "-S .bak"),
    "cp": (
        "",
        "-r",
        "-a",
        "-f",
        "-R",
        "-T",
        "-t {p}",
        "-d",
        "-P",
        "-rL",
        "-u",
        "-p",
        "--parents",
        "-s",
        "-l",
        "-n",
        "-rT",
    ),
    "ln": ("-s", "-sf", "", "-sfn", "-st {p}"),
    "cd": ("", "-P", "-L", "--"),
}


POSIX = "/run/posix"
WORDS_BEFORE = (
    "command ",
    "command -p ",
    "builtin ",
    "time ",
    "time -p ",
    "command -- ",
    "! ",
)  # to one shell or another


class Maker:
    """Commands from a grammar, mostly about the six programs that the preset allows, mostly inside the scratch."""

    def __init__(self, seed: int, base: str = SCRATCH) -> None:
        self.random = random.Random(seed)
        self.base = base  # where most paths lie

    def one(self, *of: str) -> str:
        return self.random.choice(of)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def line(self, depth: int = 0) -> str:
        if depth > 2 or self.chance(45):
            return self.simple()
        left, right = self.line(depth + 1), self.line(depth + 1)
        return self.one(
            f"{left} && {right}",
            f"{left} && {right}",
            f"{left}; {right}",
            f"{left} || {right}",
            f"{left} | {right}",
            f"{left} & {right}",
            f"({left}); {right}",
            f"{{ {left}; }} && {right}",
            f"if {left}; then {right}; fi",
            f"for i in {self.path()} {self.path()}; do {self.simple('$i')}; done",
            f"for i in 1 2; do {left}; {right}; done",
            f"f() {{ {left}; }}; {right}; f",
            f"{self.assignment()}; {right}",
            f"while {left}; do {right}; break; done",
            f"{self.one('', '', *WORDS_BEFORE)}cd {self.path()} && {right}",
            f"{self.one('', '', *WORDS_BEFORE)}cd {self.path()}; {right}",
            f"D={OUTSIDE}; {self.one(*WORDS_BEFORE)}{self.one('', 'eval ', 'export ')}D={self.path()}; rm -rf $D/a",
            f"{left}; {self.one('rm -rf', 'touch')} /proc/self/cwd/{self.one('a', 'full', 'new')}",
            f"for {self.one(*SPECIAL)} in {self.path()}; do {right}; done",
            f"{self.other_shell()}; {right}",
            f"{left}; {self.other_shell()}; {right}",
            f"{self.later()}; {right}",
            f"{left}; {self.later()}",
            f"{left} &> {self.path()}; {right}",
            f"{self.assignment()} {self.one('eval', ':', 'f', 'command', 'env')} true; {right}",
        )

    def assignment(self) -> str:
        value = self.one(self.path(), self.path(), "'a b'", "/srv/outside", "", "-rf", "..", "=victim")
        name = self.one("D", "D", "D", "TMPDIR", "PATH", "IFS", "HOME", "CDPATH", "i", *SPECIAL)
        form = self.one("{0}={1}", "{0}={1}", "{0}={1}", "{0}+={1}", "{0}=({1})", "{0}=([rm]={1})", "{0}[rm]={1}")
        return form.format(name, value)

    def simple(self, extra: str = "") -> str:
        if self.chance(12):
            return self.odd()
        program = self.one("rm", "rm", "rmdir", "mkdir", "touch", "mv", "cp", "cp", "mv", "cd")
        count = 1 if program == "cd" else 2 if program in ("mv", "cp") else self.random.choice((1, 1, 1, 2, 3))
        flags = self.one(*FLAGS[program]).replace("{p}", self.path()) if self.chance(60) else ""
        paths = " ".join([self.path() for _ in range(count)] + ([extra] if extra else []))
        words = " ".join(filter(None, (self.wrapper(), self.spelled(program), flags, paths)))
        return words + (f" {self.redirect()}" if self.chance(12) else "")

    def wrapper(self) -> str:
        return (
            self.one("command", "env", "nice", "timeout 3", "time", "LC_ALL=C", "sudo", "\\") if self.chance(6) else ""
        )

    def spelled(self, program: str) -> str:
        return (
            self.one(program, program, f"/bin/{program}", f"\\{program}", f'"{program}"')
            if self.chance(10)
            else program
        )

    def odd(self) -> str:
        path, other = self.path(), self.path()
        return self.one(
            f"ln {self.one(*FLAGS['ln']).replace('{p}', other)} {path} {other}",
            f"find {path} -name {self.one('f1', 'x', repr('*'))} -delete",
            f"find {path} -exec rm -rf {{}} +",
            f"find {path} -type f -exec cp {{}} {other} \\;",
            f"echo {path} | xargs rm -rf",
            f"ls {path} | xargs -I{{}} rm -rf {other}/{{}}",
            f"eval 'rm -rf {path}'".replace("''", "'"),
            f'sh -c "rm -rf {path}"',
            f"echo x > {path}",
            f"echo x >> {path}",
            f"echo x | tee {path}",
            f"pushd {path}; rm -rf {other}; popd",
            "rm -rf $UNKNOWN/x",
            f"rm -rf $(echo {path})",
            f"export D={path}",
            f"set -- {path}; rm -rf $1",
            f"alias rm=touch; rm {path}",
            f"rm -rf -- {path}",
            f"mkdir -p {path} && cd {path} && rm -rf ../{other}".replace("'", ""),
            f"cp {path} {other} && touch {other}/x",
            f"mv {path} {other} && touch {other} && rm -rf {other}/file",
            f"cp -a {path} {other}; cd {other}; rm -rf ../a ./file",
            f"cd {path} && mv {self.one('*', './*', '-- *')} {other}",
            f"cp {self.one(*FLAGS['cp']).replace('{p}', other)} "
            f"{SCRATCH}/{self.one('full', 'sub', 'empty', 'plain', '.')}/* "
            f"{SCRATCH}/{self.one('empty', 'plain', 'plain/in', 'sub/deep', 'full')}",
            f"cp -r {path} {other} {SCRATCH}/{self.one('empty', 'plain')}",
            f"cp -r {path}/. {SCRATCH}/{self.one('empty', 'plain', 'full')}",
            f"cd {path} && rmdir {self.one('*', '?*')}",
            f"declare -{self.one('u', 'l', 'r', 'g', 'x')} D; D={path}; rm -rf $D",
            f"readonly D={path}; {self.one('export', 'declare', 'read')} D={other}; rm -rf $D",
            f"D={path}; {self.changed()}; rm -rf $D",
            f"D={path}; mkdir {other}; {self.changed()}; rm -rf $D/x",
        )

    def other_shell(self) -> str:
        """What is one thing to bash and another to zsh or dash."""
        path, other = self.path(), self.path()
        name = self.one("a", "sub", "..", "/tmp/agent-s1/a")
        return self.one(
            *(f"[[ a > {path} ]]", f"[[ -e {path} && -e {other} ]]", "(( 3 > 2 ))", "cd +1", "cd -1", "cd -"),
            *(f"function f {{\n rm -rf {path}\n}}\nf", f"D=/tmp; D+=/agent-s1/{name}; rm -rf $D", "rm -rf $!/file"),
            *(f"declare D={path}; rm -rf $D/x", f"typeset D={path}; rm -rf $D", f"local D={path}; rm -rf $D"),
            *(f"export D={{{path},{other}}}; rm -rf $D", f"mkdir -p {{{path},{other}}}", f"rm -rf $'{name}'"),
            *("D='../.. q/../../..'; rm -rf $D", "D='a /srv/outside'; rm -rf $D", "rm -rf $RANDOM/x", "touch =ls"),
            *(f"rm -f {path} >! {other}", f"rm -f x {{D}}> {path}", f"D=({path} {other}); rm -rf $D", "rm -rf ~+/a"),
            *(f"D={path}; rm -rf $D[1]", f"D={path}; touch $D:h", f"hash -p /usr/bin/touch rm; rm {path}"),
            *(f"set -- {path} {other}; rm -rf $*", f"rm -rf ${{D:-{path}}}", f"cd {path} {other}", "rm -rf ~-/a"),
            *(f"V={other}; rm -rf {path}/${mark}V" for mark in ("~", "=", "^", "+", "~~", "^^")),
            *(f'V={other}; rm -rf "{path}/${mark}V"' for mark in ("~", "=", "^")),
            *(
                f"V='{other} {OUTSIDE}/a'; rm -rf $=V {path}",
                f"V='{OUTSIDE}/*'; rm -rf {path} $~V",
                f"rm -rf {path}$ {other}",
            ),
            *(f"pushd {path} && cd ~1 && rm -rf a", f"select D in {path}; do rm -rf $D; break; done"),
        )

    def later(self) -> str:
        """What is known only up to a part, or runs at another moment than it is written."""
        path, other = self.path(), self.path()
        name = self.one("a", "file", "..", "sub")
        return self.one(
            *(f"cd {path} && cd - && rm -rf {name}", f"cd {path}; cd -; rm -rf ./{name}", "cd - && rm -rf ./file"),
            *(f"IFS=/; D={path}; rm -rf $D", f"IFS=p; rm -rf {path}", "IFS=/; D=$(mktemp -d); cd /; rm -rf $D"),
            *(f"IFS=/; rm -rf $(pwd)/{name}", "IFS=.; D=$(mktemp -d); rm -rf $D", f"TMPDIR={other} mktemp -d"),
            *("D=$(mktemp -d); trap 'rm -rf $D' EXIT; D=/srv/outside/a", f"trap 'rm -rf {path}' EXIT; cd {other}"),
            *(f"for D in {SCRATCH}/*/; do (cd $D && rm -rf {name}); done", "ls | while read -r D; do rm -rf $D; done"),
            *(f"N=$(seq 1 2); mkdir {path}$N", "find . -name a | xargs -I{} sh -c 'rm -rf {}'"),
            *(f"TMPDIR={other}; D=$(mktemp -d); rm -rf $D/{name}", f"rm -rf {path}/$(basename {other})"),
            *(f"echo 'rm -rf {OUTSIDE}/a' > {path}; . {path}", f"echo 'cd {OUTSIDE}' > {path}; . {path}; rm -rf ./a"),
            *(f"cd $(dirname {path}) && rm -rf ./{name}", f"rm -rf {SCRATCH}/$X/{name}", f"D={SCRATCH}/$X; rm -rf $D"),
            *(f"cat {path} | sh; rm -rf {other}", "eval $(ssh-agent -s); rm -rf ./a", f"mv {path}/* {other}$X"),
            *(f". {path}/bin/activate; rm -rf {other}", f"xargs -I{{}} rm -rf {path}/{{}} < {other}"),
            *("cd $(git rev-parse --show-toplevel) && rm -rf a", f"mv {path} {other}; rm -rf {other}/{name}"),
        )

    def changed(self) -> str:
        return self.one(
            "((D=5))", "a[D=5]=1", "coproc D { rm -rf x; }", "rm -f x {D}>/dev/null", "unset D", "unset -f D", "D+=/..",
            "for D in /srv/outside; do rm -f x; done", "trap 'D=/srv/outside' DEBUG", "D=/srv/outside rm -f x",
            "(D=..)",
            "f() { D=/srv/outside; }; f", "f() { local D=/srv/outside; unset D; }; f", "[[ $((D=5)) ]]",
            "D=(/srv/outside)", "printf -v D /srv/outside", "read D < /srv/outside/a", "mapfile -t D < /srv/outside/a",
            "declare -n D=E; E=/srv/outside", "let D=5", "getopts x D", "D=${D%/*}", "D=${D:0:4}", "D=${D/agent-s1/..}",
            "select D in /srv/outside; do break; done < /srv/outside/a", "for ((D = 0; D < 1; D++)); do rm -f x; done",
        )  # fmt: skip

    def redirect(self) -> str:
        return self.one("> ", ">> ", "2> ", "&> ", "< ", ">| ", "<> ", "2>/dev/null ", ">&") + self.path()

    def path(self) -> str:
        name = self.one(*GLOBS) if self.chance(10) else self.one(*NAMES)
        if self.chance(8):
            name += self.one("/", "/.", "//", "/..", "/../b", "/new")
        base = self.one(
            *(f"{self.base}/" for _ in range(40)),
            *(
                "/tmp/",
                "/tmp/",
                "",
                "",
                "$TMPDIR/",
                '"$TMPDIR"/',
                "${TMPDIR:-/tmp}/",
                "./",
                "../",
                "$D/",
                '"$D"/',
                "~/",
            ),
            *(
                f"{SCRATCH}/../",
                *("/tmp/mine/", "/tmp/mine/", "/tmp/mine/", "/tmp/minelink/", "/tmp/mine.txt; touch /tmp/mine/"),
                *("/tmp/fresh", "/tmp/fresh/", "/tmp/mine/../"),
                "/tmp/agent-s1x/",
                f"{OUTSIDE}/",
                f"{PROJECT}/",
                "//tmp/",
                f"'{SCRATCH}'/",
                "/tm[p]/",
                "$PWD/",
            ),
        )
        return base + name


def put_programs() -> None:
    """POSIX has these as programs, too, and Fedora and macOS do have them: /usr/bin/cd ends well and moves nobody."""
    os.makedirs(POSIX, exist_ok=True)
    for name in ("cd", "eval", "export", "command", "builtin"):
        with open(f"{POSIX}/{name}", "w") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(f"{POSIX}/{name}", 0o755)


def build() -> None:
    """The world as it is before every run: real work and traps in the scratch, and things that must not change."""
    places = (SCRATCH, "/tmp/victim", "/tmp/agent-s1x", PROJECT, OUTSIDE, HOME, MINE[0])
    for place in places:
        shutil.rmtree(place, ignore_errors=True)
    for entry in os.scandir("/tmp"):
        if entry.name.startswith(("fresh", "mine")):
            shutil.rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)
    for place in places:
        for name in ("", "sub/deep", "full", "empty"):
            os.makedirs(f"{place}/{name}", exist_ok=True)
        for name in ("a", "b", "file", "sub/x", "sub/deep/y", "full/f1", "full/f2", "a b"):
            with open(f"{place}/{name}", "w") as file:
                file.write(f"{place} {name}")
    shutil.copy(f"{OUTSIDE}/a", f"{OUTSIDE}/victim")  # on PATH: =victim is this file to zsh
    os.chmod(f"{OUTSIDE}/victim", 0o755)
    links = {"out_file": f"{OUTSIDE}/file", "out_dir": f"{OUTSIDE}/sub", "dangling": f"{OUTSIDE}/made", "self": "self"}
    links |= {"up": "..", "sub/out": f"{OUTSIDE}/full", "full/out_file": f"{OUTSIDE}/a", "to_project": PROJECT}
    os.link("/tmp/victim/b", f"{SCRATCH}/twin")
    os.makedirs(f"{SCRATCH}/plain/in")  # a place without any trap
    shutil.copy(f"{SCRATCH}/a", f"{SCRATCH}/plain/in/f1")
    for name in ("--target-directory=..", "-t..", "-p"):  # a pattern may make an option of them
        for place in (SCRATCH, f"{SCRATCH}/full", f"{SCRATCH}/sub"):
            os.close(os.open(f"{place}/{name}", os.O_CREAT | os.O_WRONLY))
    with open(f"{HOME}/hostile", "w") as file:
        file.write("rm() { command touch /srv/outside/hit; }\n")
    shutil.copy(f"{HOME}/hostile", f"{HOME}/full/.zshenv")
    for name, target in links.items():
        for place in (SCRATCH, MINE[0]):
            os.symlink(target, f"{place}/{name}")
    os.close(os.open(MINE[1], os.O_CREAT | os.O_WRONLY))
    os.symlink(OUTSIDE, MINE[2])
    for top in ("/tmp", "/srv"):
        for directory, _, files in os.walk(top):
            for name in ("", *files):
                os.chown(os.path.join(directory, name), UID, UID, follow_symlinks=False)


def trusting() -> Rules:
    """Of somebody whose config says `inside = "allow"`."""
    os.makedirs("/run/config", exist_ok=True)
    with open("/run/config/config.toml", "w") as file:
        file.write('[guard]\ninside = "allow"\noutside = "ask"\nnever = ["/srv/outside/sub"]\n')
    return load(("/run/config/config.toml",)).rules


def seen(*spared: str) -> dict[str, tuple[object, ...]]:
    """All that must stay: everything below /tmp and /srv that is not in the scratch, nor in what is spared."""
    found: dict[str, tuple[object, ...]] = {}
    for top in ("/tmp", "/srv"):
        for directory, names, files in os.walk(top):
            if directory == "/tmp":
                names[:] = [name for name in names if f"/tmp/{name}" not in (SCRATCH, *MINE)]
                files = [name for name in files if f"/tmp/{name}" not in MINE]
            names[:] = [name for name in names if f"{directory}/{name}" not in spared]
            for name in (*names, *files):
                path = os.path.join(directory, name)
                status = os.lstat(path)
                content = _content(path) if name in files else b""
                found[path] = (status.st_mode, status.st_ino, status.st_uid, status.st_mtime_ns, content)
    return found


def _content(path: str) -> bytes:
    if os.path.islink(path):
        return os.readlink(path).encode()
    with open(path, "rb") as file:
        return file.read()


def run(command: str, cwd: str, shell: str, environ: dict[str, str]) -> None:
    process = subprocess.Popen(
        [shell, "-c", command],
        cwd=cwd if os.path.isdir(cwd) else "/",
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=UID,
        group=UID,
        extra_groups=[],
        start_new_session=True,
    )
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        pass
    until = time.monotonic() + 2  # what went to the background may still be at work
    while time.monotonic() < until and _is_alive(process.pid):
        time.sleep(0.002)
    if _is_alive(process.pid):
        os.killpg(process.pid, signal.SIGKILL)
    process.poll()


def _is_alive(group: int) -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def main(seed: int, runs: int, trusts: bool = False) -> dict[str, object]:
    maker = Maker(seed, PROJECT if trusts else SCRATCH)
    spared = (PROJECT,) if trusts else ()
    sets_of_rules = (trusting(),) if trusts else (RULES, LEADING)
    bases: dict[str, int] = {}
    asked = ran = 0
    bad: list[dict[str, object]] = []
    verdicts: dict[str, int] = {}
    programs: dict[str, int] = {}
    shells: dict[str, int] = {}
    put_programs()
    build()
    before = seen(*spared)
    while ran < runs and asked < runs * 60:
        asked += 1
        command, cwd, keeps = maker.line(), maker.one(*CWDS), maker.chance(75)
        variables = {"TMPDIR": SCRATCH} if maker.chance(80) else {}
        shell = maker.one(*SHELLS)
        environ = {"HOME": HOME, "TMPDIR": SCRATCH, "PATH": f"/usr/bin:/bin:{POSIX}:{OUTSIDE}", "LANG": "C.UTF-8"}
        environ |= maker.random.choice(HOSTILE) if maker.chance(25) else {}
        place = CallPlace(
            scratch=SCRATCH, project=PROJECT, cwd=cwd, home=HOME, uid=UID, variables=variables,
            environ={name.encode(): value.encode() for name, value in environ.items()},
        )  # fmt: skip
        disk = Disk()
        probes = Probes(disk.look, is_plain=disk.is_plain, entries=disk.entries, owns=lambda path: path in MINE)
        context = Context(place, probes, AgentFacts(keeps_rewrite=keeps))
        rules = maker.random.choice(sets_of_rules)
        decision = evaluate(ToolCall("fuzz", "shell", command=command, cwd=cwd), rules, context)
        verdicts[decision.verdict] = verdicts.get(decision.verdict, 0) + 1
        if decision.verdict != "allow":
            continue
        ran += 1
        bases[decision.basis] = bases.get(decision.basis, 0) + 1
        for argv, _, _ in decision.commands:
            if argv:
                programs[argv[0]] = programs.get(argv[0], 0) + 1
        # an agent that may drop the rewrite is played by one that does
        run(decision.rewritten or command if keeps else command, cwd, shell, environ)
        shells[shell] = shells.get(shell, 0) + 1
        after = seen(*spared)
        if after != before:
            changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
            bad.append(
                {
                    "command": command,
                    "rewritten": decision.rewritten,
                    "cwd": cwd,
                    "kept": keeps,
                    "changed": changed,
                    "shell": shell,
                    "environ": environ,
                }
            )
        build()
        before = seen(*spared)
    found = {"asked": asked, "ran": ran, "verdicts": verdicts, "programs": programs, "shells": shells, "bad": bad}
    return {**found, "bases": bases}


if __name__ == "__main__":
    assert os.getpid() == 1, "only in a pid namespace of its own"
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), "trusted" in sys.argv)))

"""Code on the command line of an interpreter: harmless only where every name in it is known to be."""

import pytest

from tmpwarden.guard.programs.inline import is_harmless, sed_writes

HARMLESS = {
    "perl": [
        "print if /x/",
        "print",
        "s/a/b/",
        "s/a/b/g",
        "print $F[0]",
        "$_ = lc",
        'print "$1\\n" if /(\\d+)/',
        "tr/a-z/A-Z/",
        "s|/a|/b|",
        "$s+=$F[1]; END { print $s }",
        "print unless $seen{$_}++",
        "next if /^#/; print",
        'print join(",", sort keys %h)',
        "s{/tmp/x}{/y}g",
        'print "$h{a}{$b}[0]"',
        "s/[a-z][0-9]+$/x/",
    ],
    "node": [
        'console.log("a".replace(/x/g, "y"))',
        "console.log(require('./package.json').version)",
        "process.argv[2]",
        'console.log(JSON.stringify(["a"]))',
        "console.log('a/b'.split('/'))",
        "console.log(/a\\/b/.test('x'))",
    ],
    "python": [
        "import json\nwith open('a') as f:\n    d = json.load(f)\nfor k, v in d.items():\n    print(k, len(v))",
        "import os; print(sorted(os.listdir('.')), os.environ.get('HOME'), os.path.join('a', 'b'))",
        "from pathlib import Path; print([p.name for p in Path('.').rglob('*.py') if p.stat().st_size > 10])",
        "import csv, sys; [print(row) for row in csv.DictReader(open('x', newline=''))]",
        "def f(x):\n    return x * 2\nprint(f(3), (lambda y: y)(1))",
        "import sys\ntry:\n    print(open('a', 'rb').read()[:9])\nexcept OSError as e:\n    print(e, file=sys.stderr)",
        "import re; print(re.findall(r'a+', open('x', encoding='utf-8').read()))",
        "f'{open(1)}'",
        "import rich; print(rich.__version__)",
        "import torch; print(torch.__version__, torch.cuda.is_available(), torch.version.cuda)",
        "import app.main; print('ok')",
        "from app.main import create_app\nprint('imports fine')",
        "import ast; print([n.name for n in ast.parse(open('a').read()).body if hasattr(n, 'name')])",
        "import ast\nfor n in ast.walk(ast.parse('x')):\n    if isinstance(n, ast.FunctionDef): print(n.lineno)",
        "print('a\\n')",
        "print(1)",
        "import json,sys; print(json.load(sys.stdin)['a'])",
    ],
}
NOT_HARMLESS = {
    "perl": [
        'print "$x[system(q(id))]"',
        "s/a/$x{system(1)}/",
        "print if /$x[system(1)]/",
        'print "$x[unlink]"',
        'print "@x[system(1)]"',
        'print "$h{a}[0]{system(1)}"',
        'print "$#{[system 1]}"',
        "s{a}{system(1)}e",
        "s{a}{b}; system(1)",
        "s{a} {system(1)}e",
        "unlink 'x'",
        "system 'x'",
        "`rm`",
        "s/a/system(1)/e",
        "s/a/b/ge",
        "open F,'>x'",
        "print F 'x'",
        "print > 'x'",
        "qx{rm}",
        "eval $_",
        "do 'x'",
        "require 'x'",
        "$x->y",
        "&$x",
        "@{[system 1]}",
        "s/(?{system 1})//",
        "<*>",
        "exec 'a'",
        'print "@{[unlink 1]}"',
        "syscall 1",
        "-e; unlink",
        "s{a}{system 1}e",
        "m/x/; rmtree 'a'",
        "x/y/; rename 1,2",
        "print sort { unlink } @F",
        "y/a/b/; kill 9",
        "map { unlink } @F",
        "tie %h",
        "dump",
        "s/x/`rm`/",
        "s'a'b'e",
        "s/a/b/ee",
        "split /x/; `id`",
        "print /x/ ? system(1) : 1",
        "$x = 'a' / system(1) / 2",
        "$f / unlink(1) / 2",
        "$s/unlink(1)/2",
        "$x{if} / unlink(1) / 2",
    ],
    "node": [
        "require('fs').rmSync('x')",
        "process['mainModule']['require']('fs')",
        "[]['filter']['constructor']('x')()",
        "let map='constructor'; console[map][map]('x')()",
        "eval('1')",
        "import('fs')",
        "1 / eval('x') / 2",
        "x = a /b/ eval('x')",
        "`${require('fs')}`",
        "new Function('x')()",
        "process.binding('fs')",
        "global.process",
        "console.log(1)//\nrequire('child_process')",
    ],
    "python": [
        "import shutil; shutil.rmtree('x')",
        "import shutil as s; f = s; f.copy('x', 'y')",
        "import json; import shutil as json; json.copy('x', 'y')",
        "import shutil; print(shutil.os.remove)",
        "import os.x; os.remove('x')",
        "import sys, shutil; sys.stdout = shutil",
        "from shutil import rmtree; rmtree('x')",
        "from shutil import rmtree as r; list(map(r, ['x']))",
        "from shutil import rmtree\n@rmtree\ndef x():\n    pass",
        "from shutil import *",
        "from .x import y",
        "import x as open; open.version('x')",
        "import os; os.unlink('x')",
        "import os; os.replace('x', 'y')",
        "from os import system",
        "from os import *",
        "from . import x",
        "import os as o; o.system('x')",
        "import sys; sys.modules['os'].system('x')",
        "f = open; f('x', 'w')",
        "list(map(open, ['x']))",
        "open('x', mode='a')",
        "open('x', 'r+')",
        "open('x', *a)",
        "open('x', **a)",
        "open('x', 'w' if 1 else 'r')",
        "import json; json.dumps = 1",
        "class X: pass",
        "import platform; platform.os.system('x')",
        "from operator import attrgetter",
        "import random; random._os.system('x')",
        "from pathlib import Path; Path('x').unlink()",
        "open('x','w')",
        "__import__('os')",
        "exec('x')",
        "eval('x')",
        "print('a' \\ \n)",
        "''.__class__",
        "getattr(1,'x')",
        "import json; json.codecs.open('x')",
    ],
}


@pytest.mark.parametrize("language", HARMLESS)
def test_code_that_only_prints_and_counts_is_harmless(language: str) -> None:
    assert [code for code in HARMLESS[language] if not is_harmless(language, code)] == []


@pytest.mark.parametrize("language", NOT_HARMLESS)
def test_code_that_can_reach_a_file_or_a_program_is_not(language: str) -> None:
    assert [code for code in NOT_HARMLESS[language] if is_harmless(language, code)] == []


def test_long_code_and_other_languages_are_not_looked_into() -> None:
    assert not is_harmless("python", "print(1);" * 1000)
    assert not is_harmless("julia", "1")


@pytest.mark.parametrize("script", ["python3", "y3", "s/a/b3", "s", "y/a/w", "/a", "\\", "s/[/]/b"])
def test_a_script_of_sed_that_does_not_end_is_in_doubt_and_read_once(script: str) -> None:
    assert sed_writes(script)

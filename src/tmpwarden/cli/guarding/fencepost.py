"""fencepost's rules as ours: the same decisions where both mean the same, a comment where they do not. Pure."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import tomllib
from collections.abc import Iterator

import click

from ...errors import AlreadyThere, BadArgument, BadConfig, NotFound
from ...guard.rules.config import load
from ...guard.rules.decode import prepared
from ...oskit.files import atomic, own_dirs
from ...text import shown
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import AnsweringPath

Yaml = dict[str, object]
# presets whose lists are not known here, but of which a pack has the like
_PACKS = {"helm": "kubernetes", "helmfile": "kubernetes", "secrets": "secrets"}
_PRESETS = os.path.join(os.path.dirname(__file__), "fencepost_presets.toml")
_DECISIONS = ("allow", "ask", "deny")
_MODES = ("read", "write", "append", "any")
_BASH = ("deny", "ask", "allow", "checks", "allowChecks", "redirects", "arguments")
_NOT_HERE = {
    "normalise": "options between the words of a rule are passed over anyway",
    "interpreters": "Python, node, ruby and perl one-liners are read anyway; what they write is checked as a path",
    "discourageChaining": "each command of a line is checked by itself, and the strictest decision wins",
    "offerManualRun": "an agent that cannot ask is told that the user can run it by hand",
    "guidance": "the line about temp files is always given; others belong into the agent's own instructions",
    "meta": "it only describes a preset",
}


def converted(document: Yaml) -> str:
    """The TOML text. Raises ValueError for a word that is no decision."""
    document = _with_presets(document)
    for key in ("default", "onError"):
        if key in document:
            _word(key, document[key], _DECISIONS)
    blocks = [_head(document), _redirect(document), *_rules(document), *_left(document)]
    return "\n".join(block for block in blocks if block)


def _with_presets(document: Yaml) -> Yaml:
    """Their lists in front of those of the document, as if its writer had spelled them out."""
    with open(_PRESETS, "rb") as file:
        known: dict[str, Yaml] = tomllib.load(file)
    presets = [known[name] for name in _texts(document.get("import")) if name in known]
    if not presets:
        return document
    tools = document.get("tools")
    merged: Yaml = dict(tools) if isinstance(tools, dict) else {}
    bash = dict(_bash(document))
    for key in _DECISIONS:
        bash[key] = [
            *(entry for preset in presets for entry in _command_words(preset.get(key))),
            *_items(bash.get(key)),
        ]
    for theirs, ours in (("checks", "checks"), ("allowChecks", "allow_checks")):
        bash[theirs] = [*(entry for preset in presets for entry in _items(preset.get(ours))), *_items(bash.get(theirs))]
    own = [
        str(tool.get("tool")) if isinstance(tool, dict) else str(tool)
        for key in _DECISIONS
        for tool in _items(merged.get(key))
    ]
    allowed = [tool for preset in presets for tool in str(preset.get("tools", "")).split() if tool not in own]
    if allowed:
        merged["allow"] = [*allowed, *_items(merged.get("allow"))]
    scratch = _scratch(document)
    inside = [str(preset["inside"]) for preset in presets if "inside" in preset and scratch]
    rules: list[object] = [{"command": names, "allArgsInside": [scratch], "decision": "allow"} for names in inside]
    bash["arguments"] = [*rules, *_items(bash.get("arguments"))]
    merged["bash"] = {key: value for key, value in bash.items() if value}
    return {**document, "tools": merged}


def _command_words(lists: object) -> Iterator[str]:
    """{git = ["status"]} as `git status`."""
    for program, words in lists.items() if isinstance(lists, dict) else ():
        yield from (f"{program} {word}".strip() for word in words)


def _head(document: Yaml) -> str:
    names = _texts(document.get("import"))
    with open(_PRESETS, "rb") as file:
        known = tomllib.load(file)
    wanted = list(dict.fromkeys(_PACKS[name] for name in names if name in _PACKS))
    secrets = document.get("secrets")
    if isinstance(secrets, dict) and secrets.get("enabled"):
        wanted = list(dict.fromkeys([*wanted, "secrets"]))
    parts = [
        comment(f"import {name}: its lists are not known here") for name in names if name not in (*known, "secrets")
    ]
    if isinstance(secrets, dict):
        parts.append(comment("secrets: files are judged by their names; what is in them is not scanned"))
    base = ["claude"] * ("claude" in names)  # it leads temp files into one directory, as ours of that name does
    parts += ["[guard]", line("presets", [*base, *wanted] or ["none"])]
    if "default" in document:
        parts += _scalar(
            "default", document["default"], "a command that no rule names goes on to the agent's own rules"
        )
    if "onError" in document:
        parts += _scalar("on_error", document["onError"], "what cannot be read goes on to the agent's own rules")
    bash = _bash(document)
    for key in ("deny", "ask", "allow"):
        if prefixes := _texts(bash.get(key)):
            parts.append(line(key, prefixes))
    parts += [*_checks(bash, "checks", "checks"), *_checks(bash, "allowChecks", "allow_checks")]
    return "\n".join([*parts, ""])


def _scalar(key: str, value: object, words: str) -> list[str]:
    if value == "allow":
        return [comment(f"{key} was allow: nothing is allowed without a rule; {words}"), line(key, "pass")]
    return [line(key, str(value))]


def _word(key: str, value: object, words: tuple[str, ...]) -> str:
    if value not in words:
        raise ValueError(f"{key}: {value!r} is not one of {', '.join(words)}")
    return str(value)


def _checks(bash: Yaml, theirs: str, ours: str) -> Iterator[str]:
    """Theirs are looked for anywhere in the command; ours match it whole."""
    good: list[Yaml] = []
    for rule in _items(bash.get(theirs)):
        check = rule if isinstance(rule, dict) else {"test": rule}
        if not check.get("test"):  # an empty one would match every command
            yield comment(f"{theirs}: a rule without a test is left out: {check}")
            continue
        regex = whole(str(check["test"]))
        try:
            prepared(regex)
        except ValueError as why:
            yield comment(f"{theirs}: {check.get('test')!r} is left out: {why}")
            continue
        words = {key: check[key] for key in ("description", "alternative") if key in check}
        good.append({"test": regex, **words})
    if good:
        yield listed(ours, good)


def whole(regex: str) -> str:
    """A regex that is searched for, as one that matches the whole text: `^a|b` is `a.*|.*b.*`."""
    ways = [_whole_way(way) for way in _ways(regex)]
    text = ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"
    return text.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!")


def _whole_way(regex: str) -> str:
    start, end = regex.startswith("^"), regex.endswith("$") and not regex.endswith("\\$")
    core = regex[start : len(regex) - end]
    return core if start and end else f"{'' if start else '.*'}(?:{core}){'' if end else '.*'}"


def _ways(regex: str) -> list[str]:
    """What stands between the bars that are in no group and no class."""
    ways, at, depth, in_class = [""], 0, 0, False
    while at < len(regex):
        c = regex[at : at + 2] if regex[at] == "\\" else regex[at]
        in_class = c != "]" if in_class else c == "["
        depth += 0 if in_class else (c == "(") - (c == ")")
        if c == "|" and not in_class and not depth:
            ways.append("")
        else:
            ways[-1] += c
        at += len(c)
    return ways


def _redirect(document: Yaml) -> str:
    redirect = document.get("redirect")
    if not isinstance(redirect, dict):
        return ""
    target = redirect.get("tmpTarget", "/tmp/claude")
    return "\n".join(["[redirect]", line("tmp", bool(redirect.get("tmp", False))), line("target", str(target)), ""])


def _rules(document: Yaml) -> Iterator[str]:
    bash, scratch = _bash(document), _scratch(document)
    for rule in _items(bash.get("redirects")):
        if isinstance(rule, dict):
            yield _redirects(rule, scratch)
    for rule in _items(bash.get("arguments")):
        if isinstance(rule, dict):
            yield _arguments(rule, scratch)
    tools = document.get("tools")
    for decision in _DECISIONS:
        for rule in _items(tools.get(decision)) if isinstance(tools, dict) else ():
            rule_ = rule if isinstance(rule, dict) else {"tool": rule}
            yield entry("guard.tools", {"tool": rule_.get("tool"), "decision": decision, **_remedy(rule_)})


def _redirects(rule: Yaml, scratch: str) -> str:
    mode = _word("redirects: mode", rule.get("mode"), _MODES)
    if "outside" in rule:
        roots = [_root(root, scratch) for root in _texts(rule["outside"])]
        return entry("guard.redirects", {"mode": mode, "outside": roots, **_decided(rule)})
    glob = str(rule.get("glob", ""))
    if not glob:
        return comment(f"redirects: a rule without outside and glob is left out: {rule}")
    remark = f"{comment('a single * crosses slashes here')}\n" if "*" in glob.replace("**", "") else ""
    test: Yaml = {"glob": [glob.replace("**", "*")]}
    return remark + entry("guard.redirects", {"mode": mode, **test, **_decided(rule)})


def _arguments(rule: Yaml, scratch: str) -> str:
    base = {"command": rule.get("command")}
    for theirs, ours in (("anyArgOutside", "any_outside"), ("allArgsInside", "all_inside")):
        if theirs in rule:
            roots = [_root(root, scratch) for root in _texts(rule[theirs])]
            return entry("guard.arguments", {**base, ours: roots, **_decided(rule)})
    for theirs, ours in (("anyArgMatches", "any_match"), ("allArgsMatch", "all_match")):
        regex = str(rule.get(theirs, ""))
        if theirs not in rule:
            continue
        globs = [_glob(way) for way in _ways(_ungrouped(regex))]
        if not regex or None in globs:
            return comment(f"arguments: {theirs} {regex!r} of {rule.get('command')} is left out: only globs match here")
        return entry("guard.arguments", {**base, ours: globs, **_decided(rule)})
    return comment(f"arguments: a rule about {rule.get('command')} without a test is left out")


def _ungrouped(regex: str) -> str:
    """`^(a|b)$` as `^a$|^b$`."""
    start, end = regex.startswith("^"), regex.endswith("$")
    core = regex[start : len(regex) - end]
    inner = core[1:-1].removeprefix("?:")
    if not (core[:1] == "(" and core[-1:] == ")") or any(letter in inner for letter in "()[]\\"):
        return regex
    return "|".join(f"{'^' * start}{way}{'$' * end}" for way in inner.split("|"))


def _glob(regex: str) -> str | None:
    """A regex that is a plain word with anchors and `.*`, as a glob; None where it says more."""
    core = regex.removeprefix("^").removesuffix("$").replace(".*", "*").replace("\\.", ".").replace("\\-", "-")
    if any(letter in core for letter in "\\[](){}+?|^$"):
        return None
    return f"{'' if regex.startswith('^') else '*'}{core}{'' if regex.endswith('$') else '*'}"


def _decided(rule: Yaml) -> Yaml:
    return {"decision": _word("decision", rule.get("decision"), _DECISIONS), **_remedy(rule)}


def _remedy(rule: Yaml) -> Yaml:
    return {key: rule[key] for key in ("description", "alternative") if rule.get(key)}


def _root(root: str, scratch: str) -> str:
    """`.` is the project there, the directory of the call here."""
    if root.rstrip("/") == scratch:
        return "@scratch"
    return "@project" + root[1:] if root == "." or root.startswith("./") else root


def _scratch(document: Yaml) -> str:
    redirect = document.get("redirect")
    names_it = isinstance(redirect, dict) and redirect.get("tmp")
    target = str(redirect.get("tmpTarget", "/tmp/claude")) if isinstance(redirect, dict) and names_it else "/tmp/claude"
    return target if names_it or "claude" in _texts(document.get("import")) else ""


def _left(document: Yaml) -> Iterator[str]:
    bash, known = _bash(document), {"import", "default", "onError", "tools", "redirect", "secrets"}
    tools = document.get("tools")
    strange = [key for key in tools if key not in ("bash", *_DECISIONS)] if isinstance(tools, dict) else []
    for key in [*(key for key in document if key not in known), *strange, *(key for key in bash if key not in _BASH)]:
        yield comment(f"{key} has nothing here that it could become: {_NOT_HERE.get(key, 'the key is not known')}")


def _bash(document: Yaml) -> Yaml:
    tools = document.get("tools")
    bash = tools.get("bash") if isinstance(tools, dict) else None
    return bash if isinstance(bash, dict) else {}


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [str(one) for one in _items(value)]


# TOML as people would write it: keys, lists, tables, comments. Only what a file of rules needs.


def line(key: str, value: object) -> str:
    return f"{key} = {_value(value)}"


def listed(key: str, tables: list[dict[str, object]]) -> str:
    """A list of small tables, one a line."""
    rows = [f"    {{ {', '.join(line(name, value) for name, value in table.items())} }}," for table in tables]
    return "\n".join([f"{key} = [", *rows, "]"])


def entry(name: str, table: dict[str, object]) -> str:
    """`[[name]]` and its keys; those without a value are left out."""
    return "\n".join([f"[[{name}]]", *(line(key, value) for key, value in table.items() if value is not None), ""])


def comment(words: str) -> str:
    return f"# {' '.join(words.split())}"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    text = str(value)
    is_plain = "'" not in text and text.isprintable() and "\\" in text
    return f"'{text}'" if is_plain else json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# `tmpwarden guard import FILE.yaml`: the rules of a fencepost user, as TOML of ours.


@click.command("import")
@click.argument("path", metavar="FILE.yaml", type=AnsweringPath())
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=AnsweringPath(),
    help="The new file, such as ~/.config/tmpwarden/guard.d/mine.toml.",
)
@pass_call
def take_over(call: Call, path: str, output: str | None) -> Answer:
    """Convert fencepost's rules to TOML, with comments where the meaning differs. Prints them, or writes a new file.

    Exit status 2: some rules work differently here, or were left out; each is listed.
    """
    try:
        rules = converted(_read(path))
    except ValueError as wrong:
        raise BadConfig(shown(path), str(wrong), hint="correct it there, then import it again") from None
    text = f"# From {os.path.basename(path)} by `tmpwarden guard import`.\n\n{rules}"
    mistakes = _mistakes(text)
    differs = [line.removeprefix("# ") for line in rules.splitlines() if line.startswith("# ")]
    call.warn(*mistakes, *differs)
    data = {"toml": text, "written": output, "mistakes": mistakes, "differs": differs}
    status = 2 if mistakes or differs else 0
    if output is None:
        return Answer(data, lambda: text.splitlines(), exit_code=status)
    if os.path.lexists(output):
        raise AlreadyThere(shown(output))
    own_dirs.make_parents(os.path.dirname(os.path.abspath(output)))
    atomic.write(output, text)
    verify = f"To check it: tmpwarden guard verify --config {shown(output)}"
    return Answer(data, lambda: [f"Written: {shown(output)}. {verify}"], exit_code=status)


def _read(path: str) -> Yaml:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise BadArgument(
            "reading YAML needs PyYAML", hint="pip install pyyaml, into the Python that runs tmpwarden"
        ) from error
    try:
        with open(path, encoding="utf-8") as file:
            document = yaml.safe_load(file)
    except FileNotFoundError as error:
        raise NotFound(shown(path)) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadConfig(shown(path), " ".join(str(error).split())) from error
    if not isinstance(document, dict):
        raise BadConfig(shown(path), "not a table of rules")
    return document


def _mistakes(text: str) -> list[str]:
    """What our own reader dislikes about it: a rule that was broken there is broken here."""
    with tempfile.TemporaryDirectory() as place:
        file = os.path.join(place, "imported.toml")
        atomic.write(file, text)
        return [str(mistake).replace(f"{place}/", "") for mistake in load((file,)).mistakes if mistake.fatal]

"""Write the reference pages from the code: `make docs`. tests/test_docs.py fails when a page differs."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import manual
import measured
import tmpwarden as public
from tmpwarden import errors
from tmpwarden.agent_facts import FACTS
from tmpwarden.catalogue import wording
from tmpwarden.catalogue.keys import KEYS, TABLES
from tmpwarden.catalogue.load import load
from tmpwarden.catalogue.sample import toml_text
from tmpwarden.catalogue.settings import Settings
from tmpwarden.cli.call import Call
from tmpwarden.cli.commands import TABLE
from tmpwarden.cli.group import tmpwarden
from tmpwarden.cli.wording import SENTENCES
from tmpwarden.guard.rules.config import PRESETS_DIR, preset_names
from tmpwarden.metrics.families import FAMILIES, PREFIX
from tmpwarden.model.sweep import Litter
from tmpwarden.model.terms import OwnerRule, Reason, Tier
from tmpwarden.text import duration

HERE = Path(__file__).parent
_NOTE = "<!-- written by `make docs`; do not edit -->\n"
_SETTINGS = """\
# Settings

`~/.config/tmpwarden/config.toml`; `/etc/tmpwarden/config.toml` is read before it, and what it locks under `[policy]`
stays as it says. `tmpwarden config init` writes a commented sample and a schema for editors, `config set KEY VALUE`
changes one key, `config edit` opens it and checks it before it counts, `config show` tells what is in force and where
it is set. Rules of the guard: [guard.md](guard.md).

What cannot be understood in `[keep]` or `[rows]` keeps everything until you mend it. In `[quarantine]`, `[rescue]`,
`[periodic]`, `[automatic]` or `[pressure]`, or where the file is no TOML, no run without a person removes anything, and
what waits for `undo` or was rescued waits on.
"""
_AGES = """
How old an item without a known owner must be (`tmpwarden why PATH` tells it for one item):

1. 72h for most kinds; `[periodic] max_age` changes that for every clean (a session that may be resumed waits at least
   24h). It never shortens the longer limit that some kinds have of their own ([catalogue.md](catalogue.md)).
2. `[rows."claude.session"] max_age = "10d"` is your word on one kind: no limit for all kinds replaces it. It may not go
   below 72h (24h where a session may be resumed), or below the kind's own limit where that is shorter.
3. `clean --older-than 1h` counts for one run: it replaces the 72h, and goes below shorter limits, but never below a
   kind's own longer one or your word on that kind.
"""

_MAY_GO = {
    Reason.OWNER_DEAD,
    Reason.OWNER_ABSENT,
    Reason.OUTLIVED,
    Reason.UNOWNED,
    Reason.TORN_DOWN,
    Reason.NAMED,
    Reason.PRESSURE,
}
_OWNERS = {
    OwnerRule.NONE: "nobody",
    OwnerRule.SESSION: "the session in its name",
    OwnerRule.PID: "the process in its name",
    OwnerRule.AGENT: "any session of the agent",
    OwnerRule.LEASE: "whom its lease names",
}


def commands() -> str:
    """Every command as its own --help says it."""
    return "".join([_NOTE, "# Commands\n\n", *_help(tmpwarden, "tmpwarden", None)])


def _help(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    name = path.split()[-1]
    context = click.Context(
        command, info_name=name, parent=parent, obj=Call(), terminal_width=100, **command.context_settings
    )
    level = "##" if parent is None or parent.parent is None else "###"
    yield f"{level} {path}\n\n```text\n{command.get_help(context)}\n```\n\n"
    if isinstance(command, click.Group):
        names = [row[1] for row in TABLE] if parent is None else sorted(command.commands)
        for each in names:
            below = command.get_command(context, each)
            if below is not None:
                yield from _help(below, f"{path} {each}", context)


def modules() -> str:
    """Every module with the first line of its docstring."""
    source = HERE.parent / "src" / "tmpwarden"
    lines = [
        _NOTE,
        "# Modules\n\nWhat each module is for, in its own words. The map is [architecture.md](architecture.md).\n",
    ]
    for package in sorted({path.parent for path in source.rglob("*.py")}):
        name = package.relative_to(source).as_posix()
        lines.append(f"\n## {'tmpwarden' if name == '.' else name}\n\n")
        lines += [f"{_first_line(package / '__init__.py')}\n\n", "| module | |\n|---|---|\n"]
        names = sorted(path for path in package.glob("*.py") if path.name not in ("__init__.py", "__main__.py"))
        lines += [f"| `{path.stem}` | {_first_line(path)} |\n" for path in names]
    return "".join(lines)


def _first_line(path: Path) -> str:
    said = ast.get_docstring(ast.parse(path.read_text())) or ""
    return said.splitlines()[0].replace("|", "\\|") if said else ""


def errors_page() -> str:
    """Every error a user can meet."""
    lines = [
        _NOTE,
        "# Errors\n\n`error.code` in JSON, the exit status, the sentence (`error.message`), and what to do "
        "(`error.suggestion`). `meta.schema` is 2: `error` has these three keys, which the published schema of the "
        "response envelope allows. Schema 1 had a fourth, `hint`, with the text of `suggestion`.\n\n",
    ]
    lines += ["| code | exit | sentence | hint |\n|---|---|---|---|\n"]
    for kind in _error_classes():
        sentence = kind.wording.replace("{0}", "...").replace("{1}", "...")
        lines.append(f"| `{kind.code}` | {kind.exit_code} | {sentence} | {kind.hint} |\n")
    lines.append("\nExit 0 is done: a unit that a law keeps is done too. 130 and 143 follow SIGINT and SIGTERM.\n")
    return "".join(lines)


def _error_classes() -> list[type[errors.TmpwardenError]]:
    found = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.TmpwardenError) and kind is not errors.TmpwardenError
    ]
    return sorted(found, key=lambda kind: (kind.exit_code, kind.code))


def reasons() -> str:
    """Every word of `reason`, and its sentence."""
    lines = [_NOTE, "# Reasons\n\n`reason` in JSON, and the sentence that tables show for it.\n"]
    for title, kept in (("Kept", True), ("May go", False)):
        lines.append(f"\n## {title}\n\n| reason | sentence |\n|---|---|\n")
        lines += [
            f"| `{reason.value}` | {words.format(who='a process')} |\n"
            for reason, words in SENTENCES.items()
            if (reason not in _MAY_GO) is kept
        ]
    return "".join(lines)


def catalogue() -> str:
    """Every row of every built-in agent, with its evidence."""
    agents = load(dirs=()).agents
    rows = sum(len(agent.rows) for agent in agents)
    lines = [_NOTE, f"# The catalogue\n\nWhat {len(agents)} agents and tools leave behind, {rows} rows. "]
    lines.append("[Add an agent](add-an-agent.md) tells what the words mean and how to add a row; ")
    lines.append("[what agents leave](measured-agents.md) was measured with the real programs.\n")
    for agent in agents:
        lines.append(f"\n## {agent.id}\n\n{agent.name}, verified with: {wording.measured_with(agent)}.\n\n")
        lines += ["| row | where | tier | worth | owner | waits | what and why |\n|---|---|---|---|---|---|---|\n"]
        lines += [_litter(row) for row in agent.rows]
    return "".join(lines)


def _litter(row: Litter) -> str:
    told = [row.why, wording.fixed_note(row), f"seen: {', '.join(row.seen)}"]
    checked = [*row.checks, *([f"at most {row.max_bytes} bytes"] if row.max_bytes is not None else [])]
    told += [f"checked: {', '.join(checked)}"] if checked else []
    where = wording.where(row).replace("|", "\\|")
    cells = (row.id, f"`{where}`", row.tier.value, row.worth.value, _OWNERS[row.owner], _waits(row))
    return f"| {' | '.join(cells)} | {'; '.join(filter(None, told)).replace('|', chr(92) + '|')} |\n"


def _waits(row: Litter) -> str:
    """How old a unit must be, by what is known of its owner."""
    if row.tier is Tier.NEVER:
        return "-"
    longest = duration(row.max_age_s)
    if row.owner is OwnerRule.NONE:
        return longest
    if row.resume:
        return f"{longest}, for it may be resumed"
    more = f" or more than {', '.join(row.credentials)} in it" if row.credentials else ""
    return f"{duration(row.grace_s)} dead, {duration(row.min_age_s)} absent, {longest} unknown{more}"


def metrics_page() -> str:
    """Every series, its labels and what it means."""
    lines = [_NOTE, "# Metrics\n\nWhat `tmpwarden metrics` prints, in this order. How to read and gather them: "]
    lines += ["[fleet.md](fleet.md).\n\n| series | type | labels | what it is |\n|---|---|---|---|\n"]
    for family in FAMILIES.values():
        labels = ", ".join(f"`{label}`" for label in family.labels)
        lines.append(f"| `{PREFIX}{family.name}` | {family.kind} | {labels} | {family.help} |\n")
    return "".join(lines)


def config() -> str:
    """Every key of config.toml, from the table that reads it."""
    lines = [_NOTE, _SETTINGS]
    for table, about in TABLES.items():
        lines.append(f"\n## [{table}]\n\n{about}\n\n| key | default | |\n|---|---|---|\n")
        for name, key in KEYS.items():
            if name.startswith(f"{table}."):
                written = key.example or toml_text(key, getattr(Settings(), key.field))
                default = f"none; e.g. `{written}`" if key.example else f"`{written}`"
                choice = f" One of {', '.join(key.words)}." if key.words else ""
                lines.append(f"| `{name.partition('.')[2]}` | {default} | {key.about}{choice} |\n")
        lines.append(_AGES if table == "periodic" else "")
    return "".join(lines)


_API = """\
# The Python API

Everything that your programs may use, generated from the docstrings. All of it has type hints: `mypy --strict` and
pyright understand the installed package. `import tmpwarden` loads nothing else; each name is loaded when you first use
it. All other modules are internal and may change at any time.

Complete programs: [orchestrators.md](orchestrators.md) for programs that start agents, [cli-authors.md](cli-authors.md)
for command-line tools. Every error: [errors.md](errors.md).
"""
_OF_SESSION = (
    "answers",
    "run_click",
    "run_argparse",
)  # attributes of tmpwarden.session, whose modules `import tmpwarden` spares


def api() -> str:
    """Every public name: its signature, what it says of itself, its members, an example."""
    named = [(f"tmpwarden.{name}", getattr(public, name)) for name in public._PUBLIC]
    at = next(number for number, (name, _) in enumerate(named) if name == "tmpwarden.in_session") + 1
    named[at:at] = [(f"tmpwarden.session.{name}", getattr(public.session, name)) for name in _OF_SESSION]
    return "".join([_NOTE, _API, *(_public(name, value) for name, value in named)])


def _public(name: str, value: object) -> str:
    head = f"\n## {name}\n"
    if name == "tmpwarden.session":  # a package that can be called, and gives a Session
        return head + _signature(name, public.Session) + _text(public.Session)
    if value is public.Session:
        return f"{head}\nWhat `tmpwarden.session` gives: for type hints, and for its members.\n{_members(value)}"
    if value is public.Periodic or inspect.isroutine(value):
        head += _signature(name, value)
    return head + _text(value) + (_members(value) if inspect.isclass(value) else "")


def _signature(name: str, value: object) -> str:
    """One parameter a line, as it would be written."""
    found = inspect.signature(value)
    lines = []
    for each in found.parameters.values():
        if each.kind is each.KEYWORD_ONLY and "    *,\n" not in lines:
            lines.append("    *,\n")
        default = "" if each.default is each.empty else f" = {_default(each.default)}"
        lines.append(f"    {each.name}: {each.annotation}{default},\n")
    gives = value.__name__ if inspect.isclass(value) else found.return_annotation
    gives = gives.replace("Iterator[", "AbstractContextManager[")  # what @contextmanager makes of it
    return f"\n```python\n{name}(\n{''.join(lines)}) -> {gives}\n```\n"


def _default(value: object) -> str:
    return f"{value.__module__}.{value.__qualname__}" if inspect.isroutine(value) else repr(value)


def _text(value: object) -> str:
    """The docstring: paragraphs, a table of parameters, the example."""
    said, _, example = (inspect.getdoc(value) or "").partition("\nExample:\n")
    paragraphs = ["\n" + _paragraph(each) for each in said.strip().split("\n\n")]
    return "".join(paragraphs) + (f"\n```python\n{textwrap.dedent(example).strip()}\n```\n" if example else "")


def _paragraph(text: str) -> str:
    rows = [line.partition("  ") for line in text.splitlines()]
    if not all(name.isidentifier() and about for name, _, about in rows):
        return f"{text}\n"
    return "| parameter | |\n|---|---|\n" + "".join(f"| `{name}` | {about.strip()} |\n" for name, _, about in rows)


def _members(kind: type) -> str:
    """Fields with what their line says, then properties and methods with the first paragraph of their docstrings."""
    source = inspect.getsource(inspect.getmodule(kind))
    lines, parsed = source.splitlines(), ast.parse(source).body
    rows = []
    for node in next(each for each in parsed if isinstance(each, ast.ClassDef) and each.name == kind.__name__).body:
        if isinstance(node, ast.AnnAssign):
            rows.append((node.target.id, ast.unparse(node.annotation), lines[node.lineno - 1].partition("  # ")[2]))
        elif isinstance(node, ast.FunctionDef):
            rows.append(_member(node))
    cells = [
        f"| `{name}` | `{gives.replace('|', chr(92) + '|')}` | {about} |\n"
        for name, gives, about in rows
        if not name.startswith("_") and not about.startswith("For tmpwarden itself")
    ]
    return "".join(["\n| member | type | |\n|---|---|---|\n", *cells]) if cells else ""


def _member(node: ast.FunctionDef) -> tuple[str, str, str]:
    about = (ast.get_docstring(node) or "").partition("\n\n")[0].replace("\n", " ")
    gives = ast.unparse(node.returns) if node.returns else ""
    is_property = any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)
    takes = [each.arg for each in (*node.args.args[1:], *node.args.kwonlyargs)]
    return node.name if is_property else f"{node.name}({', '.join(takes)})", gives, about


_AGENTS_FROM, _AGENTS_TO = "<!-- made by `make docs` from catalogue/agents -->\n", "<!-- as far as here -->\n"
_TEMP_WAYS = {
    "env-file": "by its hooks, one for each session",
    "answer": "by its hooks, one for each session",
    "toml-set": "by `setup`, in `{0}`",
    "dotenv": "by `setup`, in `{0}`",
    "shell": "by `setup`, with a shell function",
}


def agents_page() -> str:
    """The page as people write it, with the table of agents between two marks."""
    before, _, rest = (HERE / "agents.md").read_text().partition(_AGENTS_FROM)
    rows = ["| agent | name for `--agent` | settings | TMPDIR of its commands |\n|---|---|---|---|\n"]
    for name, facts in FACTS.items():
        directory = facts["directory"].format(home="~", xdg_config="~/.config")
        settings = " or ".join(f"`{directory}/{each}`" for each in facts["settings"])
        way = _TEMP_WAYS[facts["temp_by"]].format(f"{directory}/{facts['temp_file']}")
        rows.append(f"| {facts['name']} | `{name}` | {settings} | {way} |\n")
    return before + _AGENTS_FROM + "".join(rows) + _AGENTS_TO + rest.partition(_AGENTS_TO)[2]


_PACKS_FROM, _PACKS_TO = "<!-- made by `make docs` from guard/rules/presets -->\n", "<!-- as far as here -->\n"
_KINDS = ("commands", "arguments", "redirects", "files", "tools")
_TESTS = ("all_inside", "any_outside", "all_match", "any_match", "any_named", "outside", "inside", "glob", "named")


def _presets() -> dict[str, dict[str, Any]]:
    return {name: tomllib.loads((Path(PRESETS_DIR) / f"{name}.toml").read_text()) for name in preset_names()}


def _rules(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    guard = document.get("guard", {})
    for decision in ("deny", "ask", "allow"):
        yield from (("prefix", {**rule, "decision": decision}) for rule in guard.get(decision, ()))
    for kind in _KINDS:
        yield from ((kind, rule) for rule in guard.get(kind, ()))


def guard_page() -> str:
    """The page as people write it, with the table of presets and packs between two marks."""
    before, _, rest = (HERE / "guard.md").read_text().partition(_PACKS_FROM)
    rows = ["| preset or pack | its own rules | about |\n|---|---|---|\n"]
    for name, document in _presets().items():
        extends = document.get("extends", ())
        others = [extends] if isinstance(extends, str) else extends
        own = sum(1 for _ in _rules(document))
        more = f" With {', '.join(f'`{one}`' for one in others)}." if others else ""
        rows.append(f"| [`{name}`](guard-rules.md#{name}) | {own} | {document['pack']['title']}{more} |\n")
    return before + _PACKS_FROM + "".join(rows) + _PACKS_TO + rest.partition(_PACKS_TO)[2]


def guard_rules() -> str:
    """Each rule of each preset and pack: what it says, of what, why, and what to do instead."""
    lines = [
        _NOTE,
        "# Rules of the guard\n\nWhat comes with tmpwarden, from `guard/rules/presets`. "
        "`tmpwarden guard packs show NAME` prints the lines that each rule means and those that it spares; "
        '`off = ["git:clean"]` switches one off. '
        "How rules are written: [guard.md](guard.md).\n",
    ]
    for name, document in _presets().items():
        rules = list(_rules(document))
        lines.append(f"\n## {name}\n\n{document['pack']['title']}\n")
        if rules:
            lines.append("\n| rule | says | of | why | instead |\n|---|---|---|---|---|\n")
        label = document["pack"].get("labels", name)
        for at, (kind, rule) in enumerate(rules):
            rule_name = f"`{label}:{rule['id']}`" if "id" in rule else f"{at + 1}."
            cells = (rule_name, rule.get("decision", "ask"), _subject(kind, rule), rule.get("description", ""))
            lines.append(f"| {' | '.join(cells)} | {rule.get('alternative', '')} |\n")
    return "".join(lines)


def _subject(kind: str, rule: dict[str, Any]) -> str:
    """The commands, options and places that a rule is about, as its row says it."""
    heads = rule.get("command", rule.get("prefix", rule.get("tool", "")))
    named = [heads] if isinstance(heads, str) else heads
    said = [", ".join(_code(one) for one in named if one)] if any(named) else [f"{rule.get('mode', 'any')} by {kind}"]
    for key in ("options", "unless", "words", "text", "written", "mentions", *_TESTS):
        if key in rule:
            values = rule[key]
            more = f", and {len(values) - 5} more" if len(values) > 6 else ""
            shown = ", ".join(_code(one) for one in (values[:5] if more else values))
            said.append(f"{key.replace('_', ' ')} {shown}{more}")
    return "; ".join(said)


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


PAGES: dict[str, Callable[[], str]] = {
    "agents.md": agents_page,
    "guard.md": guard_page,
    "guard-rules.md": guard_rules,
    "api.md": api,
    "commands.md": commands,
    "modules.md": modules,
    "errors.md": errors_page,
    "reasons.md": reasons,
    "catalogue.md": catalogue,
    "config.md": config,
    "metrics.md": metrics_page,
    "measured-agents.md": lambda: _NOTE + measured.page(),
}
PAGES |= {f"man/{name}.1": partial(manual.page, path) for path, name in manual.pages().items()}


if __name__ == "__main__":
    (HERE / "man").mkdir(exist_ok=True)
    for stale in set((HERE / "man").glob("*.1")) - {HERE / name for name in PAGES}:
        stale.unlink()
    for name, page in PAGES.items():
        (HERE / name).write_text(page())

"""Put the page together: markup, style, script and data in one file that asks nobody for anything.

Names from disk are hostile. They reach the page as JSON in which no character can end a script element, the script puts
them into text nodes only, and the policy of the page runs nothing but the one script whose hash it names.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from .columns import Columns

MOST_BYTES = 15 << 20
_SHARES = (0.8, 0.4, 0.15, 0.04, 0.0)  # of it for findings: the first that gives a page within the limit
_SCRIPTS = ("core", "rows", "space", "treemap", "usage", "found", "tables", "main")
_STYLES = ("base", "parts")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_UNIT = re.compile(r"(\d) (?=%|[KMGT]?B\b|h\b|min\b|days\b)")  # a number and its unit stay on one line
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def page(document: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], *, most_bytes: int = MOST_BYTES) -> bytes:
    """The whole file. `document` is what the script reads, without the findings; those come with a `why` each."""
    for part in _SHARES:
        roots = [root["path"] for root in document["roots"]]
        columns = Columns.of(findings, roots, most_chars=int(part * most_bytes))
        made = _filled(dict(document) | {"findings": columns.document()}).encode(errors="replace")
        if len(made) <= most_bytes:
            break
    return made


def _filled(document: Mapping[str, Any]) -> str:
    style = "\n".join(_asset(f"{name}.css") for name in _STYLES)
    script = "\n".join(['"use strict";', "(() => {", *(_asset(f"{name}.js") for name in _SCRIPTS), "})();"])
    words, command = document["headline"]
    places = {
        "policy": _POLICY.format(script=_hash(script), style=_hash(style)),
        "title": html.escape(f"{words} {command}".strip()),
        "words": _UNIT.sub("\\1&nbsp;", html.escape(words)),
        "command": html.escape(command),
        "style": style,
        "script": script,
        "data": _embedded(document),
    }
    return _PLACE.sub(lambda found: places[found[1]], _asset("page.html"))


def _embedded(document: Mapping[str, Any]) -> str:
    """JSON that stands inside a script element: nothing in it is markup, whatever a name holds."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")

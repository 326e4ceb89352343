"""A report read back without a browser: its policy, its data, its findings; and findings to draw, as many as wanted."""

import base64
import hashlib
import json
import re
import uuid
from html.parser import HTMLParser
from random import Random
from typing import Any

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)</script>",
    "</script x><script src=//x>",
    "</script/><svg onload=alert(1)>",
    "<!--<script>",
    "]]>",
    "&lt;b&gt;&amp;",
    "{{script}}{{data}}",
    "${alert(1)}`",
    "' autofocus onfocus=alert(1) x='",
    "javascript:alert(1)",
    "a\nb\x1b[31m\x00",
    "\u202egnp.exe",
    "\u2028\u2029",
    "\udcff\udc80",
    "__proto__",
    "constructor",
    "é" * 120,
)


class Page(HTMLParser):
    """What a browser would make of the file, as far as it is about what may run."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []  # contents of scripts and styles, in order
        self.text: list[str] = []
        self.open = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.open = tag
            self.inside.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.open:
            self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open:
            self.inside[-1] += data
        else:
            self.text.append(data)

    @property
    def policy(self) -> str:
        return next(attrs["content"] or "" for _, attrs in self.tags if attrs.get("http-equiv"))

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.inside[1])
        return found

    def hashes_hold(self) -> bool:
        style, _, script = self.inside
        return all(
            f"{kind}-src '{digest(text)}'" in self.policy for kind, text in (("style", style), ("script", script))
        )


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings as the script of the page puts them together."""
    columns, texts = data["findings"], data["findings"]["texts"]
    found = []
    for at in range(len(columns.get("bytes", []))):
        session = texts["sessions"][columns["session"][at]]
        directory, name = texts["dirs"][columns["dir"][at]], columns["name"][at] or session
        found.append(
            {
                "path": name if directory == "" else f"/{name}" if directory == "/" else f"{directory}/{name}",
                "agent": texts["agents"][columns["agent"][at]],
                "litter": texts["litters"][columns["litter"][at]],
                "reason": texts["reasons"][columns["reason"][at]],
                "verdict": "remove" if columns["goes"][at] else "keep",
                "why": texts["whys"][columns["why"][at]],
                **{key: columns[key][at] for key in ("bytes", "entries", "age", "count")},
            }
        )
    return found


def scan_document(count: int, *, seed: int = 7, hostile_every: int = 0) -> dict[str, Any]:
    """`data` of a `scan --json` of that many units."""
    random = Random(seed)
    kinds = (("claude", "session"), ("claude", "scratchpad"), ("codex", "sandbox"), ("gemini", "shell-out"))
    keeps = (("too-young", "3600"), ("resumable", "259200"), ("open-file", ""), ("git-work", "2 commits on main"))
    findings = []
    for number in range(count):
        agent, litter = kinds[number % len(kinds)]
        session, goes = str(uuid.UUID(int=random.getrandbits(128))), random.random() < 0.6
        reason, detail = ("owner-dead", "") if goes else random.choice(keeps)
        name = (
            HOSTILE[number // hostile_every % len(HOSTILE)]
            if hostile_every and number % hostile_every == 0
            else session
        )
        findings.append(
            {
                "path": f"/tmp/{agent}-1000/-work-shop-{number % 23}/{name}",
                "agent": agent,
                "litter": litter,
                "kind": "dir",
                "bytes": int(random.paretovariate(0.9) * 100_000) % (1 << 30),
                "entries": random.randint(1, 400),
                "age_seconds": random.randint(60, 900_000),
                "owner": {"state": "dead" if goes else "alive", "pid": random.randint(2, 99_999), "session": session},
                "witnesses": [] if goes else [{"kind": reason, "detail": "/x", "pid": 4242, "command": "node"}],
                "verdict": "remove" if goes else "keep",
                "reason": reason,
                "undoable": goes,
                **({"detail": detail} if detail else {}),
            }
        )
    used = sum(each["bytes"] for each in findings)  # type: ignore[misc]
    root = {
        "path": "/tmp",
        "filesystem": "tmpfs",
        "bytes_total": 2 * used + 2,
        "bytes_free": used + 2,
        "bytes_used": used,
    }
    inodes = {"inodes_total": 1_000_000, "inodes_free": 900_000, "inodes_used": 100_000}
    shares = {"matched_bytes": used, "unmatched_bytes": 0, "others_bytes": 0, "quarantined_bytes": 0, "other_bytes": 0}
    return {"findings": findings, "roots": [root | inodes], "accounts": [{"root": "/tmp"} | shares], "unmatched": []}


def words_outside(html: str) -> str:
    """The page's own text, without data, style and script."""
    return re.sub(r"\s+", " ", " ".join(Page(html).text))

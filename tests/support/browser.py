"""Debian's Chromium, driven by playwright: without a screen, without a network, with a profile that goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CHROMIUM = "/usr/bin/chromium"
# As root there is no sandbox; the rest keeps it from asking hosts of its maker for anything.
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip


@contextmanager
def launched(playwright: Any) -> Iterator[Any]:
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
    try:
        yield browser
    finally:
        browser.close()

"""Whether a run that nobody watches may remove anything on this system, and so whether an end can be promised."""

from __future__ import annotations

from ...catalogue.settings import Settings, load_settings
from ...oskit import system
from ...oskit.proc import proven

NOT_ALLOWED = "on macOS nothing is removed without a person until config.toml says `[macos] remove = true`"


def refusal(settings: Settings | None = None) -> str:
    """Why not, in words; "" where it may."""
    if why := proven.doubt():
        return why
    if system.proof.IS_UNATTENDED:
        return ""
    return "" if (settings or load_settings(None)).macos_remove else NOT_ALLOWED

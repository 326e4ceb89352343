"""What makes a machine call us every hour, in the words of its own scheduler: systemd, launchd or cron. Pure text.

The variables that decide about temp roots and config homes are written in: a timer has none of the user's shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from html import escape

from ..agent_facts import HOME_VARIABLES, TEMP_VARIABLES

CARRIED = (
    "TMPDIR", "TEMP", "TMP", *TEMP_VARIABLES, "TMPWARDEN_ROOTS", *HOME_VARIABLES,
    "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
)  # fmt: skip
CRON_MARK = "# tmpwarden"
_CRON_TICK = "tick.py"  # without it, the line is a remark of the user's


def variables_for(environ: Mapping[str, str]) -> dict[str, str]:
    """Those of the installer's variables that a later run needs, as they are now."""
    return {
        name: environ[name] for name in CARRIED if environ.get(name, "").startswith("/") and environ[name].isprintable()
    }


def systemd_service(command: list[str], environ: Mapping[str, str]) -> str:
    variables = "".join(f"Environment={_systemd_word(f'{name}={value}')}\n" for name, value in environ.items())
    return (
        "[Unit]\nDescription=Remove temp files of coding agents that have ended\n\n"
        f"[Service]\nType=oneshot\nNice=10\nIOSchedulingClass=idle\nSyslogIdentifier=tmpwarden\n{variables}"
        f"ExecStart={' '.join(_systemd_word(word.replace('$', '$$')) for word in command)}\n"
    )


def systemd_timer() -> str:
    return (
        "[Unit]\nDescription=Remove temp files of coding agents that have ended, every hour\n\n"
        "[Timer]\nOnActiveSec=5min\nOnUnitActiveSec=1h\nRandomizedDelaySec=2min\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )


def launchd_plist(command: list[str], environ: Mapping[str, str]) -> str:
    words = "".join(f"    <string>{escape(word)}</string>\n" for word in command)
    variables = "".join(
        f"    <key>{escape(name)}</key><string>{escape(value)}</string>\n" for name, value in environ.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        '<plist version="1.0">\n<dict>\n'
        "  <key>Label</key><string>tmpwarden</string>\n"
        f"  <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n"
        f"  <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n"
        "  <key>StartInterval</key><integer>3600</integer>\n"
        "  <key>LowPriorityIO</key><true/>\n"
        "</dict>\n</plist>\n"
    )


def crontab(existing: str, command: list[str] | None, environ: Mapping[str, str]) -> str:
    """The crontab with our one line in it, or without it; every other line stays as it is."""
    lines = existing.removesuffix("\n").split("\n") if existing else []  # not splitlines: a form feed ends no line here
    kept = [line for line in lines if not (line.endswith(CRON_MARK) and _CRON_TICK in line)]
    if command is not None:
        variables = [f"{name}={value}" for name, value in environ.items()]
        line = shlex.join(["env", *variables, *command] if variables else command)
        kept.append(f"17 * * * * {line.replace('%', chr(92) + '%')} >/dev/null 2>&1 {CRON_MARK}")
    return "\n".join(kept) + "\n" if kept else ""


def tmpfiles(roots: tuple[str, ...]) -> str:
    """Only an exemption: the distribution's ageing must not eat a live scratch or what `undo` would bring back."""
    lines = "".join(f"x {_systemd_word(root)}/tmpwarden-*\n" for root in roots)
    return "# tmpwarden clears these itself, when their owner is gone\n" + lines


def _systemd_word(word: str) -> str:
    plain = word.replace("%", "%%")
    if plain and not set(plain) & set(" \t\"'\\;"):
        return plain
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'

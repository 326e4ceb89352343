"""The guard's rules as this user's files say them, compiled. Hot path."""

from ...guard.rules.compiled import cache_path, config_files, rules_in_force
from ...guard.rules.rule import SESSION, InForce
from ...small_files import read
from ..notebook import config_directory
from .hook_call import HookCall


def guard_rules(call: HookCall) -> InForce:
    """The compiled rules; `complaint` says what is wrong with the config, in which case the last good ones hold."""
    return rules_in_force(config_files(config_directory(call.environ)), cache_path(call.state))


def shared_target(call: HookCall) -> str:
    """The directory that sessions share by the config; "" where each has its own. A start loads no rules otherwise."""
    files = config_files(config_directory(call.environ))
    if not any(b"target" in (read(path, 1 << 20, flags=0) or b"") for path in files):
        return ""
    target = guard_rules(call).rules.target
    return "" if target == SESSION else target

"""Compile the guard's config. The slow half of `compiled`: runs only when a source has changed."""

import os
from marshal import dumps

from ...errors import UnsafeScratch
from ...oskit.files import atomic, own_dirs
from ...stamped import stamp
from .. import first_look
from ..programs import known
from . import first_table as making
from .choosing import PRESETS_DIR
from .config import Loaded, hosts_alone, load
from .document import InForce, document_of, rules_of
from .first_table import first_table
from .rule import Rules

_ALONE = "the preset sandbox alone is in force"
_HOSTS = "what the host says is in force alone"


def compile_rules(files: tuple[str, ...], cache: str, *, last_good: dict[str, object] | None) -> InForce:
    """Read every source; the result is written to `cache` and comes into force unless a source is broken."""
    presets_there = [os.path.join(PRESETS_DIR, name) for name in os.listdir(PRESETS_DIR)]
    seen = {str(row[0]): row for row in stamp((*files, *presets_there))}  # before reading: changed then is stale
    loaded = load(files)
    presets = tuple(source.path for source in loaded.sources if source.path.startswith(PRESETS_DIR))
    stamps = [seen[path] for path in (*presets, *files)]
    complaint = complaint_about(
        loaded, has_last_good=last_good is not None and _ALONE not in str(last_good["complaint"])
    )
    rules = loaded.rules
    if loaded.is_broken:
        fixed = hosts_alone(loaded)  # a policy that came since holds, however long a user's file stays broken
        rules = fixed.rules if fixed else rules_of(last_good) if last_good is not None else load(()).rules
    try:
        own_dirs.make_private_dir(os.path.dirname(cache))
        atomic.write(cache, dumps(document_of(rules, stamp=stamps, presets=presets, complaint=complaint)))
        _write_first(rules, stamps, files, os.path.dirname(os.path.dirname(cache)))
    except (OSError, UnsafeScratch):
        pass  # a full disk: the next hook compiles again
    return InForce(rules, complaint)


def _write_first(rules: Rules, seen: list[list[object]], files: tuple[str, ...], state_dir: str) -> None:
    """What the first look goes by. It is stale when a rule, a row or the code that made it is another."""
    table = first_table(rules) or {}
    config = os.path.dirname(files[1]) if len(files) > 1 else ""
    code = [module.__file__ for module in (known, first_look, making) if module.__file__]
    stamps = [*seen, *stamp((f"{config}/guard.d", *code))]
    atomic.write(first_look.path_of(state_dir), dumps({"stamp": stamps, "config": config, **table}))


def complaint_about(loaded: Loaded, *, has_last_good: bool) -> str:
    """One sentence about a broken config, "" about a good one."""
    fatal = [mistake for mistake in loaded.mistakes if mistake.fatal]
    if not fatal:
        return ""
    more = f" (and {len(fatal) - 1} more)" if len(fatal) > 1 else ""
    instead = _HOSTS if hosts_alone(loaded) else "the last good one stays in force" if has_last_good else _ALONE
    return f"the guard's config is broken, {instead}: {fatal[0]}{more} (`tmpwarden guard verify`)"

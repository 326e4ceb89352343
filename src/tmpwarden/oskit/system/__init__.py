"""The border to the operating system: what is asked of it stands in `linux` and in `darwin`, under the same names.

Nothing else knows which system this is. A module of either is loaded when it is first asked, for hooks are started
before every tool call; callers write `system.locks.listeners(...)`. A module that a system does not have is
`blind`'s, in which every function answers that it was not measured. tests/oskit/test_border.py compares the packages.

A port brings these. "Raises" means OSError where it was not measured, and one of procs.ENDED where the process is gone:

| module | what it answers |
|---|---|
| hot | for every tool call, so no ctypes: `program parent start arguments environment mounts`,
`TELLS_PROCESSES TELLS_MOUNTS` |
| machine | `boot_id machine_id pid_namespace mount_namespace sees_all_processes` |
| processes | `living pids owner_of other_threads numbers_below arguments environment program cgroup boot_time_s
started_s` |
| vitals | what a process is and costs: `look_at proportional_bytes` |
| ending | hold on to a process until it ends: `CAN_FOLLOW SURVIVES_FORK hold send reap progress` |
| looking | one look at everybody: `look`, why it cannot be had: `BLIND`, can the kernel end a doubt: `IS_ASKABLE` |
| locks | `locked_inodes bound_sockets listening_sockets listeners` |
| connections | sockets: `sockets_of table listening_locally` |
| far_ends | the other end of a pipe or socket pair: `far_end` |
| open_files | `open_files read_maps written_by written_by_session users_of flags_of taken` |
| mounting | `mounts Watched mount_id_of`, `BINDS` |
| descriptors | open files and paths: `path_of way_to reopened pin set_mode` |
| entries | `dated born_ns rename_new copy_attributes`; what flags hold back: `is_held_back`; enter a directory but no
mount: `entering` |
| room | quotas and memory: `limits project_of memory_limit` |
| customs | names and programs: `user_temp TMP_NAMES HAS_LAUNCHD SHELL OPENER NOTIFIER CATALOGUE PSEUDO_FILES
REMOUNT SED_IN_PLACE
MOVE_ASIDE` |
| private_mounts | a /tmp of one's own: `IS_THERE unshare mount detach why_not`, flags |
| proof | whether what this system says of processes has been proven on this very build: `doubt test IS_UNATTENDED` |
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .linux import (
        connections as connections,
    )
    from .linux import (
        customs as customs,
    )
    from .linux import (
        descriptors as descriptors,
    )
    from .linux import (
        ending as ending,
    )
    from .linux import (
        entries as entries,
    )
    from .linux import (
        far_ends as far_ends,
    )
    from .linux import (
        hot as hot,
    )
    from .linux import (
        locks as locks,
    )
    from .linux import (
        looking as looking,
    )
    from .linux import (
        machine as machine,
    )
    from .linux import (
        mounting as mounting,
    )
    from .linux import (
        open_files as open_files,
    )
    from .linux import (
        private_mounts as private_mounts,
    )
    from .linux import (
        processes as processes,
    )
    from .linux import (
        proof as proof,
    )
    from .linux import (
        room as room,
    )
    from .linux import (
        vitals as vitals,
    )

NAME = sys.platform if sys.platform in ("linux", "darwin") else "blind"


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(name)
    for package in (NAME, "blind"):
        module = f"{__name__}.{package}.{name}"
        try:
            loaded_module: object = __import__(module, None, None, ("*",))
        except ModuleNotFoundError as missing:
            if missing.name != module:
                raise
            continue
        globals()[name] = loaded_module
        return loaded_module
    raise AttributeError(f"{NAME} has no {name}")

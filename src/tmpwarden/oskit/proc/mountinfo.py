"""The lines of /proc/PID/mountinfo. Pure; light enough for the hot path."""

from __future__ import annotations

import os


class Mount:
    """One line of mountinfo."""

    __slots__ = ("_known", "_options", "device", "filesystem", "id", "parent", "point", "root", "source")

    def __init__(
        self, number: int, parent: int, device: str, root: str, point: str, options: str, filesystem: str, source: str
    ) -> None:
        self.id = number
        self.parent = parent
        self.device = device  # "major:minor" of the file system, which is not always what stat calls it (btrfs)
        self.root = root  # the directory of that file system which is mounted here
        self.point = point
        self._options = options
        self._known: frozenset[str] | None = None
        self.filesystem = filesystem
        self.source = source  # what is mounted: a device, a server's directory, or a mere word

    @property
    def options(self) -> frozenset[str]:
        """Of the mount and of the file system. Few ask, and a look at all processes reads every namespace's mounts."""
        if self._known is None:
            self._known = frozenset(self._options.split(","))
        return self._known

    @property
    def base(self) -> str:
        """The root without the mark that its directory was deleted."""
        return self.root.removesuffix("//deleted")


def unescape(text: str) -> str:
    r"""Undo the kernel's \040 for a space, \011, \012 and \134."""
    if "\\" not in text:
        return text
    head, *parts = text.split("\\")
    words = [head]
    for part in parts:
        if len(part) >= 3 and part[0] in "0123" and part[1] in "01234567" and part[2] in "01234567":
            words.append(os.fsdecode(bytes([int(part[:3], 8)])) + part[3:])
        else:
            words.append("\\" + part)
    # an escaped byte may be part of a longer UTF-8 sequence: decode the whole again
    return os.fsdecode(os.fsencode("".join(words)))


def parse_mount(line: str) -> Mount | None:
    """One line of mountinfo, or None if it is no such line."""
    fields = line.split(" ")
    try:
        dash = fields.index("-", 6)
        number, parent, device, root, point, options = fields[:6]
        filesystem, super_options = fields[dash + 1], fields[-1]
        source, both_options = unescape(fields[dash + 2]), f"{options},{super_options}"
        return Mount(
            int(number), int(parent), device, unescape(root), unescape(point), both_options, filesystem, source
        )
    except (ValueError, IndexError):
        return None


def parse_mounts(text: str) -> list[Mount]:
    """All of mountinfo; what is no such line is passed over."""
    return [mount for line in text.split("\n") if (mount := parse_mount(line))]


def visible_mounts(mounts: list[Mount]) -> dict[str, Mount]:
    """The mount that a walk finds at each mount point; what lies hidden below a later mount is left out."""
    numbers = {mount.id for mount in mounts}
    children: dict[int, dict[str, Mount]] = {}
    visible: dict[str, Mount] = {}
    for mount in mounts:
        if mount.parent in numbers and mount.parent != mount.id:
            children.setdefault(mount.parent, {})[mount.point] = mount
    waiting = [mount for mount in mounts if mount.parent not in numbers or mount.parent == mount.id]
    while waiting:
        mount = waiting.pop(0)
        below = children.pop(mount.id, {})
        above = below.pop(mount.point, None)  # a mount over this one's root hides all of it
        if above is not None:
            waiting.append(above)
            continue
        visible[mount.point] = mount
        waiting.extend(below.values())
    return visible

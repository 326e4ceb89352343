"""What the package says of its address: hatchling asks when it builds.

On the day the repository is public, only REPOSITORY changes. The links beside the package follow, and so do those of
the README, which an index shows without the files that they lead to.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = ""  # such as https://github.com/OWNER/tmpwarden; a guess could belong to somebody else
PAGES = {"Source": "", "Documentation": "/tree/main/docs", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md"}
_LINK = re.compile(r"(!?\[[^\]]*\]\()(?!https?:|#)([^)]+\))")


class Address(MetadataHookInterface):
    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, object]) -> None:
        metadata["urls"] = urls(REPOSITORY)
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_absolute_links(text, REPOSITORY)}


def urls(repository: str) -> dict[str, str]:
    return {name: repository + page for name, page in PAGES.items()} if repository else {}


def with_absolute_links(text: str, repository: str) -> str:
    """The page as it can be read without the repository beside it; without an address, as it is."""
    if not repository:
        return text
    return _LINK.sub(
        lambda link: f"{link[1]}{repository}/{'raw' if link[1][0] == '!' else 'blob'}/main/{link[2]}", text
    )

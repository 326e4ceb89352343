"""The tree of the view: one line a node with its mark, size, what may go, and age. Names are text, never markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from ...text import size
from .. import render
from .forest import Key, TreeLine

_GUIDE = 2
_REASONS_FROM, _AGES_FROM = 76, 60  # columns of a terminal; in a narrower one names need the room more
_STATE = 9  # `removable`, or an amount
_REASON_PART = 0.36  # of what is wider; the whole sentence stands below the tree
_PAGE = 500  # children of one branch that are drawn; the last line brings as many more
Branch = TreeNode[TreeLine]


class Units(Tree[TreeLine]):
    ICON_NODE, ICON_NODE_EXPANDED = "+ ", "- "
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "app.mark", "Mark"),
        Binding("right,l", "open", "Open", show=False),
        Binding("left,h", "shut", "Shut", show=False),
        Binding("j", "cursor_down", show=False),
    ]

    def __init__(self, is_marked: Callable[[TreeLine], bool | None], now_ns: Callable[[], int]) -> None:
        super().__init__(Text("roots"), id="units")
        self.show_root, self.guide_depth, self.auto_expand = False, _GUIDE, True
        self.is_marked, self.now_ns = is_marked, now_ns
        self.waiting: dict[int, tuple[Branch, Sequence[TreeLine], set[Key]]] = {}  # by the line that stands for them

    def show(self, roots: Iterable[TreeLine], opened: set[Key], cursor: Key | None) -> None:
        """Draw anew, with the same branches open and the cursor on the same thing."""
        top, before = self.scroll_offset.y, max(self.cursor_line, 0)
        self.clear()
        self.waiting.clear()
        for node in roots:
            self._grow(self.root, node, opened)
        line = self._line_of(cursor)
        self.cursor_line = min(before, self.last_line) if line is None else line  # it is gone: its neighbour
        self.scroll_to(y=top, animate=False)

    def redraw(self) -> None:
        """Every line anew: marks and ages are no part of what a tree knows of itself."""
        self.notify_style_update()
        self.refresh()

    def get_label_width(self, node: Branch) -> int:
        """All are as wide as the tree; drawing each to measure it would cost seconds where there are many."""
        return max(1, self.size.width - 2 - _depth(node) * _GUIDE)

    def _grow(self, parent: Branch, node: TreeLine, opened: set[Key]) -> None:
        if node.is_unit or node.kind == "account":
            parent.add_leaf(Text(node.title), node)
            return
        branch = parent.add(Text(node.title), node, expand=node.key in opened)
        if node.key in opened:
            self._grow_all(branch, node.children, opened)

    def _grow_all(self, branch: Branch, children: Sequence[TreeLine], opened: set[Key]) -> None:
        """The biggest first, and a line for the rest: each costs time, and nobody scrolls through 100,000."""
        for child in children[:_PAGE]:
            self._grow(branch, child, opened)
        if rest := children[_PAGE:]:
            line = branch.add_leaf(Text(f"... and {len(rest):,} smaller ones: Enter shows more, / finds them"))
            self.waiting[line.id] = branch, rest, opened

    def on_tree_node_selected(self, event: Tree.NodeSelected[TreeLine]) -> None:
        if event.node.id in self.waiting:
            branch, rest, opened = self.waiting.pop(event.node.id)
            event.node.remove()
            self._grow_all(branch, rest, opened)

    def _line_of(self, key: Key | None) -> int | None:
        todo = list(self.root.children)
        while key is not None and todo:
            branch = todo.pop()
            if branch.data is not None and branch.data.key == key:
                return branch.line if branch.line >= 0 else None
            todo += branch.children
        return None

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[TreeLine]) -> None:
        """Children come when they are wanted: a root may hold 100,000 units."""
        if event.node.data is not None and not event.node.children:  # of a group they may have to be checked first
            self._grow_all(event.node, event.node.data.children, set())

    def action_open(self) -> None:
        if self.cursor_node is not None and self.cursor_node.allow_expand:
            self.cursor_node.expand()

    def action_shut(self) -> None:
        branch = self.cursor_node
        if branch is None:
            return
        if branch.allow_expand and branch.is_expanded:
            branch.collapse()
        elif branch.parent is not None and branch.parent is not self.root:
            self.move_cursor(branch.parent)

    def render_label(self, node: Branch, base_style: Style, style: Style) -> Text:
        thing = node.data
        if thing is None:
            return Text(f"  {node.label}", style="dim")
        icon = (self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE) if node.allow_expand else "  "
        left = f"{icon}{_box(thing, self.is_marked(thing))} {thing.title}"
        columns = self._columns(thing)
        room = self.size.width - 2 - _depth(node) * _GUIDE - len(columns)
        text = Text(_fitted(left, room), style=base_style + style, no_wrap=True, end="")
        text.append(columns, style=_COLOURS.get(thing.state, "") if thing.is_unit else "")
        return text

    @property
    def titles(self) -> str:
        """Above the columns of the lines, which leave two blanks at the right."""
        return self._laid_out("SIZE", "AGE", "REMOVABLE, WHY", "REMOVABLE").rjust(self.size.width - 2)

    def _columns(self, thing: TreeLine) -> str:
        if thing.is_unit:
            age = render.ages(thing.verdicts, self.now_ns()).rpartition("-")[2]
            why = thing.why if thing.why.startswith("in use") else f"{thing.state}: {thing.why}"
            return self._laid_out(size(thing.bytes), age, why, thing.state)
        removable = size(thing.removable_bytes) if thing.removable_bytes else "-"
        return self._laid_out(size(thing.bytes), "", removable, removable)

    def _laid_out(self, amount: str, age: str, why: str, state: str) -> str:
        """As much as the terminal has room for."""
        width = self.size.width
        cells = f"{amount:>9} " + (f"{age:>6}  " if width >= _AGES_FROM else "")
        if width < _REASONS_FROM:
            return f"{cells}{state:<{_STATE}}"
        room = int(width * _REASON_PART)
        return f"{cells}{why if len(why) <= room else why[: room - 1] + '…':<{room}}"


_COLOURS = {"removable": "green", "ask": "yellow", "kept": "dim"}


def _depth(node: Branch) -> int:
    depth, above = 0, node.parent
    while above is not None and above.parent is not None:
        depth, above = depth + 1, above.parent
    return depth


def _box(thing: TreeLine, is_marked: bool | None) -> str:
    if thing.is_unit and not thing.offered:
        return "   "
    return {True: "[x]", None: "[-]", False: "[ ]"}[is_marked]


def _fitted(text: str, room: int) -> str:
    """Exactly `room` wide."""
    room = max(room, 8)
    return cut(text, room).ljust(room)


def cut(text: str, room: int) -> str:
    """What is too long loses its middle, where names tell least."""
    head = room * 2 // 3
    return text if len(text) <= room else f"{text[:head]}…{text[len(text) - (room - head - 1) :]}"

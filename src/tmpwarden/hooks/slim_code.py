"""Compiles a module without what only its readers need: annotations, docstrings, line numbers."""

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType


def parsed(text: bytes) -> ast.Module:
    return _WithoutTypes().visit(ast.parse(text))  # type: ignore[no-any-return]


def names_in(tree: ast.AST) -> "set[str]":
    """What it asks for by name when it runs."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def compiled(source: str, tree: ast.Module) -> "CodeType":
    slim = ast.fix_missing_locations(tree)
    return without_lines(compile(slim, source, "exec", dont_inherit=True, optimize=2))


class _WithoutTypes(ast.NodeTransformer):
    """Annotations are for readers and for mypy; building them, and importing __future__ for them, costs every call."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        given = node.args
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if one is not None:
                one.annotation = None
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.Pass() if node.module == "__future__" else node


def without_lines(code: "CodeType") -> "CodeType":
    """A quarter of what has to be read. Hooks tell errors by name, not by line."""
    consts = tuple(without_lines(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_consts=consts, co_linetable=b"")

#!/usr/bin/env python3
"""Rewrites a copy of the checkout for Python 3.9, for the wheel of that version (scripts/wheel).

    python3.9 downgrade.py COPY        in place

The sources are written for 3.10. What 3.9 lacks of that is replaced: unions of types, wherever they
are evaluated, by typing.Union; zip(strict=True), itertools.pairwise and keyword-only or slotted
dataclasses by those of older.py, which is put beside them. Comments go: a wheel does not need them.
It is run by Python 3.9 itself, so that what it writes is in that version's grammar.
"""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
IMPORTS = "import typing as _typing\nfrom sibyl import _older\n"


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


class Unions(ast.NodeTransformer):
    """Makes every `A | B` of an expression that holds types typing.Union[A, B]."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr):
            return node
        union = ast.parse("_typing.Union[()]", mode="eval").body
        union.slice = ast.Tuple([node.left, node.right], ast.Load())
        return union


class Older(ast.NodeTransformer):
    """Goes over a module; types are told from numbers by where they stand."""

    def types(self, node: ast.expr | None) -> ast.expr | None:
        return node and Unions().visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = self.types(node.annotation)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = self.types(node.returns)
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = self.types(node.annotation)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """A name for a type, as in `Handler = Callable[[int], None] | Handlers`."""
        [target, *_] = node.targets
        if isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper():
            node.value = self.types(node.value)
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A union with None is one of types wherever it stands."""
        self.generic_visit(node)
        if isinstance(node.op, ast.BitOr) and (is_none(node.left) or is_none(node.right)):
            return Unions().visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node) == "itertools.pairwise":
            return ast.parse("_older.pairwise", mode="eval").body
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        called = ast.unparse(node.func)
        given = {word.arg: word for word in node.keywords}
        if called == "isinstance" and isinstance(node.args[1], ast.BinOp):
            node.args[1] = ast.Tuple([node.args[1].left, node.args[1].right], ast.Load())
        elif called == "zip" and "strict" in given:
            node.keywords.remove(given["strict"])
            if ast.unparse(given["strict"].value) == "True":
                node.func = ast.parse("_older.zip_strict", mode="eval").body
        elif called in ("dataclass", "dataclasses.dataclass"):
            node.func = ast.parse("_older.dataclass", mode="eval").body
        return node


def downgraded(source: str) -> str:
    tree = Older().visit(ast.parse(source))
    documented = ast.get_docstring(tree, clean=False) is not None
    tree.body[documented:documented] = ast.parse(IMPORTS).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    if old not in text:
        sys.exit(f"downgrade: {path} lacks {old}")
    path.write_text(text.replace(old, new), "utf-8")


def main() -> None:
    copy = Path(sys.argv[1]).resolve()
    if copy == HERE.parents[1]:
        sys.exit("downgrade: a copy is wanted, since the sources there are replaced")
    package = copy / "python" / "sibyl"
    for path in sorted(package.rglob("*.py")):
        path.write_text(downgraded(path.read_text("utf-8")), "utf-8")
    shutil.copy(HERE / "older.py", package / "_older.py")
    replace_in(copy / "pyproject.toml", 'requires-python = ">=3.10"', 'requires-python = ">=3.9"')
    replace_in(copy / "python" / "CMakeLists.txt", "Python 3.10 REQUIRED", "Python 3.9 REQUIRED")


if __name__ == "__main__":
    main()

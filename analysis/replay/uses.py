"""What code does with classes that have another form in the sandbox: calls, members, `isinstance`, `except`."""

import ast
import copy
from dataclasses import dataclass, field

from analysis.replay.shared import Rewriting

_ITERATE = {
    *("list", "tuple", "set", "len", "sorted", "enumerate", "iter", "dict", "map", "filter", "zip", "any", "all"),
}


@dataclass
class Known:
    """Classes by their names, and what uses of them must be rewritten."""

    flat: dict[str, ast.ClassDef] = field(default_factory=dict)
    heirs: dict[str, list[str]] = field(default_factory=dict)
    enums: set[str] = field(default_factory=set)
    loose: dict[tuple[str, str], str] = field(default_factory=dict)
    properties: set[str] = field(default_factory=set)
    errors: dict[str, str] = field(default_factory=dict)


class Uses(Rewriting, ast.NodeTransformer):
    """What the rest of the code does with classes that have another form now."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and (node.value.id, node.attr) in self.known.loose:
            return self._loose(node.value.id, node.attr)
        if isinstance(node.value, ast.Name) and node.value.id in self.known.enums and node.attr == "__members__":
            return ast.parse(f"{{m.name: m for m in {node.value.id}._replay_members}}", mode="eval").body
        if node.attr in self.known.properties and isinstance(node.ctx, ast.Load):
            return call("_replay_get", node.value, ast.Constant(node.attr))
        return node

    def _loose(self, owner: str, method: str) -> ast.expr:
        function = self.known.loose[owner, method]
        if function.startswith("_replay_static"):
            return loaded(function)
        return ast.parse(f"(lambda *a, **k: {function}({owner}, *a, **k))", mode="eval").body

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute) and target.attr in self.known.properties:
            return ast.Expr(call("_replay_set", target.value, ast.Constant(target.attr), node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target = node.target
        self.generic_visit(node)
        if isinstance(target, ast.Attribute) and target.attr in self.known.properties:
            before = call("_replay_get", target.value, ast.Constant(target.attr))
            after = ast.BinOp(left=before, op=node.op, right=node.value)
            return ast.Expr(call("_replay_set", copy.deepcopy(target.value), ast.Constant(target.attr), after))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if getattr(node, "is_made", False):
            return node
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        name = node.func.id
        if name in self.known.enums and len(node.args) == 1:
            return call("_replay_member", node.func, node.args[0])
        if name == "isinstance" and len(node.args) == 2:
            node.args[1] = self._with_heirs(node.args[1])
        elif name in _ITERATE:
            node.args = [self._members(argument) for argument in node.args]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self.generic_visit(node)
        node.type = self._with_heirs(node.type) if node.type else None
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.known.enums:
            return call("_replay_named_member", node.value, node.slice)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        node.iter = self._members(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = self._members(node.iter)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        for place, operator in enumerate(node.ops):
            if isinstance(operator, ast.In | ast.NotIn):
                node.comparators[place] = self._members(node.comparators[place])
        return node

    def _members(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name) and node.id in self.known.enums:
            return ast.Attribute(value=node, attr="_replay_members", ctx=ast.Load())
        return node

    def _with_heirs(self, node: ast.expr) -> ast.expr:
        """A class and those that derive from it, which have no base any more."""
        named = node.elts if isinstance(node, ast.Tuple) else [node]
        heirs = [heir for one in named if isinstance(one, ast.Name) for heir in self.known.heirs.get(one.id, ())]
        return ast.Tuple(elts=[*named, *map(loaded, heirs)], ctx=ast.Load()) if heirs else node


def call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(func=loaded(function), args=list(arguments), keywords=[])


def loaded(id_: str) -> ast.Name:
    return ast.Name(id=id_, ctx=ast.Load())

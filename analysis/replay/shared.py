"""What code may keep beside the instances it makes: then each play needs an interpreter of its own."""

import ast

from analysis.replay.sandbox import NotReplayableError

# The driver's names in the sandbox, and those that the lowering makes.
OURS = "_replay_"
_NAMING = {"id", "attr", "arg", "name", "asname", "rest"}
_CACHES = {"cache", "lru_cache", "cached_property", "singledispatch"}


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, as `ast.walk` gives them, at a third of its time."""
    nodes = [tree]
    for node in nodes:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


class Rewriting:
    """Beside ast.NodeTransformer: what has no parts is not looked into."""

    def _itself(self, node: ast.AST) -> ast.AST:
        return node

    visit_Constant = visit_Load = visit_Store = _itself  # noqa: N815  names that ast gives


def refuse_our_names(nodes: list[ast.AST]) -> None:
    """Refuse code that names what plays it.

    Raises:
        NotReplayableError: it does.
    """
    for node in nodes:
        names = [getattr(node, field) for field in node._fields if field in _NAMING]
        names += node.names if isinstance(node, ast.Global | ast.Nonlocal) else []
        if any(isinstance(name, str) and OURS in name for name in names):
            raise NotReplayableError(f"uses a name with {OURS}, which is what plays it")


def is_shared(nodes: list[ast.AST]) -> bool:
    """Whether code has globals that change, values of classes or defaults that can change, or caches.

    >>> is_shared(nodes_of(ast.parse("class A:\\n    def __init__(self): self.x = {}")))
    False
    >>> is_shared(nodes_of(ast.parse("class A:\\n    seen = []")))
    True
    """
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)} | {"cls"}
    if any(_is_shared(node, classes) for node in nodes):
        return True
    bodies = [node.body for node in nodes if isinstance(node, ast.Module | ast.ClassDef)]
    return any(_can_change(statement) for body in bodies for statement in body)


def _is_shared(node: ast.AST, classes: set[str]) -> bool:
    if isinstance(node, ast.Global):
        return True
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
        return not all(map(_is_fixed, defaults))
    if isinstance(node, ast.Attribute):
        is_of_class = isinstance(node.value, ast.Name) and node.value.id in classes
        return node.attr in _CACHES or node.attr == "__class__" or (is_of_class and isinstance(node.ctx, ast.Store))
    return isinstance(node, ast.Name) and node.id in {"setattr", "type", *_CACHES}


def _can_change(statement: ast.stmt) -> bool:
    """A statement at the top of a module or class that makes more than types, functions and fixed values."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is not None and not _is_fixed(statement.value)
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    kinds = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass
    return not (is_text or isinstance(statement, kinds))


def _is_fixed(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple | ast.BinOp | ast.UnaryOp):
        return all(_is_fixed(part) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
    return isinstance(value, ast.Constant | ast.Name)

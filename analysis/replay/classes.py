"""Classes in the form that the sandbox knows: no bases, methods without decorators, nothing nested.

- a TypedDict is a dict: the class becomes `dict`
- a NamedTuple with fields only becomes a `namedtuple`; an Enum a class whose members are its attributes
- a class derived from another of the same code gets copies of what it inherits; `super().m()` calls the copy
- a nested class moves to the top, and stays an attribute where it stood
- a static or class method moves to the top as a function, a method in its place calls it
- a property's method stays as `_replay_get_x`; reading `.x` asks for it first, setting asks `_replay_set_x`
- an exception of the code's own, without a body, is one of the sandbox's that no code here uses: it is caught as it was
- methods that Monty 1.4 does not call (`__len__`, `__bool__`, `__lt__`, `__getattr__` …): refused, since an object that
  lacks them would behave otherwise without a word
"""

import ast
import copy

from analysis.replay.sandbox import NotReplayableError
from analysis.replay.shared import Rewriting
from analysis.replay.uses import Known, Uses, loaded

PRELUDE = """
from collections import namedtuple as _replay_namedtuple

def _replay_get(value, name):
    if hasattr(value, "_replay_get_" + name):
        return getattr(value, "_replay_get_" + name)()
    return getattr(value, name)

def _replay_set(value, name, new):
    if hasattr(value, "_replay_set_" + name):
        getattr(value, "_replay_set_" + name)(new)
    elif hasattr(value, "_replay_get_" + name):
        raise AttributeError("property '" + name + "' of '" + type(value).__name__ + "' object has no setter")
    else:
        setattr(value, name, new)

def _replay_member(cls, value):
    for member in cls._replay_members:
        if member.value == value or member is value:
            return member
    raise ValueError(repr(value) + " is not a valid " + cls._replay_title)

def _replay_named_member(cls, name):
    for member in cls._replay_members:
        if member.name == name:
            return member
    raise KeyError(name)
"""
_ENUM = """
class {name}:
    _replay_title = {name!r}
    def __init__(self, name, value):
        self.name = name
        self.value = value
    def __eq__(self, other):
        if isinstance(other, {name}):
            return self.name == other.name
        return {is_mixed} and self.value == other
    def __hash__(self):
        return hash(self.value if {is_mixed} else self.name)
    def __str__(self):
        return {text}
    def __repr__(self):
        return "<{name}." + self.name + ": " + repr(self.value) + ">"
"""
# Monty calls these and no others.
_CALLED = {
    *("__init__", "__post_init__", "__eq__", "__hash__", "__repr__", "__str__", "__getitem__", "__contains__"),
    *("__call__", "__iter__", "__next__", "__enter__", "__exit__", "__add__", "__radd__"),
}
_PLAIN_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
# Exceptions of the sandbox that stand for the code's own, by what these derive from.
_SPARES = {
    "Exception": ("csv.Error", "binascii.Incomplete", "decimal.Clamped", "decimal.Rounded", "decimal.Subnormal"),
    "ValueError": ("binascii.Error", "builtins.UnicodeDecodeError", "builtins.UnicodeEncodeError"),
}
_NO_DECORATOR = frozenset({"abstractmethod", "override", "overload", "final", "typing"})


def lower(tree: ast.Module) -> ast.Module:
    """Every class of the code in that form.

    Raises:
        NotReplayableError: a class is of a kind that has none.
    """
    _hoist(tree)
    known = _Classes()
    body: list[ast.stmt] = []
    for statement in tree.body:
        body += known.lowered(statement) if isinstance(statement, ast.ClassDef) else [statement]
    tree.body = body
    others = (statement for statement in tree.body if not isinstance(statement, ast.ClassDef))
    if any(isinstance(node, ast.ClassDef) for statement in others for node in ast.walk(statement)):
        raise NotReplayableError("a class inside a function, which the sandbox has not")
    return known.uses(tree)


def is_kept(node: ast.AnnAssign) -> bool:
    """Whether an annotation is a field of a dataclass: those Monty reads."""
    return getattr(node, "is_field", False)


def _hoist(tree: ast.Module) -> None:
    """Move nested classes to the top, in front of the class they stand in."""
    done: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            done += _unnested(statement)
        done.append(statement)
    tree.body = done


def _unnested(node: ast.ClassDef) -> list[ast.stmt]:
    outer: list[ast.stmt] = []
    body: list[ast.stmt] = []
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            outer += _unnested(statement)
            name, statement.name = statement.name, f"{node.name}_{statement.name}"
            outer.append(statement)
            body.append(ast.Assign(targets=[ast.Name(name, ast.Store())], value=loaded(statement.name)))
        else:
            body.append(statement)
    node.body = body
    return outer


class _Classes(Known):
    """The classes seen so far, rewritten as they come."""

    def lowered(self, node: ast.ClassDef) -> list[ast.stmt]:
        bases = [_base(base) for base in node.bases]
        if "TypedDict" in bases or any(base in self.flat and self.flat[base].name == "" for base in bases):
            self.flat[node.name] = ast.ClassDef(name="", bases=[], keywords=[], body=[], decorator_list=[])
            return [ast.Assign(targets=[ast.Name(node.name, ast.Store())], value=loaded("dict"))]
        if "NamedTuple" in bases:
            return [_named_tuple(node)]
        if _ENUMS & set(bases):
            return self._enum(node, bases)
        if len(bases) == 1 and (bases[0] in _SPARES or bases[0] in self.errors):
            return [self._error(node, bases[0])]
        return self._plain(node, bases)

    def uses(self, tree: ast.Module) -> ast.Module:
        rewritten = Uses(self).visit(tree)
        return rewritten if isinstance(rewritten, ast.Module) else tree

    def _plain(self, node: ast.ClassDef, bases: list[str]) -> list[ast.stmt]:
        foreign = [base for base in bases if base not in _PLAIN_BASES and base not in self.flat]
        if foreign:
            raise NotReplayableError(f"class {node.name} derives from {foreign[0]}, which the sandbox has not")
        _refuse_uncalled(node)
        parents = [base for base in bases if base in self.flat]
        self._inherit(node, parents)
        node.bases, node.keywords = [], []
        functions = self._methods(node)
        is_record = any(_base(d.func if isinstance(d, ast.Call) else d) == "dataclass" for d in node.decorator_list)
        if is_record:
            _mark_fields(node)
        node.body = node.body or [ast.Pass()]
        self.flat[node.name] = node
        return [*functions, node]

    def _error(self, node: ast.ClassDef, base: str) -> ast.stmt:
        is_bare = all(
            isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            for part in node.body
        )
        kind = self.errors.get(base, base)
        number = list(self.errors.values()).count(kind)
        if not is_bare or number >= len(_SPARES[kind]):
            raise NotReplayableError(f"exception {node.name} is more than a name, or one of many")
        self.errors[node.name] = kind
        for heirs in self.heirs.values():
            if base in heirs:
                heirs.append(node.name)
        if base in self.errors:
            self.heirs.setdefault(base, []).append(node.name)
        module, _, name = _SPARES[kind][number].partition(".")
        if module == "builtins":
            return ast.Assign(targets=[ast.Name(node.name, ast.Store())], value=loaded(name))
        return ast.ImportFrom(module=module, names=[ast.alias(name, node.name)], level=0)

    def _inherit(self, node: ast.ClassDef, parents: list[str]) -> None:
        own = {_defines(statement) for statement in node.body} - {""}
        inherited: list[ast.stmt] = []
        for parent in parents:
            self.heirs.setdefault(parent, []).append(node.name)
            for ancestor, heirs in list(self.heirs.items()):
                if parent in heirs and node.name not in heirs:
                    self.heirs[ancestor].append(node.name)
            for statement in self.flat[parent].body:
                name = _defines(statement)
                if not name:
                    continue
                twin = copy.deepcopy(statement)
                if name not in own:
                    own.add(name)
                    inherited.append(twin)
                elif isinstance(twin, ast.FunctionDef):
                    twin.name = f"_replay_super_{node.name}_{name}"
                    inherited.append(twin)
            for (owner, method), function in list(self.loose.items()):
                if owner == parent and method not in own:
                    self.loose[node.name, method] = function
        node.body = [*inherited, *node.body]
        _Super(node).rewrite()

    def _methods(self, node: ast.ClassDef) -> list[ast.stmt]:
        """Take decorators off methods; the functions that static and class methods become."""
        functions: list[ast.stmt] = []
        for method in [part for part in node.body if isinstance(part, ast.FunctionDef)]:
            for decorator in method.decorator_list:
                kind = _base(decorator)
                if kind in ("staticmethod", "classmethod"):
                    functions.append(self._loosen(node, method, kind))
                elif kind in ("property", "cached_property"):
                    self.properties.add(method.name)
                    method.name = f"_replay_get_{method.name}"
                elif kind == "setter":
                    method.name = f"_replay_set_{method.name}"
                elif kind not in _NO_DECORATOR:
                    raise NotReplayableError(f"decorator {ast.unparse(decorator)[:80]} of a method")
            method.decorator_list = []
        return functions

    def _loosen(self, node: ast.ClassDef, method: ast.FunctionDef, kind: str) -> ast.stmt:
        name = f"_replay_{kind}_{node.name}_{method.name}"
        function = copy.deepcopy(method)
        function.name, function.decorator_list = name, []
        self.loose[node.name, method.name] = name
        own = node.name if kind == "classmethod" else ""
        if own and function.args.args:
            _Renamed(function.args.args[0].arg, own).visit(function)
        call = f"return {name}({f'{own}, ' if own else ''}*arguments, **keywords)"
        method.args = ast.parse("def f(self, *arguments, **keywords): pass").body[0].args  # type: ignore[attr-defined]
        method.body = ast.parse(f"def f():\n    {call}").body[0].body  # type: ignore[attr-defined]
        return function

    def _enum(self, node: ast.ClassDef, bases: list[str]) -> list[ast.stmt]:
        is_mixed = bool({"str", "int", "IntEnum", "StrEnum"} & set(bases))
        is_value = bool({"IntEnum", "StrEnum"} & set(bases))
        text = "str(self.value)" if is_value else f'"{node.name}." + self.name'
        made = ast.parse(_ENUM.format(name=node.name, is_mixed=is_mixed, text=text)).body[0]
        assert isinstance(made, ast.ClassDef)
        members: list[ast.stmt] = []
        names: list[str] = []
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name = statement.targets[0].id
                value = _automatic(statement.value, name, len(names) + 1, is_text="StrEnum" in bases)
                names.append(name)
                members += ast.parse(f"{node.name}.{name} = {node.name}({name!r}, {ast.unparse(value)})").body
            elif isinstance(statement, ast.FunctionDef):
                made.body.append(statement)
            elif not isinstance(statement, ast.Expr | ast.Pass):
                raise NotReplayableError(f"enum {node.name} has more than members and methods")
        functions = self._methods(made)
        listed = ast.parse(f"{node.name}._replay_members = [{', '.join(f'{node.name}.{name}' for name in names)}]").body
        self.flat[node.name] = made
        # Its own members are made before calls of its name look values up.
        for statement in [*members, *listed]:
            for part in ast.walk(statement):
                part.is_made = True  # type: ignore[attr-defined]
        self.enums.add(node.name)
        return [*functions, made, *members, *listed]


class _Super(Rewriting, ast.NodeTransformer):
    """`super().m(...)` calls the copy of the parent's method; of a class without a parent that has it, nothing."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.node = node
        self.methods = {_defines(statement) for statement in node.body}

    def rewrite(self) -> None:
        self.node.body = [self.visit(statement) for statement in self.node.body]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func
        if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call)):
            return node
        if not (isinstance(function.value.func, ast.Name) and function.value.func.id == "super"):
            return node
        copied = f"_replay_super_{self.node.name}_{function.attr}"
        if copied in self.methods:
            node.func = ast.Attribute(value=loaded("self"), attr=copied, ctx=ast.Load())
            return node
        if function.attr in ("__init__", "__post_init__"):
            return ast.Constant(None)
        raise NotReplayableError(f"super().{function.attr}() of {self.node.name}, which the sandbox has not")


class _Renamed(Rewriting, ast.NodeTransformer):
    """Inside a class method `cls.other()` is the class's own, which has a name."""

    def __init__(self, parameter: str, owner: str) -> None:
        self.parameter, self.owner = parameter, owner

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == self.parameter:
            node.value = loaded(self.owner)
        return node


def _refuse_uncalled(node: ast.ClassDef) -> None:
    for statement in node.body:
        name = _defines(statement)
        is_special = name.startswith("__") and name.endswith("__") and isinstance(statement, ast.FunctionDef)
        if is_special and name not in _CALLED:
            raise NotReplayableError(f"class {node.name} defines {name}, which the sandbox does not call")


def _mark_fields(node: ast.ClassDef) -> None:
    """Fields keep an annotation, and the class says which they are; options that change nothing seen are dropped."""
    names = []
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if "ClassVar" in ast.unparse(statement.annotation):
                continue
            statement.annotation = loaded("object")
            statement.is_field = True  # type: ignore[attr-defined]
            names.append(statement.target.id)
    node.body += ast.parse(f"_replay_fields = {tuple(names)!r}").body
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            decorator.keywords = [word for word in decorator.keywords if word.arg not in ("slots", "repr", "kw_only")]


def _named_tuple(node: ast.ClassDef) -> ast.stmt:
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)]
    if any(isinstance(part, ast.FunctionDef) for part in node.body):
        raise NotReplayableError(f"the named tuple {node.name} has methods, which the sandbox has not")
    names = [part.target.id for part in fields if isinstance(part.target, ast.Name)]
    defaults = ", ".join(ast.unparse(part.value) for part in fields if part.value is not None)
    return ast.parse(f"{node.name} = _replay_namedtuple({node.name!r}, {names!r}, defaults=[{defaults}])").body[0]


def _automatic(value: ast.expr, name: str, number: int, *, is_text: bool) -> ast.expr:
    if isinstance(value, ast.Call) and _base(value.func) in ("auto", "_replay_no_type"):
        return ast.Constant(name.lower() if is_text else number)
    return value


def _base(node: ast.expr) -> str:
    """The last name of a base or decorator: `enum.Enum` is Enum, `Generic[T]` Generic."""
    if isinstance(node, ast.Subscript | ast.Call):
        return _base(node.value if isinstance(node, ast.Subscript) else node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _defines(statement: ast.stmt) -> str:
    if isinstance(statement, ast.FunctionDef):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return ""

"""Imports: what the sandbox has, what `library/` holds as small pure functions, and what is refused."""

import ast
from functools import cache
from importlib.resources import files

from analysis.replay.sandbox import NotReplayableError
from analysis.replay.shared import Rewriting

# What depends on the clock, on chance or on both.
VOLATILE = frozenset({"datetime", "random", "secrets", "time", "uuid"})
# Modules of the sandbox, with the names of theirs that it lacks and `library/` has.
_OWN: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("base64", "bisect", "copy", "datetime", "decimal", "hashlib", "itertools", "json", "math", "random", "time"),
        frozenset(),
    ),
    "collections": frozenset({"OrderedDict"}),
    "dataclasses": frozenset({"asdict"}),
    "functools": frozenset({"wraps"}),
    "re": frozenset({"sub"}),
    "unicodedata": frozenset(),
}
# Names that only say of what kind something is.
_OF_TYPES = {"__future__", "abc", "collections.abc", "enum", "numbers", "types", "typing", "typing_extensions"}
_LIBRARY = {"calendar", "heapq", "logging", "operator", "secrets", "statistics", "string", "uuid", "warnings"}
_TYPES = {
    "Dict": "dict", "List": "list", "Set": "set", "Tuple": "tuple", "FrozenSet": "frozenset", "Type": "type",
    "DefaultDict": "_replay_typing_defaultdict", "OrderedDict": "dict", "Counter": "_replay_typing_counter",
    "cast": "_replay_cast", "TypeVar": "_replay_no_type", "NewType": "_replay_new_type", "overload": "_replay_itself",
    "final": "_replay_itself", "runtime_checkable": "_replay_itself", "abstractmethod": "_replay_itself",
    "unique": "_replay_itself", "auto": "_replay_no_type", "Mapping": "dict", "MutableMapping": "dict",
    "Sequence": "(list, tuple)",
    "Number": "(int, float)", "Real": "(int, float)", "Iterable": "(list, tuple, set, dict)",
}  # fmt: skip
PRELUDE = """
from collections import defaultdict as _replay_typing_defaultdict, Counter as _replay_typing_counter

def _replay_cast(kind, value):
    return value

def _replay_no_type(*arguments, **keywords):
    return None

def _replay_itself(value):
    return value

def _replay_new_type(name, kind):
    return _replay_itself
"""


def imported(nodes: list[ast.AST]) -> set[str]:
    """First names of all modules that the code imports, wherever."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


class Imports(Rewriting, ast.NodeTransformer):
    """Imports of what the sandbox lacks become names of the library; of what neither has, a refusal."""

    def __init__(self) -> None:
        self.needed: set[str] = set()
        self.modules: dict[str, str] = {}
        self.types = {"dict", "list", "set", "tuple", "frozenset", "type"}

    def sources(self) -> list[str]:
        """The parts of the library that the code needs."""
        return [library(name) for name in sorted(self.needed)]

    def visit_Module(self, node: ast.Module) -> ast.Module:
        # All names of modules first: a method may use what stands below it.
        for part in ast.walk(node):
            if isinstance(part, ast.Import):
                self.modules |= {alias.asname or alias.name: alias.name for alias in part.names}
            if isinstance(part, ast.ImportFrom) and part.module in _OF_TYPES:
                self.types |= {alias.asname or alias.name for alias in part.names}
        self.generic_visit(node)
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [statement for alias in node.names for statement in self._module(alias, node)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        if node.level or any(alias.name == "*" for alias in node.names):
            raise NotReplayableError(f"imports {'.' * node.level}{node.module or ''} *")
        return [self._member(node.module or "", alias) for alias in node.names]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or not isinstance(node.ctx, ast.Load):
            return node
        module = self.modules.get(node.value.id, "")
        if module in _OF_TYPES:
            return ast.parse(_TYPES.get(node.attr, "object" if node.attr in _BASES else "None"), mode="eval").body
        if node.attr in _OWN.get(module, ()):
            self.needed.add(module)
            return ast.Attribute(value=ast.Name(_object(module), ast.Load()), attr=node.attr, ctx=ast.Load())
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """`Dict[str, int]` as a value is the type itself."""
        self.generic_visit(node)
        is_type = isinstance(node.value, ast.Name) and node.value.id in self.types
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        return node.value if isinstance(node.ctx, ast.Load) and (is_type or is_none) else node

    def _module(self, alias: ast.alias, node: ast.Import) -> list[ast.stmt]:
        name = alias.asname or alias.name
        if alias.name in _OF_TYPES:
            return [ast.Pass()]
        if alias.name in _OWN:
            return [ast.Import(names=[alias])]
        if alias.name not in _LIBRARY:
            raise NotReplayableError(f"imports {alias.name}, which the sandbox has not")
        self.needed.add(alias.name)
        return [_assign(name, _object(alias.name))]

    def _member(self, module: str, alias: ast.alias) -> ast.stmt:
        name = alias.asname or alias.name
        if module in _OF_TYPES:
            if alias.name in _BASES or module == "__future__":
                return ast.Pass()
            return _assign(name, _TYPES.get(alias.name, "None"))
        if module in _LIBRARY or alias.name in _OWN.get(module, ()):
            self.needed.add(module)
            return _assign(name, f"{_object(module)}.{alias.name}")
        if module not in _OWN:
            raise NotReplayableError(f"imports {module}, which the sandbox has not")
        return ast.ImportFrom(module=module, names=[alias], level=0)


# Bases of classes, which `classes` knows by their names.
_BASES = frozenset({"ABC", "Enum", "Generic", "IntEnum", "NamedTuple", "Protocol", "StrEnum", "TypedDict"})


@cache
def library(module: str) -> str:
    """A module of the library as an object of the sandbox: its functions and classes below one name."""
    text = (files("analysis.replay") / "library" / f"{module}_.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names += [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    public = [name for name in names if not name.startswith("_")]
    maker = f"_replay_make_{module}"
    body = "\n".join(f"    {line}" for line in ast.unparse(tree).splitlines())
    members = "\n".join(f"    made.{name} = {name}" for name in public)
    return (
        f"def {maker}():\n{body}\n    class Module:\n        pass\n    made = Module()\n{members}\n    return made\n"
        f"{_object(module)} = {maker}()\n"
    )


def _object(module: str) -> str:
    return f"_replay_module_{module}"


def _assign(name: str, value: str) -> ast.stmt:
    return ast.Assign(targets=[ast.Name(name, ast.Store())], value=ast.parse(value, mode="eval").body)

"""Environment and check code in the Python that the sandbox speaks. Code is parsed, never run, imported or evaluated.

Each rewrite keeps the meaning and says why it is needed; what has no rewrite that does is refused with the reason:

- annotations, which Monty 1.4 evaluates in part: dropped, save in records (`classes`)
- `del x[k]`, `del x.a`, `del x`, which it has not: a call that removes; an assignment of None to a name
- `yield`, which it has not: the values gathered in a list, and its iterator returned
- `datetime.utcnow` and `fromtimestamp`, which it has not: `now`, and a sum, since the sandbox's zone is UTC
- generator expressions, which it makes lists of: iterators of these, so that `next` takes them
- `round` to digits, which it rounds from the decimal text: from the exact value, as Python does
- methods of built-in types as functions, as in `key=str.lower` or `key=counts.get`: functions that call them
- built-ins it has not (`callable`, `vars`): small functions of the prelude
- classes: see `classes`; imports: see `modules`
"""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.replay import classes, modules, shared
from analysis.replay.sandbox import NotReplayableError

LONGEST_CODE = 1 << 20

PRELUDE = """
import datetime as _replay_datetime

def _replay_delete(holder, key):
    if isinstance(holder, dict):
        if key not in holder:
            raise KeyError(key)
        holder.pop(key)
    elif isinstance(key, int):
        if not -len(holder) <= key < len(holder):
            raise IndexError("list assignment index out of range")
        holder.pop(key)
    else:
        holder.pop(key)

def _replay_round(number, ndigits=None):
    if ndigits is None or not isinstance(number, float) or not 0 <= ndigits <= 100:
        return round(number) if ndigits is None else round(number, ndigits)
    return float(f"{number:.{ndigits}f}")

def _replay_callable(value):
    return type(value).__name__ in ("function", "method", "type", "builtin_function_or_method", "builtin_method")

def _replay_from_timestamp(seconds, tz=None):
    moment = _replay_datetime.datetime(1970, 1, 1) + _replay_datetime.timedelta(seconds=seconds)
    return moment if tz is None else moment.replace(tzinfo=_replay_datetime.timezone.utc).astimezone(tz)

def _replay_attributes(value, names):
    return {name: getattr(value, name) for name in names if hasattr(value, name)}
"""
# Methods of dicts, lists and texts that are passed on as functions, which the sandbox has not: `key=counts.get`.
_METHODS = {"get", "append", "add", "lower", "upper", "strip", "casefold", "join", "startswith", "endswith"}
# What no environment needs, and what would be no replay: refused before anything runs.
_REFUSED = {
    *("open", "input", "__import__", "compile", "globals", "locals", "breakpoint", "delattr", "issubclass", "dir"),
    *("memoryview", "bytearray", "exec", "eval", "__builtins__", "__loader__", "help", "exit", "quit"),
}


@dataclass(frozen=True)
class Lowered:
    """Code for the sandbox.

    Args:
        source: what it runs.
        body: the same without the prelude, for a session that has it; imports of the library included.
        attributes: names that a method sets on its instance, in their order: what a state has beside the scenario's.
        is_shared: it may keep something beside its instances, which one play would hand to the next.
        is_volatile: it imports a clock, ids or chance.
        has_sets: the order of what it lists may be chance.
        functions: parameters of the functions at its top, by name.
    """

    source: str
    body: str
    attributes: tuple[str, ...]
    is_shared: bool
    is_volatile: bool
    has_sets: bool
    functions: dict[str, tuple[str, ...]]


def lower(code: str) -> Lowered:
    """Rewrite code for the sandbox.

    Raises:
        NotReplayableError: it does not parse, or holds what the sandbox has not.
    """
    if len(code) > LONGEST_CODE:
        raise NotReplayableError(f"{len(code):,} characters of code; at most {LONGEST_CODE:,} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in other people's texts
            tree = ast.parse(code)
        return _lower(tree)
    except SyntaxError as error:
        raise NotReplayableError(f"the code does not parse: {error.msg}, line {error.lineno}") from None
    except (RecursionError, MemoryError, ValueError):
        raise NotReplayableError("the code does not parse: nested too deeply, or with characters no code has") from None


def _lower(tree: ast.Module) -> Lowered:
    nodes = shared.nodes_of(tree)
    shared.refuse_our_names(nodes)
    _refuse_what_would_name_another(nodes)
    attributes = _attributes(nodes)
    is_volatile = bool(modules.imported(nodes) & modules.VOLATILE)
    is_shared = shared.is_shared(nodes)
    has_sets = any(_is_set(node) for node in nodes)
    has_yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)
    imports = modules.Imports()
    lowered = imports.visit(tree)
    lowered = classes.lower(lowered)
    lowered = _Statements(attributes, _own_names(shared.nodes_of(lowered)), has_yields=has_yields).visit(lowered)
    ast.fix_missing_locations(lowered)
    functions = {
        node.name: tuple(argument.arg for argument in node.args.args)
        for node in lowered.body
        if isinstance(node, ast.FunctionDef)
    }
    body = "\n".join([*imports.sources(), ast.unparse(lowered)])
    source = "\n".join([PRELUDE, classes.PRELUDE, modules.PRELUDE, body])
    return Lowered(source, body, attributes, is_shared, is_volatile, has_sets, functions)


def _refuse_what_would_name_another(nodes: list[ast.AST]) -> None:
    """An exception of the code's own is one of the sandbox's here: code that asks for its name would get that one's.

    And what `setattr` adds is not in the sandbox's `__dict__`.
    """
    own: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            if bases & own or any(name.endswith(("Exception", "Error")) for name in bases):
                own.add(node.name)
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    calls = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    if own and "__name__" in attributes:
        raise NotReplayableError("asks for a class's name, and has exceptions of its own")
    if "__dict__" in attributes and "setattr" in calls:
        raise NotReplayableError("sets attributes by name, and asks for all of them")


def _is_set(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
    return is_call or isinstance(node, ast.Set | ast.SetComp)


def _attributes(nodes: list[ast.AST]) -> tuple[str, ...]:
    """Names set on `self` anywhere, in the order of the code."""
    names = [
        (node.lineno, node.col_offset, node.attr)
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]
    return tuple(dict.fromkeys(name for *_, name in sorted(names)))


def _own_names(nodes: list[ast.AST]) -> set[str]:
    """Names that the code itself gives to something."""
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return names | {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


class _Statements(shared.Rewriting, ast.NodeTransformer):
    """The rewrites that need to know one statement or expression only."""

    def __init__(self, attributes: tuple[str, ...], own: set[str], *, has_yields: bool) -> None:
        self.attributes = attributes
        self.own = own
        self.has_yields = has_yields

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        if classes.is_kept(node):
            return node
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=self.visit(node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return _without_yields(node) if self.has_yields else node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        raise NotReplayableError(f"line {node.lineno}: an asynchronous function")

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        self.generic_visit(node)
        return [_removal(target) for target in node.targets]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr == "__dict__" and isinstance(node.ctx, ast.Load):
            return self._attributes_of(node.value)
        if isinstance(node.value, ast.Name) and node.value.id == "str" and node.attr != "maketrans":
            return _method_of_str(node.attr)
        if node.attr in ("fromtimestamp", "utcfromtimestamp"):
            return _name("_replay_from_timestamp")
        node.attr = "now" if node.attr == "utcnow" else node.attr
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(func=_name("iter"), args=[node], keywords=[])

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if isinstance(node.ctx, ast.Load) and node.id in _REFUSED and node.id not in self.own:
            raise NotReplayableError(f"uses {node.id}, which the sandbox has not")
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        node.args = [self._callable(argument) for argument in node.args]
        for word in node.keywords:
            word.value = self._callable(word.value)
        if isinstance(node.func, ast.Name):
            if node.func.id in ("callable", "round") and node.func.id not in self.own:
                node.func.id = f"_replay_{node.func.id}"
            if node.func.id == "vars" and len(node.args) == 1:
                return self._attributes_of(node.args[0])
        return node

    def _callable(self, value: ast.expr) -> ast.expr:
        is_method = isinstance(value, ast.Attribute) and value.attr in _METHODS and value.attr not in self.attributes
        return (
            ast.parse(f"lambda *arguments: {ast.unparse(value)}(*arguments)", mode="eval").body if is_method else value
        )

    def _attributes_of(self, value: ast.expr) -> ast.expr:
        names = ast.List(elts=[ast.Constant(name) for name in self.attributes], ctx=ast.Load())
        return ast.Call(func=_name("_replay_attributes"), args=[value, names], keywords=[])


def _method_of_str(name: str) -> ast.expr:
    return ast.parse(f"(lambda text, *arguments: text.{name}(*arguments))", mode="eval").body


def _removal(target: ast.expr) -> ast.stmt:
    """What removes as `del` does. A slice is emptied; a name is None afterwards instead of unbound."""
    if isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Slice):
            target.ctx = ast.Store()
            return ast.Assign(targets=[target], value=ast.List(elts=[], ctx=ast.Load()))
        call = ast.Call(func=_name("_replay_delete"), args=[target.value, target.slice], keywords=[])
        return ast.Expr(call)
    if isinstance(target, ast.Name):
        return ast.Assign(targets=[ast.Name(target.id, ast.Store())], value=ast.Constant(None))
    raise NotReplayableError("`del` of an attribute, which the sandbox has not")


def _without_yields(node: ast.FunctionDef) -> ast.FunctionDef:
    if not any(
        isinstance(part, ast.Yield | ast.YieldFrom) for statement in node.body for part in _own_parts(statement)
    ):
        return node
    begin = ast.parse("_replay_values = []").body
    body = [_Yields().visit(statement) for statement in node.body]
    node.body = [*begin, *body, _end_of_values()]
    return node


def _own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function and in no function inside it."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return
    yield node
    for part in ast.iter_child_nodes(node):
        yield from _own_parts(part)


def _end_of_values() -> ast.stmt:
    return ast.parse("def f(): return iter(_replay_values)").body[0].body[0]  # type: ignore[attr-defined,no-any-return]


class _Yields(shared.Rewriting, ast.NodeTransformer):
    """`yield x` as a statement becomes an append; what sends values into a generator is refused."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        if isinstance(node.value, ast.Yield | ast.YieldFrom):
            method = "append" if isinstance(node.value, ast.Yield) else "extend"
            value = node.value.value or ast.Constant(None)
            function = ast.Attribute(value=_name("_replay_values"), attr=method, ctx=ast.Load())
            return ast.Expr(ast.Call(func=function, args=[value], keywords=[]))
        self.generic_visit(node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return _end_of_values()

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        raise NotReplayableError("a generator that takes values, which the sandbox has not")


def _name(id_: str) -> ast.Name:
    return ast.Name(id=id_, ctx=ast.Load())

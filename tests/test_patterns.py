"""No regular expression takes time with the square of a text's length, whatever the text."""

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.growth import TIMES, is_linear

METHODS = {"match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
# papermill imports the engine while it is itself imported; a collector that came first would close that circle.
LEFT_OUT = {"analysis.report.engine", "analysis.__main__"}
# What patterns look for, over and over: each makes a text of nothing else.
PARTS = [
    *" a\n\t\"'\\{[(<>.-01_,:;=*`#|!$@&é—~",
    *('\\"', "<think>", "</think>", "<tool_call>", "<tool_response>", "<a ", "a=", "1.", "a1", "error:", "Error "),
    *("success: ", "\x1b[", "a b ", '{"a":', "'a': ", "\r\n", " \n", "[a](", '"a",', "a.a", "1-1-", "00:", "<!-- "),
    *("<function=", "<parameter=", "ErrorError", "``` ", "\\p{"),
]
STARTS = ["", '"']


@cache
def written(module: str) -> ast.Module:
    path = ROOT / (module.replace(".", "/") + ".py")
    return ast.parse((path if path.exists() else ROOT / module.replace(".", "/") / "__init__.py").read_text("utf-8"))


def modules() -> Iterator[str]:
    for path in sorted((ROOT / "analysis").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if "import re\n" in path.read_text(encoding="utf-8") and name not in LEFT_OUT:
            yield name


def uses(module: str) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """(name or line, pattern, method) of every pattern that a module keeps or writes where it is used."""
    held: dict[str, list[re.Pattern[Any]]] = {}
    for name, value in vars(importlib.import_module(module)).items():
        values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else [value]
        held[name] = [one for one in values if isinstance(one, re.Pattern)]
    called = [node.func for node in ast.walk(written(module)) if isinstance(node, ast.Call)]
    methods = [(f.value.id, f.attr) for f in called if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name)]
    for name, patterns in held.items():
        own = {method for user, method in methods if user == name} & METHODS
        yield from ((name, pattern, method) for pattern in patterns for method in own or {"search"})
    for node in ast.walk(written(module)):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str() | bytes() as text), *_]):
                if method in METHODS:
                    yield f"line {node.lineno}", re.compile(text), method


def work(pattern: re.Pattern[Any], method: str) -> Callable[[Any], object]:
    if method in ("sub", "subn"):
        return lambda text: pattern.sub(text[:0], text)
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    used: Callable[[Any], object] = getattr(pattern, method)
    return used


@pytest.mark.parametrize("module", [*modules()])
def test_no_pattern_of_a_module_is_quadratic(module: str) -> None:
    assert not slow_patterns(module, 4_000)


@pytest.mark.nightly
@pytest.mark.parametrize("module", [*modules()])
def test_nor_is_it_over_a_text_of_a_megabyte(module: str) -> None:
    assert not slow_patterns(module, 1_000_000 // TIMES)


def slow_patterns(module: str, size: int) -> list[str]:
    """The patterns of a module that a text of eight times the size takes far longer than eight times as long."""
    slow = []
    for name, pattern, method in uses(module):
        for start in STARTS:
            for part in PARTS:

                def text(size: int, start: str = start, part: str = part, pattern: re.Pattern[Any] = pattern) -> Any:
                    made = start + part * (size // len(part))
                    return made.encode() if isinstance(pattern.pattern, bytes) else made

                if not is_linear(work(pattern, method), text, size):
                    slow.append(f"{name}.{method}: {start + part * 2}…")
    return slow


def test_the_walk_finds_what_is_quadratic() -> None:
    assert not is_linear(work(re.compile(r"\s*<"), "search"), lambda size: " " * size, 2_500, attempts=1)
    assert {name for name, _, _ in uses("analysis.records.deciding")} > {"_TOKEN", "_VALUE", "_LINE"}

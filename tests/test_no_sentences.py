"""Measures hold numbers: whatever is said of them is said in `brief` and `charts`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import analysis.measures

MODULES = sorted(Path(analysis.measures.__file__).parent.glob("*.py"))
# What makes one text of several values.
JOINING = {"format", "concat_str", "format_map"}


def sentences(source: str) -> Iterator[str]:
    """Where a function makes words with spaces out of values; errors and meanings of columns may have them."""
    tree = ast.parse(source)
    words = {
        part for node in ast.walk(tree) if isinstance(node, ast.Raise) or _declares(node) for part in ast.walk(node)
    }
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            if node not in words and _joins(node) and any(map(_has_words, _texts(node))):
                yield f"line {node.lineno}: {ast.unparse(node)}"  # type: ignore[attr-defined]


def _has_words(text: str) -> bool:
    return " " in text and any(map(str.isalpha, text))


def _declares(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Column", "Table")


def _joins(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Mod)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return isinstance(node, ast.JoinedStr)
    # Frames are joined as well.
    return node.func.attr in JOINING or (node.func.attr == "join" and isinstance(node.func.value, ast.Constant))


def _texts(node: ast.AST) -> Iterator[str]:
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else ast.walk(node)
    yield from (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_measure_makes_a_sentence(path: Path) -> None:
    assert list(sentences(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "body",
    [
        'pl.format("{} of {}", a, b)',
        'pl.concat_str("a", pl.lit(" of "), "b")',
        'f"{a} of {b}"',
        '"{} of {}".format(a, b)',
        '"%s of it" % a',
        '"n = " + a',
        '" and ".join(a)',
    ],
)
def test_a_sentence_is_seen_however_it_is_made(body: str) -> None:
    assert list(sentences(f"def f(a, b):\n    return {body}"))


@pytest.mark.parametrize(
    "body",
    [
        'pl.concat_str("a", "b", separator="\\x1f")',
        'f"{a}_{b}"',
        "raise ValueError(f'{a} is no number')",
        "a + b",
        "' → '.join(a)",
    ],
)
def test_keys_names_and_errors_are_no_sentences(body: str) -> None:
    assert not list(sentences(f"def f(a, b):\n    {body}"))

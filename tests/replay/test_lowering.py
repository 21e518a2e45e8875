"""Each rewrite keeps the meaning: the sandbox gives for the lowered code what Python gives for the code itself.

The code of these tests is ours, so that the tests themselves may run it as Python.
"""

import importlib
from textwrap import dedent
from typing import Any

import pytest

from analysis.replay.lowering import lower
from analysis.replay.sandbox import WORLDS, NotReplayableError, open_sandbox
from tests.conftest import ROOT

# Pieces of code, each behind its name.
SAME = dict(
    part.split("\n", 1)
    for part in (ROOT / "tests/replay/same_meaning.txt").read_text(encoding="utf-8").split("### ")[1:]
)


def in_the_sandbox(code: str) -> str:
    with open_sandbox() as sandbox, sandbox.session(WORLDS[0]) as session:
        return str(session.run(f"{lower(code).source}\nrepr(result)"))


def in_python(code: str) -> str:
    names: dict[str, Any] = {"__name__": "shown"}
    exec(compile(dedent(code), "test", "exec", dont_inherit=True), names)
    return repr(names["result"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("code", SAME.values(), ids=SAME)
def test_lowered_code_comes_to_what_python_comes_to(code: str) -> None:
    assert in_the_sandbox(code) == in_python(code)


@pytest.mark.parametrize(
    ("code", "word"),
    {
        "def f(:": "does not parse",
        "import numpy as np": "imports numpy",
        "def f():\n    from os import path": "imports os",
        "from math import *": "imports math *",
        "class E(Exception):\n    def __init__(self, x): self.x = x": "more than a name",
        "class E(KeyError): pass": "derives from KeyError",
        "class A(dict): pass": "derives from dict",
        "class A:\n    def __len__(self): return 0": "__len__",
        "class A:\n    def __bool__(self): return False": "__bool__",
        "class A:\n    @staticmethod\n    @other\n    def f(): pass": "decorator other",
        "async def f(): pass": "asynchronous",
        "def f():\n    x = yield 1": "takes values",
        "def f():\n    class A: pass": "class inside a function",
        "class A:\n    def f(self):\n        del self.x": "of an attribute",
        "class E(Exception): pass\nclass S(E): pass\ndef f(e): return type(e).__name__": "exceptions of its own",
        "def f(a):\n    setattr(a, 'x', 1)\n    return a.__dict__": "sets attributes by name",
        "x = " + "(" * 300 + "1" + ")" * 300: "does not parse",
        "x = 1\0": "does not parse",
    }.items(),
)
def test_what_has_no_rewrite_is_refused_with_its_reason(code: str, word: str) -> None:
    with pytest.raises(NotReplayableError) as refusal:
        lower(code)
    assert word in str(refusal.value)


def test_the_sandbox_says_no_where_it_lacks_syntax_that_no_rewrite_knows() -> None:
    with open_sandbox() as sandbox, sandbox.session(WORLDS[0]) as session, pytest.raises(NotReplayableError):
        session.run(lower("class A:\n    for i in range(3):\n        x = i\n").source)


LIBRARY = {
    "uuid": [
        "str(m.UUID('12345678123456781234567812345678'))",
        "repr(m.UUID(int=5))",
        "m.UUID('{12345678-1234-5678-1234-567812345678}').hex",
        "m.uuid5(m.NAMESPACE_DNS, 'a').hex",
        "(m.uuid4().version, len(str(m.uuid4())), m.uuid4() == m.uuid4())",
    ],
    "string": ["(m.ascii_letters, m.digits, m.punctuation, m.ascii_uppercase, m.hexdigits, m.whitespace, m.printable)"],
    "statistics": [
        "(m.mean([1, 2, 3, 4]), m.mean([1, 3]), m.median([3, 1, 2]), m.median([4, 1]), m.fmean([1, 2]))",
        "(round(m.stdev([1, 2, 4]), 9), round(m.pstdev([1, 2, 4]), 9), m.mode('aab'))",
    ],
    "operator": ["(m.itemgetter('a')({'a': 1}), m.itemgetter(0, 1)([5, 6]), m.add(1, 2), m.gt(2, 1))"],
    "heapq": [
        "(lambda h: ([m.heappush(h, v) for v in (5, 1, 4, 2, 3)], list(h), [m.heappop(h) for _ in range(5)]))([])",
        "(m.nlargest(2, [1, 3, 2]), m.nsmallest(1, ['bb', 'a'], key=len))",
    ],
    "calendar": ["(m.isleap(2000), m.isleap(1900), m.monthrange(2024, 2), m.month_name[3], m.day_abbr[0])"],
    "secrets": ["(len(m.token_hex(4)), m.choice([7]), m.randbelow(1))"],
    "logging": ["m.getLogger('a').info('b')"],
    "warnings": ["m.simplefilter('ignore')"],
}


@pytest.mark.parametrize(("module", "expression"), [(name, one) for name, all_ in LIBRARY.items() for one in all_])
def test_a_module_of_the_library_answers_as_the_original_does(module: str, expression: str) -> None:
    expected = repr(eval(expression, {"m": importlib.import_module(module)}))
    assert in_the_sandbox(f"import {module} as m\nresult = {expression}") == expected

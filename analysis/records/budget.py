"""What a tool's JSON Schema may cost, told before it is compiled: anybody's schema of 2 KB can ask for hours.

Cost is the number of subschemas that a validator may hold against one place of the arguments and all places above it.
References are followed; where a schema refers to itself, as many levels deep as arguments are checked.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

MOST_STEPS = 5_000
# Deeper arguments go unchecked where a schema refers to itself: each level may double the cost.
DEEPEST = 32
MOST_PATTERN = 100_000
# All that looking at a schema may cost.
_MOST_WORK = 300_000
_TOO_MANY = f"more than {MOST_STEPS:,} subschemas may apply to one value"
# Without any of these words each place is held against one subschema.
_RISKY = re.compile(r'"(?:\$|anyOf"|allOf"|oneOf"|not"|if"|pattern|depend|contains"|unevaluated|propertyNames")')
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else", "propertyNames")
_NAMED = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ATOM = re.compile(
    r"\\[pP](?:\{[^}]*+(?:\}|\Z)|.)|\\.|\[(?:\\.|[^\]\\])*+(?:\]|\Z)"
    r"|\{(?P<least>[0-9]+)(?:,(?P<most>[0-9]*))?\}|.",
    re.DOTALL,
)
_WIDE_CLASS = re.compile(r"\\[pPwW]")


class OverBudgetError(Exception):
    """The schema may cost more than is allowed; the message says what of it."""


def deepest(text: str, schema: dict[str, Any]) -> int:
    """How deep arguments may be to be held against a schema; 0 for any depth.

    Args:
        text: the schema as JSON.
        schema: the same, parsed.

    Raises:
        OverBudgetError: no arguments shall be held against it.
    """
    if not _RISKY.search(text):
        return 0
    try:
        costs = _Costs(schema)
        costs.of(schema, DEEPEST)
    except RecursionError:
        raise OverBudgetError("nested too deeply") from None
    return DEEPEST if costs.is_endless else 0


def is_deeper(value: Any, levels: int) -> bool:
    """True where a JSON value has containers inside one another, more than so many levels."""
    level = [value]
    for _ in range(levels + 1):
        level = [
            inner
            for held in level
            for inner in (held.values() if isinstance(held, dict) else held)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


class _Costs:
    """Costs of the subschemas of one document, each reckoned once per depth."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.places: dict[str, list[Any]] = {}
        self.parts: list[Any] = []
        self.known: dict[tuple[int, int], int] = {}
        self.flat: dict[int, list[dict[str, Any]]] = {}
        self.work = 0
        self.is_endless = False
        self._index()

    def of(self, schema: Any, depth: int) -> int:
        """Subschemas on the worst way from here to a place `depth` levels down."""
        if not isinstance(schema, dict):
            return 1
        if depth == 0:
            self.is_endless = True
            return len(self._in_place(schema))
        key = (id(schema), depth)
        if key not in self.known:
            same = self._in_place(schema)
            below = max((sum(self.of(one, depth - 1) for one in inner) for inner in self._below(same)), default=0)
            self.known[key] = len(same) + below
            if self.known[key] > MOST_STEPS:
                raise OverBudgetError(_TOO_MANY)
        return self.known[key]

    def _in_place(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        """The schema and all that hold for the same value by it; one that is reached twice is there twice."""
        if id(schema) not in self.flat:
            self.flat[id(schema)] = list(islice(self._walk(schema, frozenset()), MOST_STEPS + 1))
            if len(self.flat[id(schema)]) > MOST_STEPS:
                raise OverBudgetError(_TOO_MANY)
        return self.flat[id(schema)]

    def _walk(self, schema: Any, above: frozenset[int]) -> Iterator[dict[str, Any]]:
        if not isinstance(schema, dict) or id(schema) in above:
            return
        self._spend()
        yield schema
        above |= {id(schema)}
        for inner in (*_applied(schema), *self._targets(schema)):
            yield from self._walk(inner, above)

    def _below(self, same: list[dict[str, Any]]) -> Iterator[list[Any]]:
        """For each place one level down, the subschemas that hold for it."""
        names = {name for schema in same for name in _dict(schema.get("properties"))}
        for name in (*names, None):
            yield [inner for schema in same for inner in self._of_member(schema, name)]
        lists = [schema.get("prefixItems", schema.get("items")) for schema in same]
        longest = max((len(items) for items in lists if isinstance(items, list)), default=0)
        for position in range(longest + 1):
            yield [inner for schema in same for inner in self._of_item(schema, position)]

    def _of_member(self, schema: dict[str, Any], name: str | None) -> Iterator[Any]:
        self._spend()
        own = _dict(schema.get("properties"))
        if name is not None and name in own:
            yield own[name]
        elif "additionalProperties" in schema:
            yield schema["additionalProperties"]
        yield from _dict(schema.get("patternProperties")).values()
        if "unevaluatedProperties" in schema:
            yield schema["unevaluatedProperties"]

    def _of_item(self, schema: dict[str, Any], position: int) -> Iterator[Any]:
        self._spend()
        for word in ("prefixItems", "items"):
            listed = schema.get(word)
            if isinstance(listed, list):
                yield from listed[position : position + 1]
            elif listed is not None:
                yield listed
        yield from (schema[word] for word in ("additionalItems", "contains", "unevaluatedItems") if word in schema)

    def _targets(self, schema: dict[str, Any]) -> Iterator[Any]:
        """What its references lead to; one that leads out of the document does not compile."""
        for word in _REFERENCES:
            reference = schema.get(word)
            if isinstance(reference, str):
                before, _, fragment = reference.partition("#")
                # A pointer starts at the document, or at a part that has a name: whichever it is, all are reckoned.
                bases = self.places.get(_last(before), []) if before else [self.document, *self.parts]
                if fragment and not fragment.startswith("/"):
                    bases = self.places.get(f"#{fragment}", [])
                for base in bases:
                    self._spend()
                    yield _pointed(base, unquote(fragment)) if fragment.startswith("/") else base

    def _index(self) -> None:
        """Find what has a name, and reckon the patterns."""
        patterns = 0
        left: list[Any] = [self.document]
        while left:
            held = left.pop()
            self._spend()
            if isinstance(held, list):
                left += held
            elif isinstance(held, dict):
                left += held.values()
                for word in ("$id", "id"):
                    if isinstance(held.get(word), str):
                        self.places.setdefault(_last(held[word]), []).append(held)
                        self.parts += [held] if held is not self.document else []
                for word in ("$anchor", "$dynamicAnchor"):
                    if isinstance(held.get(word), str):
                        self.places.setdefault(f"#{held[word]}", []).append(held)
                texts = [held.get("pattern"), *_dict(held.get("patternProperties"))]
                patterns += sum(_cost_of_pattern(text) for text in texts if isinstance(text, str))
        if patterns > MOST_PATTERN:
            raise OverBudgetError("its regular expressions repeat too much")

    def _spend(self) -> None:
        self.work += 1
        if self.work > _MOST_WORK:
            raise OverBudgetError(_TOO_MANY)


def _applied(schema: dict[str, Any]) -> Iterator[Any]:
    """Subschemas that hold for the same value as this one."""
    for word in _LISTS:
        listed = schema.get(word)
        yield from listed if isinstance(listed, list) else ()
    yield from (schema[word] for word in _SINGLE if word in schema)
    for word in _NAMED:
        yield from _dict(schema.get(word)).values()


def _last(address: str) -> str:
    """The last part of an address, which is written whole or as seen from another one."""
    return address.rstrip("#").rpartition("/")[2]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _pointed(document: Any, pointer: str) -> Any:
    """What a JSON pointer leads to; None where there is nothing."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(name)
        elif isinstance(document, list) and name.isdecimal() and len(name) < 9 and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


def _cost_of_pattern(pattern: str) -> int:
    """How long it is with every repetition written out, and classes of thousands of characters counted as such."""
    sums, last = [0], 0
    for token in _ATOM.finditer(pattern):
        if token[0] == "(":
            sums.append(0)
            continue
        if token["least"]:
            digits = token["most"] or token["least"]
            times = max(1, int(digits)) if len(digits) < 9 else MOST_PATTERN
            sums[-1] += last * (times - 1)
            last *= times
            continue
        is_group = token[0] == ")" and len(sums) > 1
        last = sums.pop() if is_group else 1 + 40 * len(_WIDE_CLASS.findall(token[0]))
        sums[-1] += last
        if sums[-1] > MOST_PATTERN:
            break
    return sum(sums)

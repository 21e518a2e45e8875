"""`operator`: what sorts and reduces."""

from typing import Any


def itemgetter(*keys: Any) -> Any:
    if len(keys) == 1:
        return lambda value: value[keys[0]]
    return lambda value: tuple([value[key] for key in keys])


def attrgetter(*names: str) -> Any:
    if len(names) == 1:
        return lambda value: getattr(value, names[0])
    return lambda value: tuple([getattr(value, name) for name in names])


def add(a: Any, b: Any) -> Any:
    return a + b


def sub(a: Any, b: Any) -> Any:
    return a - b


def mul(a: Any, b: Any) -> Any:
    return a * b


def truediv(a: Any, b: Any) -> Any:
    return a / b


def eq(a: Any, b: Any) -> Any:
    return a == b


def ne(a: Any, b: Any) -> Any:
    return a != b


def lt(a: Any, b: Any) -> Any:
    return a < b


def le(a: Any, b: Any) -> Any:
    return a <= b


def gt(a: Any, b: Any) -> Any:
    return a > b


def ge(a: Any, b: Any) -> Any:
    return a >= b

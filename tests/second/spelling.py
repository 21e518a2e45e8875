"""Numbers as sentences spell them: which a sentence holds, and how a figure may stand in one."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from statistics import median

from tests.second.world import Rows

# A number that stands by itself: not the one in pass^4, env_7 or 95th.
_COUNT = r"\d{1,3}(?:,\d{3})+|\d+"
_NUMBER = re.compile(rf"(?<![\w^.,])[-+±]?(?:{_COUNT})(?:\.\d+)?(?:\s%)?(?![\w^])")
_RATE = re.compile(rf"({_COUNT}) of ({_COUNT})")


def numbers(text: str) -> list[str]:
    return [found.replace("\xa0", " ") for found in _NUMBER.findall(text)]


def rates(text: str) -> set[str]:
    """Every "a of b" of a sentence as the rate it stands for."""
    pairs = [(int(a.replace(",", "")), int(b.replace(",", ""))) for a, b in _RATE.findall(text)]
    return {spelled for a, b in pairs if b for spelled in _percent(a / b)}


def spellings(figures: Iterable[float]) -> set[str]:
    """How figures may stand in a sentence: counted, with one or two digits, in percent."""
    told: set[str] = set()
    for figure in figures:
        for digits in (0, 1, 2, 3):
            text = f"{round(figure, digits):,.{digits}f}"
            text = text.rstrip("0").rstrip(".") if "." in text else text
            told |= {text, f"+{text}"}
        told |= _percent(figure)
    return told


def _percent(rate: float) -> set[str]:
    text = f"{100 * rate:.1f} %"
    return {text, f"{100 * rate:.0f} %"} if rate in (0, 1) else {text}


def shares(rows: Rows) -> list[float]:
    """What the counts of a result come to over each other, in all and for each value of a key; medians over its rows.

    A part of a key that several rows share is counted once, too: a tool has its calls whatever is said of each class.
    """
    sums: dict[object, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    columns: dict[str, list[float]] = defaultdict(list)
    once: dict[str, dict[tuple[object, ...], float]] = defaultdict(dict)
    for key, row in rows.items():
        for name, value in row.items():
            if isinstance(value, int | float):
                columns[name].append(value)
                once[name][key[:-1]] = value
                for part in {(), *key}:
                    sums[part][name] += value
    for name, values in once.items():
        sums[()][f"{name}, once"] = sum(values.values())
    ratios = [a / b for part in sums.values() for a in part.values() for b in part.values() if b]
    return [*ratios, *(median(values) for values in columns.values()), *sums[()].values()]


def figures(rows: Rows) -> list[float]:
    """The numbers of a result, and what its counts come to in all and for each value of a key."""
    found: list[float] = []
    sums: Counter[tuple[object, ...]] = Counter()
    for key, row in rows.items():
        for name, value in row.items():
            if isinstance(value, bool | int | float):
                found.append(float(value))
                for part in {(), *key}:
                    sums[name, part] += value  # type: ignore[assignment]
            elif value is not None:  # the end of an interval, within what a bootstrap can tell
                found.append(float(value.expected))
        found += [float(part) for part in key if isinstance(part, int | float)]
    return found + [float(value) for value in sums.values()]

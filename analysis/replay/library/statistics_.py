"""`statistics`: of numbers held as floats or integers."""

import math
from typing import Any


def _whole(value: Any, values: Any) -> Any:
    """An integer where all values are and it is one, as the original gives it."""
    return int(value) if all(isinstance(v, int) for v in values) and value == int(value) else value


def mean(data: Any) -> Any:
    values = list(data)
    if not values:
        raise ValueError("mean requires at least one data point")
    return _whole(math.fsum(values) / len(values), values)


def fmean(data: Any) -> float:
    values = list(data)
    if not values:
        raise ValueError("fmean requires at least one data point")
    return math.fsum(values) / len(values)


def median(data: Any) -> Any:
    values = sorted(data)
    if not values:
        raise ValueError("no median for empty data")
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def mode(data: Any) -> Any:
    values = list(data)
    if not values:
        raise ValueError("no mode for empty data")
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return max(counts.items(), key=lambda item: item[1])[0]


def pvariance(data: Any) -> float:
    values = list(data)
    if not values:
        raise ValueError("pvariance requires at least one data point")
    middle = math.fsum(values) / len(values)
    return math.fsum([(value - middle) ** 2 for value in values]) / len(values)


def variance(data: Any) -> float:
    values = list(data)
    if len(values) < 2:
        raise ValueError("variance requires at least two data points")
    middle = math.fsum(values) / len(values)
    return math.fsum([(value - middle) ** 2 for value in values]) / (len(values) - 1)


def stdev(data: Any) -> float:
    return math.sqrt(variance(data))


def pstdev(data: Any) -> float:
    return math.sqrt(pvariance(data))

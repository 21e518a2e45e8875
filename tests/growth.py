"""Does what a function takes grow with its input, or with the square of it? Two sizes, in one run."""

import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

TIMES = 8
# Linear is TIMES, quadratic its square. Between them lies all that a busy machine may add.
MOST = 28
GRAIN_S = 0.001


def is_linear(work: Callable[[Input], object], of_size: Callable[[int], Input], size: int, attempts: int = 4) -> bool:
    """True where an input several times as large takes about so many times as long.

    Args:
        work: what is timed, by the processor's clock.
        of_size: makes an input.
        size: of the smaller one.
        attempts: a machine may be busy for a moment: what is linear once is linear.
    """
    small, large = of_size(size), of_size(TIMES * size)
    return any(_seconds(work, large) < MOST * (_seconds(work, small) + GRAIN_S) for _ in range(attempts))


def _seconds(work: Callable[[Input], object], held: Input) -> float:
    start = time.process_time()
    work(held)
    return time.process_time() - start

"""The wall: untrusted code runs in worker processes of Monty, an interpreter that reaches nothing of this machine.

No file, no network, no environment variable and no object of ours can be reached: what goes in and what comes out is
plain data. Time, memory, depth, output and questions to the host are limited; clock and seed are given.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontySession

REMEDY = "replay runs environment code in a sandbox, which needs pip install 'trajectory-notebooks[replay]'"
# A host question is a look at the clock; a loop that waits for a time to pass ends here.
_QUESTIONS = 5_000


class NotReplayableError(Exception):
    """This environment, scenario or trajectory cannot be replayed; the message says why, in one line."""


class MissingSandboxError(Exception):
    """The sandbox is not installed; the message names the remedy."""


class Limits(NamedTuple):
    """What one feed of code may use."""

    seconds: float = 5.0
    memory_bytes: int = 256 << 20
    depth: int = 400
    output_bytes: int = 64 << 10


class World(NamedTuple):
    """A clock's first instant and a seed: two of these tell what depends on neither."""

    clock: datetime
    seed: int


# All parts of the two instants differ, so that a text made of one never equals a text made of the other.
WORLDS = (
    World(datetime(2025, 10, 17, 13, 47, 29, 318264), 20251017),
    World(datetime(1998, 3, 6, 8, 21, 52, 640917), 19980306),
)


class Raised(NamedTuple):
    """An exception that code in the sandbox did not catch."""

    name: str
    message: str


@dataclass
class Session:
    """One worker's interpreter, with names that stay from feed to feed."""

    inner: "MontySession"
    limits: Limits
    now: datetime

    def run(self, code: str, **inputs: Any) -> Any:
        """Run code; the value of its last expression, as plain data.

        Args:
            code: what runs, in the sandbox only.
            inputs: plain data, bound to global names before.

        Raises:
            NotReplayableError: it used up a limit, raised, or took its worker down.
        """
        import pydantic_monty as monty  # noqa: PLC0415  an optional extra

        printed = monty.CollectString(max_bytes=self.limits.output_bytes)
        try:
            return self.inner.feed_run(code, inputs=inputs, print_callback=printed, os=self._answer)
        except monty.MontyCrashedError as error:
            raise NotReplayableError("the sandbox's worker process ended: out of time or memory") from error
        except monty.MontyError as error:
            raise NotReplayableError(_reason(error)) from error
        except (UnicodeError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise NotReplayableError(f"a value that the sandbox cannot take: {error}"[:300]) from error

    def _answer(self, *, name: str, **_: Any) -> Any:
        """The clock, which ticks at each look; every other question to the host stays unanswered."""
        import pydantic_monty as monty  # noqa: PLC0415

        if name not in ("time.time", "datetime.now", "date.today"):
            return monty.NOT_HANDLED
        self.now += timedelta(seconds=1, microseconds=137)
        return {"time.time": self.now.timestamp(), "date.today": self.now.date()}.get(name, self.now)


class Sandbox:
    """A pool of workers; a worker that dies is replaced."""

    def __init__(self, pool: "Monty", limits: Limits) -> None:
        self._pool = pool
        self.limits = limits

    @contextmanager
    def session(self, world: World) -> Iterator[Session]:
        """A fresh interpreter in a worker, at the world's clock and seed."""
        limits = {
            "max_feed_duration_secs": self.limits.seconds,
            "max_memory": self.limits.memory_bytes,
            "max_recursion_depth": self.limits.depth,
            "max_suspensions": _QUESTIONS,
        }
        policy = {
            "datetime": "call_host",
            "timezone": "utc",
            "sleep": "zero",
            "random_start": {"seed": world.seed},
        }
        with self._pool.checkout(
            limits=limits,
            os_policy=policy,
            assert_message_annotations=False,
        ) as inner:
            yield Session(inner, self.limits, world.clock)


@contextmanager
def open_sandbox(limits: Limits = Limits()) -> Iterator[Sandbox]:  # noqa: B008  immutable
    """Workers for as long as the block lasts.

    Raises:
        MissingSandboxError: the sandbox is not installed.
    """
    try:
        from pydantic_monty import Monty  # noqa: PLC0415
    except ImportError:
        raise MissingSandboxError(REMEDY) from None
    # A worker that hangs where its own limits do not reach is killed a moment later.
    with Monty(max_processes=len(WORLDS), request_timeout=limits.seconds * 2 + 5) as pool:
        yield Sandbox(pool, limits)


def _reason(error: Exception) -> str:
    """What ended a feed, in one line; a limit in words of its own."""
    text = " ".join(str(error).split())
    for start, words in (
        ("TimeoutError", "ran out of time"),
        ("MemoryError", "ran out of memory or printed too much"),
        ("RecursionError", "recursed too deeply"),
        ("RuntimeError: suspension limit", "asked for the time again and again"),
        ("NotImplementedError: The monty syntax parser does not yet support", "the sandbox has no"),
    ):
        if text.startswith(start):
            return f"{words} {text.removeprefix(start).strip()}"[:300] if start.startswith("Not") else words
    return text[:300]

"""Sessions with an environment's class loaded, kept from trajectory to trajectory where nothing of one reaches another.

To load a class takes longer than to play on it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import msgspec

from analysis.files import write_whole
from analysis.replay.driver import DRIVER
from analysis.replay.lowering import Lowered, lower
from analysis.replay.sandbox import WORLDS, Limits, Sandbox, Session, open_sandbox
from analysis.replay.worlds import Environment


class Stage:
    """The sessions of the environment that was played last: one, or two at different clocks and seeds.

    Args:
        sandbox: where they are.
        kept: a folder of code that was lowered before, by this process or another.
    """

    def __init__(self, sandbox: Sandbox, kept: Path | None = None) -> None:
        self._sandbox = sandbox
        self._kept = kept
        self._open = ExitStack()
        self._loaded: tuple[Environment | None, list[Session]] = (None, [])

    def sessions(self, environment: Environment, lowered: Lowered) -> list[Session]:
        """Sessions in which the environment's class is loaded.

        Raises:
            NotReplayableError: it cannot be.
        """
        there, sessions = self._loaded
        if there == environment:
            return sessions
        self.clear()
        worlds = WORLDS if lowered.is_volatile else WORLDS[:1]
        sessions = [self._open.enter_context(self._sandbox.session(world)) for world in worlds]
        for session in sessions:
            session.run(lowered.source + DRIVER)
        self._loaded = environment, sessions
        return sessions

    def lowered(self, code: str) -> Lowered:
        """An environment's code for the sandbox.

        Raises:
            NotReplayableError: there is none.
        """
        return _lowered(code, self._kept)

    def clear(self) -> None:
        """End the sessions: the next play begins with new ones."""
        self._loaded = (None, [])
        self._open.close()


@lru_cache(maxsize=256)
def _lowered(code: str, kept: Path | None) -> Lowered:
    if kept is None:
        return lower(code)
    path = kept / f"{hashlib.sha256(code.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Lowered)
    except (OSError, msgspec.DecodeError):
        lowered = lower(code)
        with suppress(OSError):
            write_whole(path, msgspec.json.encode(lowered))
        return lowered


@contextmanager
def open_stage(limits: Limits = Limits(), kept: Path | None = None) -> Iterator[Stage]:  # noqa: B008  immutable
    """A stage for as long as the block lasts.

    Args:
        limits: of what each feed of code may use.
        kept: a folder for lowered code, by its hash, which must be that of this version alone; None keeps none.

    Raises:
        MissingSandboxError: the sandbox is not installed.
    """
    with open_sandbox(limits) as sandbox:
        stage = Stage(sandbox, kept)
        try:
            yield stage
        finally:
            stage.clear()

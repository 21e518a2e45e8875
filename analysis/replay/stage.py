"""Sessions with an environment's class loaded, kept from trajectory to trajectory where nothing of one reaches another.

To load a class takes longer than to play on it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from analysis.replay.driver import DRIVER
from analysis.replay.lowering import Lowered
from analysis.replay.sandbox import WORLDS, Limits, Sandbox, Session, open_sandbox
from analysis.replay.worlds import Environment


class Stage:
    """The sessions of the environment that was played last: one, or two at different clocks and seeds."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
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

    def clear(self) -> None:
        """End the sessions: the next play begins with new ones."""
        self._loaded = (None, [])
        self._open.close()


@contextmanager
def open_stage(limits: Limits = Limits()) -> Iterator[Stage]:  # noqa: B008  immutable
    """A stage for as long as the block lasts.

    Raises:
        MissingSandboxError: the sandbox is not installed.
    """
    with open_sandbox(limits) as sandbox:
        stage = Stage(sandbox)
        try:
            yield stage
        finally:
            stage.clear()

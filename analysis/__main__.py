"""`python -m analysis` and `trajectories`: hands over to `analysis.cli`."""

import signal

TYPE_CHECKING = False  # typing's own would be imported before an interrupt can be waited for
if TYPE_CHECKING:
    from typing import NoReturn


def console() -> "NoReturn":
    """Run the command line of this process, and end with its exit status."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    from analysis import interrupts  # noqa: PLC0415  from here on an interrupt finds us ready

    interrupts.watch()
    from analysis.cli import streams  # noqa: PLC0415
    from analysis.cli.main import leave, main  # noqa: PLC0415

    streams.prepare()
    leave(main())


if __name__ == "__main__":
    console()

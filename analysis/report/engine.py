"""The warm kernels as a papermill engine: `papermill --engine warm_kernel`, or `engine_name="warm_kernel"`.

papermill loads this module while it is being imported itself, by its entry point: only papermill imports it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine
from papermill.log import logger
from papermill.utils import merge_kwargs, remove_args

from analysis.report.kernels import WarmKernelManager, kill_all, warm_up

__all__ = ["WarmKernelEngine", "kill_all", "warm_up"]

# papermill writes the whole notebook twice a cell, which takes longer than most cells do.
SAVE_EVERY_S = 1.0


class WarmKernelEngine(NBClientEngine):  # type: ignore[misc]  # papermill is not typed
    """papermill's own engine with a warm kernel manager."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: Any,
        kernel_name: str,
        log_output: bool = False,
        stdout_file: Any = None,
        stderr_file: Any = None,
        start_timeout: int = 60,
        execution_timeout: int | None = None,
        **kwargs: Any,
    ) -> Any:
        options = merge_kwargs(
            remove_args(["input_path", "timeout", "startup_timeout"], **kwargs),
            timeout=execution_timeout or kwargs.get("timeout"),
            startup_timeout=start_timeout,
            kernel_name=kernel_name,
            log=logger,
            log_output=log_output,
            stdout_file=stdout_file,
            stderr_file=stderr_file,
        )
        with _saved_now_and_then(nb_man):
            return PapermillNotebookClient(nb_man, kernel_manager_class=WarmKernelManager, **options).execute()


@contextmanager
def _saved_now_and_then(nb_man: Any) -> Iterator[None]:
    """Leave out saves that follow one of a moment ago; papermill's own last one, when all is over, is made."""
    nb_man.save = _no_more_often(nb_man.save)
    try:
        yield
    finally:
        del nb_man.save


def _no_more_often(save: Callable[..., None]) -> Callable[..., None]:
    saved = time.monotonic()

    def now_and_then(**options: Any) -> None:
        nonlocal saved
        if time.monotonic() - saved >= SAVE_EVERY_S:
            save(**options)
            saved = time.monotonic()

    return now_and_then

"""The warm kernels as a papermill engine: `papermill --engine warm_kernel`, or `engine_name="warm_kernel"`.

papermill loads this module while it is being imported itself, by its entry point: only papermill imports it.
"""

from typing import Any

from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine
from papermill.log import logger
from papermill.utils import merge_kwargs, remove_args

from analysis.report.kernels import WarmKernelManager, kill_all, warm_up

__all__ = ["WarmKernelEngine", "kill_all", "warm_up"]


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
        return PapermillNotebookClient(nb_man, kernel_manager_class=WarmKernelManager, **options).execute()

"""What can go wrong with one report, in words and as an exit status."""

from dataclasses import dataclass
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError

from analysis.files import UNWRITABLE

# Distinct, so that a scheduler can tell what to do: look at the notebook, retry, give more time, install, make room.
EXIT = {"cell": 1, "kernel died": 3, "timeout": 4, "no kernel": 5, "cannot write": 6, "interrupted": 130, "other": 1}


@dataclass(frozen=True)
class Failure:
    """Why a report was not made: `kind` is a key of EXIT, `message` one paragraph for a person."""

    kind: str
    message: str

    @property
    def status(self) -> int:
        return EXIT[self.kind]


def explain(error: BaseException, notebook: Any = None, timeout: int | None = None) -> Failure:
    """The failure behind an exception of papermill, nbclient, jupyter_client or the file system.

    Args:
        error: what was raised.
        notebook: as far as it was executed; tells which cell was running.
        timeout: seconds a cell was allowed.
    """
    cell = _running(notebook)
    match error:
        case PapermillExecutionError():
            first = _first_line(error.source)
            failure = Failure("cell", f"cell In [{error.exec_count}] `{first}` raised {error.ename}: {error.evalue}")
        case NoSuchKernel():
            seen = "`jupyter kernelspec list` shows those that are"
            failure = Failure("no kernel", f"no kernel {error.name!r} is installed here; {seen}")
        case CellTimeoutError():
            failure = Failure("timeout", f"{cell} took longer than {timeout} s; allow more with --timeout")
        case DeadKernelError():
            failure = Failure("kernel died", f"the kernel died in {cell}; out of memory is the usual reason")
        case OSError() if error.errno in UNWRITABLE:
            failure = Failure("cannot write", cannot_write(error))
        case _:
            failure = Failure("other", f"{type(error).__name__}: {error}")
    return failure


def cannot_write(error: OSError) -> str:
    where = f" {error.filename}" if error.filename else ""
    return f"cannot write{where}: {error.strerror or error}"


def exit_status(failures: list[Failure]) -> int:
    """0 without a failure; the one status all failures share; 1 when they differ."""
    statuses = {failure.status for failure in failures}
    if not statuses:
        return 0
    return 130 if 130 in statuses else statuses.pop() if len(statuses) == 1 else 1


def _running(notebook: Any) -> str:
    """The cell that was begun last, by its number and first line."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"] if notebook is not None else []
    begun = [(n, cell) for n, cell in enumerate(cells, 1) if cell.metadata.get("papermill", {}).get("start_time")]
    if not begun:
        return "a cell"
    number, cell = begun[-1]
    return f"cell In [{number}] `{_first_line(cell.source)}`"


def _first_line(source: str) -> str:
    return source.strip().partition("\n")[0]

"""Who decodes: this process, others of this machine, or a cluster. A unit that fails is tried again, then given up."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import polars as pl

from analysis import processes, sources, visible
from analysis.files import UNWRITABLE
from analysis.schema import RECORD_TABLES, REJECTED
from analysis.tables.decode import decode_unit, put
from analysis.tables.receipts import Receipt, receipt_of

logger = visible.logger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

Decode = Callable[[sources.Unit, str], Receipt]

ATTEMPTS = 3


@dataclass(frozen=True)
class Crew:
    """How a source is decoded.

    Args:
        jobs: processes; 0 for as many as there are cores.
        dask: address of a Dask scheduler to run on instead.
        progress: show a bar for work that takes longer than a moment.
        workers: processes that have started already; they are the caller's to shut down.
        keep_unread: keep records whose calls or texts could not be read.
    """

    jobs: int = 0
    dask: str = ""
    progress: bool = True
    workers: Executor | None = None
    keep_unread: bool = False

    @property
    def decode(self) -> Decode:
        """What each process does with a unit."""
        return partial(decode_unit, keep_unread=True) if self.keep_unread else decode_unit

    @property
    def alone(self) -> "Crew":
        """This process only."""
        return replace(self, jobs=1, workers=None)

    def processes_for(self, size: int) -> int:
        """How many processes so many bytes are worth."""
        return processes.worth(size, self.jobs)


def decode_each(units: list[sources.Unit], target: str, crew: Crew) -> Iterator[Receipt]:
    """Decode units into the target; their receipts, as they come.

    Raises:
        SourceError: no scheduler answers.
        OSError: the target cannot be written.
    """
    if crew.dask:
        # Dask tries again by itself: after an error, and on another worker after one is lost.
        with _cluster(crew.dask) as client, client.get_executor(retries=ATTEMPTS - 1) as executor:
            yield from _collect(executor, units, target, crew.decode, attempts=1)
        return
    jobs = min(crew.processes_for(sum(unit.size for unit in units)), len(units))
    if jobs <= 1 and not crew.workers:
        for unit in units:
            yield decode_here(unit, target, crew)
        return
    try:
        yield from _parallel(units, target, jobs, crew)
    except processes.NoWorkersError:
        logger.warning("no worker process can be started here; decoding in this one")
        for unit in units:
            if receipt_of(target, unit) is None:
                yield decode_here(unit, target, crew)


def decode_here(unit: sources.Unit, target: str, crew: Crew) -> Receipt:
    """Decode in this process, with as many attempts as another one would have."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return crew.decode(unit, target)
        except Exception as error:
            if _is_unwritable(error):
                raise
            reason = _reason(error)
            logger.warning("%s: attempt %d of %d: %s", unit.first.origin(unit.first.start), attempt, ATTEMPTS, reason)
    return give_up(unit, target, reason)


def spread(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int = 0, dask: str = ""
) -> Iterator[tuple[Item, Result]]:
    """Each item with what becomes of it, in so many processes (0: as there are cores), as they are done.

    What a process that dies leaves undone, and all where none starts, is done in this one.

    Args:
        work: pure, or safe to do twice.
        items: what it is done to.
        jobs: processes of this machine.
        dask: address of a Dask scheduler to run on instead; what its workers write must be on a disk they share.

    Raises:
        SourceError: no scheduler answers.
    """
    if dask:
        with _cluster(dask) as client, client.get_executor(retries=ATTEMPTS - 1) as executor:
            numbers = {executor.submit(work, item): number for number, item in enumerate(items)}
            yield from ((items[numbers[future]], future.result()) for future in as_completed(numbers))
        return
    left = dict(enumerate(items))
    jobs = min(jobs or processes.cores(), len(items))
    try:
        if jobs > 1:
            with processes.workers(jobs) as executor:
                processes.await_one(executor)
                futures = {executor.submit(work, item): number for number, item in left.items()}
                for future in as_completed(futures):
                    result = future.result()
                    yield left.pop(futures[future]), result
    except (processes.NoWorkersError, BrokenProcessPool):
        logger.warning("a worker process died, or none could be started; the rest is done in this one")
    for item in left.values():
        yield item, work(item)


def give_up(unit: sources.Unit, target: str, reason: str) -> Receipt:
    """A unit that failed ATTEMPTS times is one named rejection, so that in = kept + rejected still holds."""
    first, *others = unit.slices
    origin = first.origin(first.start)
    where = f"{'rows' if first.container == 'parquet' else 'bytes'} {first.start:,}-{first.end:,}"
    if others:
        where = f"{len(unit.slices):,} files, from here to {others[-1].name},"
    why = f"{where} could not be read in {ATTEMPTS} attempts: {reason}"
    receipt = Receipt(unit.shard, first.name, 1, 0, 1, {}, {}, [(origin, why)], is_given_up=True)
    rejected = pl.DataFrame([(origin, first.start, why)], schema=REJECTED.schema, orient="row")
    put(receipt, {table.name: table.empty() for table in RECORD_TABLES} | {REJECTED.name: rejected}, target)
    return receipt


def _parallel(units: list[sources.Unit], target: str, jobs: int, crew: Crew) -> Iterator[Receipt]:
    workers = crew.workers
    left = {unit.shard: unit for unit in units}
    for attempt in range(ATTEMPTS):
        # A worker that dies takes the whole pool with it, the innocent units too: begin a new pool with what is left.
        with nullcontext(workers) if workers and attempt == 0 else processes.workers(jobs) as executor:
            try:
                processes.await_one(executor)
                for receipt in _collect(executor, list(left.values()), target, crew.decode, attempts=ATTEMPTS):
                    del left[receipt.shard]
                    yield receipt
            except processes.NoWorkersError:  # killed as it started: another is started, once
                if attempt:
                    raise
            except BrokenProcessPool:  # before it was given anything
                continue
        if not left:
            return
    for unit in left.values():
        # Some unit kills whoever reads it. Each in a pool of its own, so that the blame falls on the right one.
        yield _alone(unit, target, crew.decode)


def _alone(unit: sources.Unit, target: str, decode: Decode) -> Receipt:
    receipts: list[Receipt] = []
    for attempt in range(1, ATTEMPTS + 1):
        with processes.workers(1) as executor:
            processes.await_one(executor)
            receipts.extend(_collect(executor, [unit], target, decode, attempts=1 if attempt == ATTEMPTS else 2))
        if receipts:
            break
    return receipts[0]


def _collect(
    executor: Executor, units: list[sources.Unit], target: str, decode: Decode, *, attempts: int
) -> Iterator[Receipt]:
    """Receipts as they come; a unit that fails is given up only at its last attempt, else left out.

    No record makes `decode_unit` raise: what does is the machine's fault.
    """
    futures: dict[Future[Receipt], sources.Unit] = {executor.submit(decode, unit, target): unit for unit in units}
    for future in as_completed(futures):
        unit, error = futures[future], future.exception()
        if error is None:
            yield future.result()
        elif _is_unwritable(error):
            raise error
        elif attempts == 1:
            yield give_up(unit, target, _reason(error))


def _is_unwritable(error: BaseException) -> bool:
    """True when trying again would not help, and the user must know."""
    return isinstance(error, OSError) and error.errno in UNWRITABLE


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _cluster(scheduler: str) -> Any:
    try:
        from distributed import Client  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise sources.SourceError(
            f"{scheduler}: decoding on a cluster needs pip install 'trajectory-notebooks[dask]'"
        ) from None
    try:
        return Client(scheduler)
    except (OSError, ValueError) as error:
        raise sources.SourceError(f"{scheduler}: no Dask scheduler answers there: {error}") from error

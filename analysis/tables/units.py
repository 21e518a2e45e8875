"""Every unit of a plan decoded, from where a run that was killed stopped; a file whose lines mislead by brackets."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from analysis import processes, sources, visible
from analysis.sources import address
from analysis.tables.crew import Crew, decode_each, decode_here
from analysis.tables.receipts import Receipt, forget, misleading_files, note_misleading_files, receipts_of

logger = visible.logger(__name__)


def decode_units(units: list[sources.Unit], target: str, crew: Crew) -> list[Receipt]:
    """Decode every unit that has no receipt yet.

    Returns:
        A receipt per unit, in their order; one for all units of a file that is read by brackets instead.

    Raises:
        SourceError: other processes are asked for, and what is read or written is out of their reach.
        OSError: the target cannot be written.
    """
    crew = _within_reach(crew, [target, *(slice_.path for unit in units for slice_ in unit.slices)])
    misleading = misleading_files(target)
    receipts = _by_lines([unit for unit in units if unit.first.name not in misleading], target, crew, len(units))
    doubted = {receipt.file for receipt in receipts if receipt.is_cut_wrong} - misleading
    if doubted or misleading:
        misleading |= doubted
        receipts = [receipt for receipt in receipts if receipt.file not in misleading]
        # Noted before it is acted on: a run that is killed between must not take one file in both ways.
        note_misleading_files(target, misleading)
        receipts.extend(_by_brackets([unit for unit in units if unit.first.name in misleading], target, crew))
    return sorted(receipts, key=lambda receipt: receipt.shard)


def _within_reach(crew: Crew, places: list[str]) -> Crew:
    """The crew, or this process alone where a place is in its memory."""
    private = next((place for place in places if address.is_private(place)), "")
    if not private:
        return crew
    if crew.dask:
        raise sources.SourceError(
            f"{private}: the workers of {crew.dask} reach no memory:// address; name a shared one"
        )
    return crew.alone


def _by_lines(units: list[sources.Unit], target: str, crew: Crew, total: int) -> list[Receipt]:
    receipts = receipts_of(target, units)
    decoded = {receipt.shard for receipt in receipts}
    missing = [unit for unit in units if unit.shard not in decoded]
    is_long = sum(unit.size for unit in missing) > processes.PARALLEL_BYTES
    with _bar(total, len(decoded), crew.progress and is_long) as count:
        for receipt in decode_each(missing, target, crew):
            receipts.append(receipt)
            count(1)
    return receipts


def _by_brackets(units: list[sources.Unit], target: str, crew: Crew) -> Iterator[Receipt]:
    for path, parts in _by_file(units).items():
        logger.info("%s: lines do not start records; read by brackets", path)
        for unit in parts:
            forget(target, unit)
        unit = sources.whole(parts[0], max(unit.first.end for unit in parts))
        receipt = decode_here(unit, target, crew)
        receipt.by_brackets = tuple(slice_.name for slice_ in unit.slices)
        yield receipt


def _by_file(units: list[sources.Unit]) -> dict[str, list[sources.Unit]]:
    parts: dict[str, list[sources.Unit]] = {}
    for unit in units:
        parts.setdefault(unit.first.path, []).append(unit)
    return parts


@contextmanager
def _bar(total: int, initial: int, shown: bool) -> Iterator[Callable[[int], object]]:
    """What counts on a progress bar: so many units more are done."""
    if not shown:
        yield lambda _: None
        return
    from tqdm.auto import tqdm  # noqa: PLC0415  asyncio and more, which workers and quiet runs need not import

    with tqdm(total=total, initial=initial, desc="decoding", unit="part", disable=None) as bar:
        yield bar.update

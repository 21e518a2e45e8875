"""Records that are held in memory become files of the cache, named by their contents: sources like any other.

So whatever was held has origins, texts that can be read again, a hash, and a name that papermill can be given.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from blake3 import blake3

from analysis import sources
from analysis.files import publish
from analysis.sources import SourceError, several
from analysis.tables import cache

TAKES = (
    "a path, an address, hub:OWNER/NAME or 'sample', a list of these, a list of dicts, a Polars or pandas frame, or a "
    "Dataset, DatasetDict or IterableDataset"
)


def source_of(held: object) -> str:
    """The name of the source that stands for what `load` was given.

    Raises:
        TypeError: it is nothing that records can be read from.
        SourceError: a record of it is no dict, or holds what JSON cannot.
    """
    if isinstance(held, str | os.PathLike):
        return sources.readable(os.fspath(held))
    if isinstance(held, list | tuple) and held and all(isinstance(each, str | os.PathLike) for each in held):
        names = [sources.readable(os.fspath(each)) for each in held]
        return names[0] if len(names) == 1 else several.joined(names)
    if _is(held, "datasets", "DatasetDict", "IterableDatasetDict"):
        splits: Any = held
        return _kept({str(split): _rows(splits[split]) for split in splits})
    return _kept({"records": _rows(held)})


def _rows(held: Any) -> Iterable[object]:
    """Records one by one; of what has columns, without the nulls that stand where a record had nothing."""
    if isinstance(held, list | tuple):
        return held
    if isinstance(held, pl.DataFrame | pl.LazyFrame):
        batches = held.lazy().collect_batches() if isinstance(held, pl.LazyFrame) else [held]
        return (sources.present(row) for batch in batches for row in batch.iter_rows(named=True))
    if _is(held, "pandas", "DataFrame"):
        return map(sources.present, held.astype(object).where(held.notna(), None).to_dict("records"))
    if _is(held, "datasets", "Dataset", "IterableDataset"):
        return map(sources.present, held)
    if isinstance(held, Mapping):
        raise TypeError("load was given one dict; for one record, put it in a list: load([record])")
    raise TypeError(f"load takes {TAKES}; this is {_article(type(held).__name__)}")


def _kept(parts: Mapping[str, Iterable[object]]) -> str:
    """Write records into the cache, a file a part, under the hash of all; what is there already is left as it is.

    Returns:
        The file's path, or that of the folder that holds several.
    """
    root = cache.root() / "held"
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=root) as working:
        folder = Path(working, "held")
        folder.mkdir()
        files = [folder / f"{part}.jsonl" for part in parts]
        for file, rows in zip(files, parts.values(), strict=True):
            _write_lines(file, rows)
        if not any(file.stat().st_size for file in files):
            raise SourceError("load was given no record; give at least one")
        place = root / _hash(files)
        publish(folder, place)
    return str(place if len(files) > 1 else place / files[0].name)


def _hash(files: list[Path]) -> str:
    hasher = blake3()
    for file in files:
        hasher.update(file.name.encode())
        hasher.update_mmap(file)
    return str(hasher.hexdigest())[:32]


def _write_lines(path: Path, rows: Iterable[object]) -> None:
    from tqdm.auto import tqdm  # noqa: PLC0415  as in `origins`

    is_hidden = True if os.environ.get("TQDM_DISABLE") else None
    with path.open("wb") as stream, tqdm(rows, desc="records", unit="record", delay=2, disable=is_hidden) as bar:
        stream.writelines(_lines(bar))


def _lines(rows: Iterable[object]) -> Iterator[bytes]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise SourceError(f"record {number:,} is {_article(type(row).__name__)}; a record is a dict with messages")
        try:
            yield _encoded(row) + b"\n"
        except (TypeError, RecursionError) as error:
            raise SourceError(f"record {number:,} holds what JSON cannot: {error}") from None


def _encoded(row: Mapping[Any, Any]) -> bytes:
    try:
        return msgspec.json.encode(row, enc_hook=_plain)
    except (UnicodeEncodeError, OverflowError):  # half a character, or a number of more than 64 bits
        import json  # noqa: PLC0415  seldom

        return json.dumps(row, default=_plain).encode()


def _plain(value: Any) -> object:
    """NumPy's and pandas' values as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if _is(value, "pandas", "NAType", "NaTType"):
        return None
    raise TypeError(f"{_article(type(value).__name__)}")


def _is(held: object, package: str, *kinds: str) -> bool:
    """Is it of one of these classes of a package? By name: who holds one has imported the package, others need not."""
    return any(kind.__module__.partition(".")[0] == package and kind.__name__ in kinds for kind in type(held).__mro__)


def _article(name: str) -> str:
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"

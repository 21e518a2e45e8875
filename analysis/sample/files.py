"""Records to a file: streamed, beside the target first and then renamed, so that nobody meets half a sample."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from analysis import files


def write_records(path: str | Path, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON array with indent 4, as the hub holds it; where the name ends in .jsonl, JSON Lines."""
    texts = _lines(records) if Path(path).suffix == ".jsonl" else _array(records)
    with files.whole(Path(path)) as stream:
        stream.writelines(text.encode() for text in texts)


def _lines(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    for record in records:
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _array(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    lead = "[\n"
    for record in records:
        text = json.dumps(record, ensure_ascii=False, indent=4)
        yield lead + "    " + text.replace("\n", "\n    ")
        lead = ",\n"
    yield "[]\n" if lead == "[\n" else "\n]\n"

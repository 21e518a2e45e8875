"""Records to a file: streamed, beside the target first and then renamed, so that nobody meets half a sample."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def write_records(path: str | Path, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON array with indent 4, as the hub holds it; where the name ends in .jsonl, JSON Lines."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.part")
    texts = _lines(records) if target.suffix == ".jsonl" else _array(records)
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(texts)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


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

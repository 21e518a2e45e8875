"""Where rows are written: lines of JSON, parts of Parquet, or records in the layout of their source."""

from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from analysis.tables import places

# A part of Parquet is written when this many bytes of records have come: memory does not grow with the source.
PART_BYTES = 16 << 20

_FUNCTION = pl.Struct({"name": pl.String, "arguments": pl.String})
_CALL = pl.Struct({"id": pl.String, "type": pl.String, "function": _FUNCTION})
_MESSAGE = pl.Struct(
    {
        "role": pl.String,
        "content": pl.String,
        "reasoning_content": pl.String,
        "tool_calls": pl.List(_CALL),
        "tool_call_id": pl.String,
    }
)
_MASKED_MESSAGE = pl.Struct([*_MESSAGE.fields, pl.Field("loss_mask", pl.Int8)])
CHAT_COLUMNS = pl.Schema(
    {
        "id": pl.String(),
        "env_id": pl.String(),
        "task_id": pl.String(),
        "traj_type": pl.String(),
        "task_info": pl.Struct({"env_id": pl.String, "task_id": pl.String, "task": pl.String}),
        "model": pl.String(),
        "trial": pl.String(),
        "total_reward": pl.Float64(),
        "steps": pl.Int64(),
        "terminated": pl.Boolean(),
        "truncated": pl.Boolean(),
        "tools": pl.String(),
        "messages": pl.List(_MESSAGE),
    }
)


MASKED_CHAT_COLUMNS = pl.Schema({**CHAT_COLUMNS, "messages": pl.List(_MASKED_MESSAGE)})


class Lines:
    """JSON Lines: one row a line."""

    def __init__(self, folder: Path, name: str) -> None:
        self.files = [f"{name}.jsonl"]
        self._stream = (folder / self.files[0]).open("wb")

    def add(self, row: Any) -> None:
        """Write a row: its JSON bytes as they stand, or a dict."""
        self._stream.write(row if isinstance(row, bytes) else msgspec.json.encode(row))
        self._stream.write(b"\n")

    def close(self) -> None:
        self._stream.close()


class Array:
    """One JSON array; each record's bytes as they stand, after the line break and indent they had."""

    def __init__(self, folder: Path, name: str, prefix: bytes) -> None:
        self.files = [f"{name}.json"]
        self._stream = (folder / self.files[0]).open("wb")
        self._prefix, self._before = prefix, b"["

    def add(self, row: bytes) -> None:
        self._stream.write(self._before + self._prefix + row)
        self._before = b","

    def close(self) -> None:
        self._stream.write(b"[]\n" if self._before == b"[" else b"\n]")
        self._stream.close()


class Parts:
    """Parquet, a part at a time, in columns that do not depend on the rows."""

    def __init__(self, folder: Path, name: str, columns: pl.Schema) -> None:
        self.files: list[str] = []
        self._columns = columns
        self._folder, self._name = folder, name
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        self._bytes += sum(len(message["content"] or "") for message in row["messages"]) + len(row["tools"] or "")
        if self._bytes >= PART_BYTES:
            self._write()

    def close(self) -> None:
        if self._rows or not self.files:
            self._write()

    def _write(self) -> None:
        self.files.append(f"{self._name}-{len(self.files):05d}.parquet")
        places.write({str(self._folder / self.files[-1]): pl.DataFrame(self._rows, self._columns, orient="row")})
        self._rows, self._bytes = [], 0


Writer = Lines | Array | Parts


def writer(shape: str, layouts: set[tuple[str, bytes]], folder: Path, name: str, *, is_masked: bool = False) -> Writer:
    """The writer of a format; raw records are laid out as the source lays them out, where it has one layout."""
    if shape == "parquet":
        return Parts(folder, name, MASKED_CHAT_COLUMNS if is_masked else CHAT_COLUMNS)
    if shape != "raw" or {container for container, _ in layouts} <= {"lines", "parquet"}:
        return Lines(folder, name)
    (prefix,) = {prefix for _, prefix in layouts} if len(layouts) == 1 else {b""}
    return Array(folder, name, prefix or b"\n")

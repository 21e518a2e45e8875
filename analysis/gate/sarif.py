"""A gate's outcome as SARIF 2.1.0, the format code hosts and editors show findings from.

One result per finding and per rejected record, at its byte offset and, where the file can be read here as plain text,
its line; one result per bound that is not kept, for the set as a whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from analysis.gate.check import Check
from analysis.gate.quantities import QUANTITIES
from analysis.gate.text import value
from analysis.records.rules import RULES
from analysis.sources import SourceError
from analysis.tables import Tables
from analysis.wording import count, words

VERSION = "2.1.0"
_ORIGIN = re.compile(r"(?P<file>.*)@(?:(?P<offset>\d+)|row (?P<row>\d+))\Z", re.DOTALL)
_BLOCK = 1 << 20


def log(judged: Sequence[tuple[Tables, Sequence[Check]]], *, most: int = 100) -> dict[str, Any]:
    """The log of what was judged, with one run per source.

    Args:
        judged: tables, and their checks.
        most: findings listed per rule; the run's `properties` say how many there are.

    Returns:
        JSON values. Rejected records, and findings of a rule whose bound is not kept, are errors; others are warnings.
    """
    runs = [_run(data, checks, most) for data, checks in judged]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": VERSION, "runs": runs}


def _run(data: Tables, checks: Sequence[Check], most: int) -> dict[str, Any]:
    broken = {check.name for check in checks if check.kind == "finding" and check.verdict == "falls short"}
    listed, counts = _findings(data, most)
    rejected = data.rejected.collect()
    places = _Places(data, [*listed["origin"], *rejected["origin"].head(most)])
    rules = _rules()
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    results = [_of_set(check, index) for check in checks if check.verdict == "falls short"]
    for origin, reason in rejected.select("origin", "reason").head(most).iter_rows():
        results.append(_result("rejected", index, "error", reason, places.of(origin, None)))
    for row in listed.iter_rows(named=True):
        level = "error" if row["rule"] in broken else "warning"
        where = places.of(row["origin"], row["record_bytes"])
        about = {"trajectory_id": row["trajectory_id"]} | (
            {} if row["message"] is None else {"message": row["message"]}
        )
        results.append(_result(row["rule"], index, level, row["detail"], where, about))
    driver = {
        "name": "trajectory-notebooks",
        "semanticVersion": version("trajectory-notebooks"),
        "rules": rules,
    }
    return {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            "source": data.source,
            "content_hash": data.manifest["content_hash"],
            "records_in": data.manifest["records_in"],
            "kept": data.manifest["kept"],
            "rejected": data.manifest["rejected"],
            "findings": counts,
            "listed_per_rule": most,
        },
    }


def _rules() -> list[dict[str, Any]]:
    contract = [
        {"id": rule.id, "shortDescription": {"text": rule.sentence}, "help": {"text": rule.remedy}} for rule in RULES
    ]
    unread = {
        "id": "rejected",
        "shortDescription": {"text": "Every record can be read."},
        "help": {"text": "Mend the record at this place, or take it out."},
    }
    bounds = [
        {"id": f"gate/{name}", "shortDescription": {"text": f"A bound on: {quantity.meaning}."}}
        for name, quantity in QUANTITIES.items()
    ]
    findings = [
        {"id": f"gate/{rule.id}", "shortDescription": {"text": f"A bound on records that break: {rule.sentence}"}}
        for rule in RULES
    ]
    return [*contract, unread, *bounds, *findings]


def _findings(data: Tables, most: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """(the first of each rule with their records' places, how many of each rule there are)."""
    ranked = data.findings.with_columns(nth=pl.int_range(pl.len()).over("rule"))
    places = data.trajectories.select("trajectory_id", "origin", "record_bytes")
    listed = ranked.filter(pl.col("nth") < most).join(
        places, on="trajectory_id", how="left", validate="m:1", maintain_order="left"
    )
    counts = data.findings.group_by("rule").len().sort("rule").collect()
    return listed.collect(), dict(counts.iter_rows())


def _of_set(check: Check, index: Mapping[str, int]) -> dict[str, Any]:
    number = "not known" if check.value is None else value(check)
    counts = "" if check.events is None or check.of is None else f" ({count(check.events)} of {count(check.of)})"
    sentence = f"{words(check.name)} is {number}{counts}; the bound is: {check.bound}."
    reason = " ".join(text for text in (check.reason, check.why) if text)
    return _result(f"gate/{check.name}", index, "error", f"{sentence} {reason}".strip(), None)


def _result(
    rule: str,
    index: Mapping[str, int],
    level: str,
    text: str,
    place: dict[str, Any] | None,
    about: dict[str, Any] | None = None,
) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": rule, "ruleIndex": index[rule], "level": level, "message": {"text": text}}
    if place is not None:
        result["locations"] = [{"physicalLocation": place}]
    if about:
        result["properties"] = about
    return result


class _Places:
    """Where records stand: file, byte offset, and the line, counted in one pass over each file that is here."""

    def __init__(self, data: Tables, origins: Sequence[str]) -> None:
        self.paths = _local_files(data)
        wanted: dict[str, list[int]] = {}
        for origin in origins:
            found = _ORIGIN.fullmatch(origin)
            if found and found["offset"]:
                wanted.setdefault(found["file"], []).append(int(found["offset"]))
        self.lines = {
            name: dict(_lines(self.paths[name], offsets)) for name, offsets in wanted.items() if name in self.paths
        }

    def of(self, origin: str, size: int | None) -> dict[str, Any]:
        found = _ORIGIN.fullmatch(origin)
        name = found["file"] if found else origin
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(name)}}
        if found and found["offset"]:
            offset = int(found["offset"])
            line = self.lines.get(name, {}).get(offset)
            region: dict[str, Any] = {"byteOffset": offset}
            region |= {"byteLength": size} if size is not None else {}
            region |= {"startLine": line} if line is not None else {}
            place["region"] = region
        elif found and found["row"]:
            place["region"] = {"startLine": int(found["row"]) + 1}
        return place


def _local_files(data: Tables) -> dict[str, Path]:
    try:
        return {file.name: Path(file.path) for file in data.files() if file.is_local}
    except SourceError:
        return {}


def _lines(path: Path, offsets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(offset, line from 1) for each offset; nothing of a packed file, whose offsets are those of what it holds."""
    with path.open("rb") as stream:
        if stream.read(2) == b"\x1f\x8b":
            return
        stream.seek(0)
        line, position = 1, 0
        for offset in sorted(set(offsets)):
            while position < offset:
                block = stream.read(min(_BLOCK, offset - position))
                if not block:
                    return
                line += block.count(b"\n")
                position += len(block)
            yield offset, line

"""Time every measure over tables twenty times the release's size, and write the figures beside this file.

    python -m benchmarks.measures                 about four minutes, most of them for making the tables
    python -m benchmarks.measures --times 1

The tables are those of a quarter of a synthetic release, repeated under new ids, scenarios and words. Each measure runs
warm, on all cores, from Parquet to its collected result; what it takes of other measures is made before. The lesser of
two runs is quoted.
"""

import argparse
import json
import os
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from analysis import load, sample
from analysis.records import tokens, values
from analysis.records.rules import RULES
from analysis.reference import method
from analysis.reference.dictionary import choices
from analysis.schema import BASE_TABLES, TOKENS, VALUES, Table
from benchmarks.__main__ import machine

HERE = Path(__file__).parent
QUARTER = {"trajectories": 2256, "environments": 140, "seed": 1}
COMMON_S = 1.0
# Why a question's measures may take longer than a second.
REASONS = {
    "duplicates": "compares sequences of calls and texts, pair by pair where they may be alike",
    "compare": "draws scenarios a thousand times",
    "dialogue": "draws scenarios a thousand times",
    "repeats": "orders the calls of every trajectory and hashes their arguments",
    "recovery": "follows each error to the next call of its tool",
    "sequences": "counts every run of tools",
    "grounding": "looks every id up in what stood before it",
    "arguments": "sorts the details of every breach",
    "training_budget": "sums the prefixes of every turn",
    "outcomes": "reduces every error text to its template",
    "telling": "ranks every trajectory in several ways",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measures", description=__doc__.split("\n\n")[0])
    parser.add_argument("--times", type=int, default=20, help="times the release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        frames = Frames(Path(folder), options.times * 4)
        rows = [measured for question in method.questions() for measured in time_question(question, frames)]
        result = {
            "machine": machine(),
            "load": round(os.getloadavg()[0], 1),
            "times": options.times,
            "table_rows": frames.heights(),
            "rows": rows,
        }
    (HERE / "measures.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (HERE / "measures.md").write_text(table(result), encoding="utf-8")
    print(table(result))


class Frames:
    """The tables at their size, on disk, and whatever results measures take of one another."""

    def __init__(self, folder: Path, copies: int) -> None:
        self.folder = folder
        source = folder / "quarter.json"
        sample.write(source, **QUARTER, release_sizes=True)
        sample.write_siblings(folder / "siblings", **QUARTER)
        data = load(
            str(source),
            environments=str(folder / "siblings/environments.json"),
            scenarios=str(folder / "siblings/scenarios.json"),
        )
        for table_ in BASE_TABLES:
            self._write(table_, getattr(data, table_.name), copies)
        self._write(TOKENS, data.derive(TOKENS, partial(tokens.rows, tokenizer="estimate"), key="bench"), copies)
        self._write(VALUES, data.derive(VALUES, values.rows, key="bench"), copies)
        self.manifest = data.manifest

    def _write(self, table_: Table, frame: pl.LazyFrame, copies: int) -> None:
        held = frame.collect()
        if "trajectory_id" not in held.columns:
            copies = 1
        for copy in range(copies):
            held.with_columns(
                *(
                    pl.format("{}" + f"-{copy:03d}", name).alias(name)
                    for name in ("trajectory_id", "task_id")
                    if name in held.columns and copies > 1
                ),
                *(
                    pl.col(name).str.replace_all(r"(\w+)", "${1}" + f"{copy}")
                    for name in ("task",)
                    if name in held.columns and copies > 1
                ),
            ).cast(table_.schema).write_parquet(self._folder(table_.name) / f"part-{copy:05d}.parquet")

    def _folder(self, name: str) -> Path:
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path

    def heights(self) -> dict[str, int]:
        """Rows of every table."""
        names = [table_.name for table_ in (*BASE_TABLES, TOKENS, VALUES)]
        return {name: self.scan(name).select(pl.len()).collect().item() for name in names}

    def scan(self, name: str) -> pl.LazyFrame:
        return pl.scan_parquet(self.folder / name / "*.parquet")

    @cache  # noqa: B019  one object a run
    def of(self, name: str, side: str = "") -> pl.LazyFrame:
        """A table that is kept, of one mode where a measure compares sides; or a measure's result, made once."""
        if (self.folder / name).is_dir():
            frame = self.scan(name)
            if side and "traj_type" in frame.collect_schema():
                frame = frame.filter(pl.col("traj_type") == side)
            return frame
        made_by = next(m for q in method.questions() for m in q.measures if m.result.name == name)
        return self.call(made_by, choices(made_by)[0]).collect().lazy()

    def call(self, measure: method.Measure, settings: dict[str, Any]) -> pl.LazyFrame:
        sides = {"left": "conversation", "right": "non_conversation"}
        given = {
            argument: self.of(name, sides.get(argument.partition("_")[0], ""))
            for argument, name in measure.takes.items()
        }
        known = {"manifest": self.manifest, "contract": RULES}
        return measure.function(**given, **{k: known.get(k, v) for k, v in settings.items()})


def time_question(question: method.Question, frames: Frames) -> list[dict[str, Any]]:
    rows = []
    for measure in question.measures:
        settings = choices(measure)[0]
        plan = frames.call(measure, settings)
        found = []
        for _ in range(2):
            start, used = time.perf_counter(), time.process_time()
            height = plan.collect().height
            found.append((time.perf_counter() - start, time.process_time() - used))
        seconds, cpu = min(found)
        rows.append({"question": question.name, "measure": measure.name, "s": seconds, "cpu_s": cpu, "rows": height})
        print(f"{question.name}.{measure.name}: {seconds:.2f} s", flush=True)
    return rows


def table(result: dict[str, Any]) -> str:
    """The figures as Markdown: what takes over a second, with its reason, and how many do not."""
    rows = sorted(result["rows"], key=lambda row: -row["s"])
    slow = [row for row in rows if row["s"] > COMMON_S]
    held = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in result["table_rows"].items() if count)
    lines = [
        f"{result['times']} times the release on {result['machine']}, load {result['load']} at the end: {held}.",
        "",
        f"**{len(rows) - len(slow)} of {len(rows)} measures take at most {COMMON_S:g} s**; the median takes "
        f"{rows[len(rows) // 2]['s']:.2f} s. No result has more than {max(row['rows'] for row in rows):,} rows. "
        "The others:",
        "",
        "| measure | s | s of the processor | why |",
        "|---|---|---|---|",
    ]
    for row in slow:
        reason = REASONS.get(row["question"], "")
        lines.append(f"| `{row['question']}.{row['measure']}` | {row['s']:.1f} | {row['cpu_s']:.1f} | {reason} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

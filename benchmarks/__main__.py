"""Time decoding against the plain way, in one run, and write the figures beside this file.

    python -m benchmarks                      sizes 1/8 to 1 of the release, three runs each (about ten minutes)
    python -m benchmarks --sizes 1 4 --runs 5

Every measurement is a process of its own, timed from outside: start to end, and the largest memory of any one process
in it. The ways take turns within a round, so that a machine that slows down slows them alike; medians are quoted.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from analysis import sample

HERE = Path(__file__).parent
RELEASE = {"trajectories": 9022, "environments": 140}
Measured = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--sizes", type=Fraction, nargs="+", default=[Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
    )
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        rows = [row for size in options.sizes for row in measure(size, options.runs, Path(folder))]
    frame = pl.DataFrame(rows)
    result = {"machine": machine(), "rows": frame.to_dicts(), "ratios": ratios(frame)}
    (HERE / "decode.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    figure(frame).save(HERE / "decode.svg")
    (HERE / "decode.md").write_text(table(result), encoding="utf-8")
    print(table(result))


def measure(size: Fraction, runs: int, folder: Path) -> list[Measured]:
    """Medians of each way on a set of this size."""
    source = folder / "set.json"
    trajectories = round(RELEASE["trajectories"] * size)
    sample.write(source, trajectories=trajectories, environments=RELEASE["environments"], seed=1, release_sizes=True)
    cores = len(os.sched_getaffinity(0))
    ours = [sys.executable, "-m", "analysis", "tables", str(source), str(folder / "ours"), "--quiet", "--jobs"]
    ways = {
        "plain way": [sys.executable, "-m", "benchmarks.baseline", str(source), str(folder / "plain")],
        "ours, 1 process": [*ours, "1"],
        f"ours, {cores} processes": [*ours, str(cores)],
    }
    runs_of: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    warm: list[float] = []
    for _ in range(runs):
        for way, command in ways.items():
            shutil.rmtree(folder / "cache", ignore_errors=True)
            runs_of[way].append(timed(command, folder / "cache"))
        warm.append(warm_start(source, folder / "cache"))
    megabytes = source.stat().st_size / 1e6
    rows = []
    for way, found in runs_of.items():
        seconds, memory = (statistics.median(values) for values in zip(*found, strict=True))
        rows.append({"size": float(size), "MB": round(megabytes, 1), "way": way, "s": seconds, "peak_MB": memory})
    rows.append(
        {
            "size": float(size),
            "MB": round(megabytes, 1),
            "way": "warm start",
            "s": statistics.median(warm),
            "peak_MB": None,
        }
    )
    return rows


def timed(command: list[str], cache: Path) -> tuple[float, float]:
    """(seconds, MB of the largest process) of a command, run to its end."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=os.environ | {"TRAJECTORY_CACHE": str(cache)}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command)} failed with status {status}")
    process.returncode = 0
    return seconds, usage.ru_maxrss / 1000


def warm_start(source: Path, cache: Path) -> float:
    """Seconds that `load` takes inside a process when the tables are there, the hash of the file remembered."""
    code = """if True:
        import sys, time
        from analysis import load
        load(sys.argv[1])
        start = time.perf_counter()
        load(sys.argv[1])
        print(time.perf_counter() - start)
    """
    run = subprocess.run(
        [sys.executable, "-c", code, str(source)],
        env=os.environ | {"TRAJECTORY_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def ratios(frame: pl.DataFrame) -> list[Measured]:
    """How many times faster than the plain way, size by size."""
    plain = frame.filter(pl.col("way") == "plain way").select("size", plain="s")
    ours = frame.filter(pl.col("way").str.starts_with("ours"))
    return ours.join(plain, on="size").select("size", "way", times=pl.col("plain") / pl.col("s")).to_dicts()


def machine() -> str:
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {platform.machine()}, Python {platform.python_version()}, {platform.system()}"


def table(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    times = {(row["size"], row["way"]): row["times"] for row in result["ratios"]}
    lines = [
        f"Medians on {result['machine']}; synthetic sets of the release's shape and record size.",
        "",
        "| set | MB | way | s | MB/s | peak MB of one process | times the plain way |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        ratio = times.get((row["size"], row["way"]))
        peak = f"{row['peak_MB']:,.0f}" if row["peak_MB"] else "–"
        rate = "–" if row["way"] == "warm start" else f"{row['MB'] / row['s']:,.0f}"
        faster = f"{ratio:.1f}" if ratio else "–"
        seconds = f"{row['s']:.4f}" if row["s"] < 0.1 else f"{row['s']:.1f}"
        lines.append(
            f"| {Fraction(row['size'])} | {row['MB']:,.0f} | {row['way']} | {seconds} | {rate} | {peak} | {faster} |"
        )
    return "\n".join(lines) + "\n"


def figure(frame: pl.DataFrame) -> alt.HConcatChart:
    """Time and memory against size."""
    base = alt.Chart(frame.filter(pl.col("way") != "warm start")).mark_line(point=True)
    x = alt.X("MB:Q", title="size of the set (MB)")
    color = alt.Color("way:N", title=None, legend=alt.Legend(orient="bottom"))
    time_ = base.encode(x, alt.Y("s:Q", title="start to end (s)"), color).properties(title="Time", width=300)
    memory = base.encode(x, alt.Y("peak_MB:Q", title="largest process (MB)"), color).properties(
        title="Memory", width=300
    )
    both: alt.HConcatChart = alt.hconcat(time_, memory)
    return both


if __name__ == "__main__":
    main()

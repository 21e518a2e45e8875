"""Time decoding against the plain way, in one run, and write the figures beside this file.

    python -m benchmarks                      sizes 1/8 to 20 of the release (about forty minutes, 14 GB of disk)
    python -m benchmarks --sizes 1 --runs 15  one size anew; what stands of the others is kept

Every measurement is a process of its own, timed from outside: start to end, and the largest memory of any one process
in it. The ways take turns within a round, so that a machine that slows down slows them alike. Seconds are medians over
the rounds; how many times faster is the median of the rounds' own ratios, with the lowest and the highest. Sets larger
than the release are read once a way, and those over four times as large in our way alone: the plain one holds a set
whole, some 2.5 GB for each time the release. One core is one core: that run is bound to a single one.
"""

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from scipy.stats import linregress

from analysis import sample

HERE = Path(__file__).parent
PLAIN, UNCHECKED, WARM = "plain way", "plain way, no checks", "warm start"
RELEASE = {"trajectories": 9022, "environments": 140}
LARGEST_PLAIN = 4
Measured = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--sizes",
        type=Fraction,
        nargs="+",
        default=[Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(4), Fraction(20)],
        help="times the release, e.g. 1/8 1 4",
    )
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        rows = [row for size in options.sizes for row in measure(size, options.runs, Path(folder))]
    frame = pl.DataFrame(sorted([*held(options.sizes), *rows], key=lambda row: float(row["size"])))
    result = {
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        "rows": frame.to_dicts(),
        "ratios": ratios(frame),
        "slopes": slopes(frame),
    }
    (HERE / "decode.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    figure(frame).save(HERE / "decode.svg")
    (HERE / "decode.md").write_text(table(result), encoding="utf-8")
    print(table(result))


def held(sizes: list[Fraction]) -> list[Measured]:
    """What a former run measured of other sizes, if on such a machine: a size can be measured anew by itself."""
    try:
        before = json.loads((HERE / "decode.json").read_text(encoding="utf-8"))
    except OSError:
        return []
    rows: list[Measured] = before["rows"] if before["machine"] == machine() else []
    return [row for row in rows if row["size"] not in map(float, sizes)]


def measure(size: Fraction, runs: int, folder: Path) -> list[Measured]:
    """Medians of each way on a set of this size."""
    source = folder / "set.json"
    trajectories = round(RELEASE["trajectories"] * size)
    sample.write(source, trajectories=trajectories, environments=RELEASE["environments"], seed=1, release_sizes=True)
    ours = [sys.executable, "-m", "analysis", "tables", str(source), str(folder / "ours"), "--quiet", "--jobs"]
    plain = [sys.executable, "-m", "benchmarks.baseline", str(source), str(folder / "plain")]
    cores = sorted(os.sched_getaffinity(0))
    ways = {} if size > LARGEST_PLAIN else {UNCHECKED: (plain, cores), PLAIN: ([*plain, "--check"], cores)}
    ways |= {
        "ours, one core": ([*ours, "1"], cores[:1]),
        f"ours, {len(cores)} cores": ([*ours, str(len(cores))], cores),
    }
    runs_of: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    warm: list[float] = []
    for _ in range(runs if size <= 1 else 1):
        for way, (command, bound_to) in ways.items():
            for left in ("cache", "ours", "plain"):
                shutil.rmtree(folder / left, ignore_errors=True)
            runs_of[way].append(timed(command, folder / "cache", bound_to))
        warm.append(warm_start(source, folder / "cache"))
    megabytes = source.stat().st_size / 1e6
    rows = []
    for way, found in runs_of.items():
        seconds, memory = (statistics.median(values) for values in zip(*found, strict=True))
        rounds = [seconds for seconds, _ in found]
        rows.append(
            {
                "size": float(size),
                "MB": round(megabytes, 1),
                "way": way,
                "s": seconds,
                "peak_MB": memory,
                "rounds": rounds,
            }
        )
    rows.append(
        {
            "size": float(size),
            "MB": round(megabytes, 1),
            "way": WARM,
            "s": statistics.median(warm),
            "peak_MB": None,
            "rounds": warm,
        }
    )
    return rows


# Linux counts what a process held before it became the command, too; a launcher of a few MB keeps ours out of that.
LAUNCHER = """if True:
    import json, os, sys, time
    os.sched_setaffinity(0, json.loads(sys.argv[1]))
    start = time.perf_counter()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execvp(sys.argv[2], sys.argv[2:])
    _, status, usage = os.wait4(child, 0)
    print(json.dumps([time.perf_counter() - start, usage.ru_maxrss / 1000]))
    sys.exit(os.waitstatus_to_exitcode(status))
"""


def timed(command: list[str], cache: Path, cores: list[int]) -> tuple[float, float]:
    """(seconds, MB of the largest process) of a command, run to its end on these cores."""
    run = subprocess.run(
        [sys.executable, "-ISc", LAUNCHER, json.dumps(cores), *command],
        env=os.environ | {"TRAJECTORY_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if run.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {run.returncode}")
    seconds, megabytes = json.loads(run.stdout)
    return seconds, megabytes


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
    """How many times faster than the plain way, with its checks and without: each round's, size by size."""
    ours = frame.filter(pl.col("way").str.starts_with("ours")).select("size", "way", "rounds")
    for name, way in (("times", PLAIN), ("times_unchecked", UNCHECKED)):
        plain = frame.filter(pl.col("way") == way).select("size", plain="rounds")
        ours = ours.join(plain, on="size", how="left").with_columns((pl.col("plain") / pl.col("rounds")).alias(name))
        ours = ours.drop("plain")
    return ours.drop("rounds").to_dicts()


def slopes(frame: pl.DataFrame) -> list[Measured]:
    """Of each way of ours, the straight line through its sizes: seconds at no data, and seconds a GB."""
    ours = frame.filter(pl.col("way").str.starts_with("ours")).group_by("way", maintain_order=True)
    found = []
    for (way,), sizes in ours:
        if sizes.height > 1:
            line = linregress(sizes["MB"].to_numpy() / 1000, sizes["s"].to_numpy())
            found.append({"way": way, "start_s": line.intercept, "s_per_GB": line.slope, "r2": line.rvalue**2})
    return found


def extrapolation(result: Measured) -> list[str]:
    """What a thousand times the release would take, from the measured lines. Nothing of it was measured."""
    release = next((row["MB"] / 1000 for row in result["rows"] if row["size"] == 1), None)
    if release is None or len(result["slopes"]) < 2:
        return []
    one, many = (slope["s_per_GB"] for slope in result["slopes"])
    cores = len(os.sched_getaffinity(0))
    hours = [1000 * release * slope / 3600 for slope in (one, many)]
    workers = 1 + math.ceil(max(hours[0] - 1, 0) / max(one / many - 1, 0.01) * (cores - 1))
    return [
        "",
        f"From one core to {cores} the time a GB falls from {one:.1f} s to {many:.1f} s, {one / many:.2f} times.",
        "",
        f"**An extrapolation, not a measurement:** a thousand times the release, {1000 * release:,.0f} GB, along these "
        f"lines: {hours[0]:.1f} hours on one core, {hours[1]:.1f} on {cores}. Units of work do not know of each other: "
        f"were every further worker to add what the second core added here, {workers} of them would read it in an "
        f"hour, as long as the store delivers {1000 * release / 3.6:,.0f} MB/s. Memory is a worker's own, whatever the "
        "set.",
    ]


def machine() -> str:
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {platform.machine()}, Python {platform.python_version()}, {platform.system()}"


def table(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    times = {(row["size"], row["way"]): row for row in result["ratios"]}
    lines = [
        f"Medians of {max(len(row['rounds']) for row in result['rows'])} rounds, of one above size 1, on "
        f"{result['machine']}, load {result['load']} at the end; synthetic sets of the release's shape and record "
        "size, each size in a run of its own. Times: the median of the rounds' own ratios, in brackets the lowest and "
        "the highest.",
        "",
        "| set | MB | way | s | MB/s | peak MB of one process | times the plain way | times the one without checks |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        ratio = times.get((row["size"], row["way"]), {})
        peak = f"{row['peak_MB']:,.0f}" if row["peak_MB"] else "–"
        rate = "–" if row["way"] == WARM else f"{row['MB'] / row['s']:,.0f}"
        faster = [spread(ratio.get(name)) for name in ("times", "times_unchecked")]
        seconds = f"{row['s']:.4f}" if row["s"] < 0.1 else f"{row['s']:.1f}"
        cells = [Fraction(row["size"]), f"{row['MB']:,.0f}", row["way"], seconds, rate, peak, *faster]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, *extrapolation(result)]) + "\n"


def spread(rounds: list[float] | None) -> str:
    """Median, and lowest to highest where there are several."""
    if not rounds:
        return "–"
    middle = f"{statistics.median(rounds):.1f}"
    return f"{middle} ({min(rounds):.1f}–{max(rounds):.1f})" if len(rounds) > 1 else middle


def figure(frame: pl.DataFrame) -> alt.HConcatChart:
    """Time and memory against size."""
    base = alt.Chart(frame.filter(pl.col("way") != WARM)).mark_line(point=True)
    x = alt.X("MB:Q", title="size of the set (MB)", scale=alt.Scale(type="log"))
    color = alt.Color("way:N", title=None, legend=alt.Legend(orient="bottom"))
    time_ = base.encode(x, alt.Y("s:Q", title="start to end (s)", scale=alt.Scale(type="log")), color).properties(
        title="Time", width=300
    )
    memory = base.encode(
        x, alt.Y("peak_MB:Q", title="largest process (MB)", scale=alt.Scale(type="log")), color
    ).properties(title="Memory", width=300)
    both: alt.HConcatChart = alt.hconcat(time_, memory)
    return both


if __name__ == "__main__":
    main()

"""Time a replay of the sample's trajectories against decoding them, in turns within one run.

    python -m benchmarks.replay             1,128 and 9,022 trajectories, three rounds (about five minutes)

Both start from an empty cache, on all cores, and are timed from outside; a replay decodes before it plays. Memory is
that of the largest process.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from analysis import sample
from benchmarks.__main__ import HERE, RELEASE, machine, spread, timed

SIZES = (RELEASE["trajectories"] // 8, RELEASE["trajectories"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        rows = [measure(size, rounds, Path(folder)) for size in SIZES]
    result = {"machine": machine(), "load": round(os.getloadavg()[0], 1), "rows": rows}
    (HERE / "replay.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (HERE / "replay.md").write_text(table(result), encoding="utf-8")
    print(table(result))


def measure(trajectories: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Each round's seconds of both, how many calls came out as recorded, and the largest process."""
    environments = RELEASE["environments"]
    source, out = folder / "sample.json", folder / "out"
    sample.write(source, trajectories=trajectories, environments=environments, seed=1)
    sample.write_siblings(folder, trajectories=trajectories, environments=environments, seed=1)
    sets = [f"--{name}={folder / name}.json" for name in ("environments", "scenarios")]
    ways = {"tables": [], "replay": [*sets, "--keep-going"]}
    runs: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, more in ways.items():
            for left in ("cache", "out"):
                shutil.rmtree(folder / left, ignore_errors=True)
            command = [sys.executable, "-m", "analysis", way, str(source), str(out), "--quiet", *more]
            runs[way].append(timed(command, folder / "cache", sorted(os.sched_getaffinity(0))))
    counts = json.loads((out / "replay.json").read_text(encoding="utf-8"))
    return {
        "MB": round(source.stat().st_size / 1e6, 1),
        **{name: counts[name] for name in ("trajectories", "replayable", "calls", "reproduced")},
        "seconds": {way: [one for one, _ in found] for way, found in runs.items()},
        "peak_MB": {way: max(memory for _, memory in found) for way, found in runs.items()},
    }


def table(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    rounds = len(result["rows"][0]["seconds"]["replay"])
    lines = [
        f"Medians of {rounds} rounds on {result['machine']}, load {result['load']} at the end; synthetic trajectories. "
        "Times: the median of the rounds' own ratios, in brackets the lowest and the highest.",
        "",
        "| trajectories | MB | calls | as recorded | decoding, s | replay, s | times decoding | largest process, MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        decoding, replay = row["seconds"]["tables"], row["seconds"]["replay"]
        times = spread([slow / fast for slow, fast in zip(replay, decoding, strict=True)])
        lines.append(
            f"| {row['trajectories']:,} | {row['MB']:,.0f} | {row['calls']:,} | {row['reproduced']:,} | "
            f"{statistics.median(decoding):.1f} | {statistics.median(replay):.1f} | {times} | "
            f"{row['peak_MB']['replay']:,.0f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

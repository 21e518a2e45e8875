"""Time the whole suite against papermill and nbconvert on the command line, one notebook after another.

    python -m benchmarks.suite                    three rounds on the sample, on two cores (about six minutes)
    python -m benchmarks.suite --source trajectories.json --rounds 1

Both ways make pages of the same warm tables by the same exporter, and take turns within a round. Each is timed from
outside, start to end, with the seconds of the processor that all its processes took, kernels included: those a busy
machine lengthens little.
"""

import argparse
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from analysis.report.suite import HOME
from benchmarks.__main__ import HERE, machine, spread

CORES = 2
PLAIN, OURS = "papermill + jupyter nbconvert", "python -m analysis report"
BESIDE = Path(sys.executable).parent  # where papermill and jupyter are installed
PR_SET_CHILD_SUBREAPER = 36


class Took(NamedTuple):
    """Seconds by the clock and of the processor."""

    s: float
    cpu_s: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite", description=__doc__.split("\n\n")[0])
    parser.add_argument("--source", default="sample")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        result = measure(options.source, options.rounds, Path(folder))
    if options.source == "sample":
        (HERE / "suite.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        (HERE / "suite.md").write_text(table(result), encoding="utf-8")
    print(table(result))


def measure(source: str, rounds: int, folder: Path) -> dict[str, Any]:
    """Medians of both ways. A round of ours before the first one decodes the tables and tells which pages there are."""
    ours(source, folder / "warm")
    manifest = json.loads((folder / "warm" / "html" / "manifest.json").read_text(encoding="utf-8"))
    names = [page["name"] for page in manifest["pages"] if page["state"] == "made"]
    found: dict[str, list[Took]] = {PLAIN: [], OURS: []}
    for number in range(rounds):
        plain_out, our_out = folder / f"plain-{number}", folder / f"ours-{number}"
        found[PLAIN].append(timed(lambda out=plain_out: plain(source, names, out)))  # type: ignore[misc]
        found[OURS].append(timed(lambda out=our_out: ours(source, out)))  # type: ignore[misc]
        for name in names:
            for out in (plain_out / "html", our_out / "html"):
                if not (out / f"{name}.html").is_file():
                    raise SystemExit(f"{out}: no page {name}")
    medians = {
        way: Took(*(statistics.median(values) for values in zip(*took, strict=True))) for way, took in found.items()
    }
    return {
        "machine": machine(),
        "load": round(os.getloadavg()[1], 1),
        "source": source,
        "pages": len(names),
        "rounds": rounds,
        "rows": [
            {
                "way": way,
                "s": round(took.s, 1),
                "cpu_s": round(took.cpu_s, 1),
                "runs": [list(one) for one in found[way]],
            }
            for way, took in medians.items()
        ],
        "times": [slow.s / fast.s for slow, fast in zip(found[PLAIN], found[OURS], strict=True)],
        "cpu_times": [slow.cpu_s / fast.cpu_s for slow, fast in zip(found[PLAIN], found[OURS], strict=True)],
    }


def plain(source: str, names: list[str], out: Path) -> None:
    """What a person types, or a script: execute a notebook, export it, take the next one."""
    executed, html = out / "executed", out / "html"
    executed.mkdir(parents=True)
    for name in names:
        notebook = HOME / "notebooks" / f"{name}.ipynb"
        done = executed / notebook.name
        run(BESIDE / "papermill", notebook, done, "-r", "source", source)
        run(BESIDE / "jupyter", "nbconvert", "--to", "trajectory_report", done, "--output-dir", html)


def ours(source: str, out: Path) -> None:
    folders = ("--out", out / "html", "--executed", out / "executed")
    run(sys.executable, "-m", "analysis", "report", source, *folders, "--quiet")


def run(*command: str | Path) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=HERE.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed with status {done.returncode}:\n{done.stderr}")


def timed(way: Callable[[], None]) -> Took:
    """What a way took. The processor's seconds are counted when the last process it left behind has ended."""
    start, before = time.perf_counter(), _cpu()
    way()
    seconds = time.perf_counter() - start
    while _is_followed():
        pass
    return Took(seconds, _cpu() - before)


def adopt_orphans() -> None:
    """Become the parent of what children leave behind, so that its seconds are counted; Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _is_followed() -> bool:
    try:
        os.wait()
    except ChildProcessError:
        return False
    return True


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        f"{result['pages']} pages of {result['source']}, tables decoded before; medians of {result['rounds']} rounds "
        f"on {result['machine']}, load {result['load']} at the end. Times: the median of the rounds' own ratios, in "
        "brackets the lowest and the highest.",
        "",
        "| way | s | s of the processor |",
        "|---|---|---|",
        *(f"| {row['way']} | {row['s']:.1f} | {row['cpu_s']:.1f} |" for row in result["rows"]),
        f"| **times faster** | {spread(result['times'])} | {spread(result['cpu_times'])} |",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

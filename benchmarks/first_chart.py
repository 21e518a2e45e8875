"""Time what a person waits for in JupyterLab: imports, the first chart, Run All; write the figures beside this file.

    python -m benchmarks.first_chart                     the sample and a set of the release's size, five kernels each
    python -m benchmarks.first_chart --source trajectories.json --notebook 20_step_lengths --runs 3

The notebook's own cells are sent one after another to a kernel of its own, as Run All sends them; the clock starts when
the kernel is ready. The tables are decoded before: what is timed is a warm cache. Beside the seconds stand those of the
processor, which a busy machine lengthens little.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from jupyter_client.manager import start_new_kernel

from analysis import load, sample
from benchmarks.__main__ import HERE, RELEASE, machine

ROOT = HERE.parent
CHART = "vegalite"
LIMIT_S = 600


class Waited(NamedTuple):
    """Seconds by the clock and of the processor."""

    s: float
    cpu_s: float

    def __sub__(self, earlier: "Waited") -> "Waited":
        return Waited(self.s - earlier.s, self.cpu_s - earlier.cpu_s)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_chart", description=__doc__.split("\n\n")[0])
    parser.add_argument("--source", help="time this instead of the sample and a set of the release's size")
    parser.add_argument("--notebook", default="10_tool_usage")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        sources = {options.source: options.source} if options.source else _sources(Path(folder))
        rows = [measure(name, source, options.notebook, options.runs) for name, source in sources.items()]
    result = {"machine": machine(), "notebook": options.notebook, "runs": options.runs, "rows": rows}
    if not options.source:
        (HERE / "first_chart.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        (HERE / "first_chart.md").write_text(table(result), encoding="utf-8")
    print(table(result))


def _sources(folder: Path) -> dict[str, str]:
    release = folder / "release.json"
    sample.write(release, **RELEASE, seed=1, release_sizes=True)
    return {"the sample": "sample", "release size": str(release)}


def measure(name: str, source: str, notebook: str, runs: int) -> dict[str, Any]:
    """Medians of what is waited for with a warm cache."""
    load(source)
    # Once more: the hash of a file that was written a moment ago is not yet remembered.
    data = load(source)
    code = [
        cell.source
        for cell in nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", 4).cells
        if cell.cell_type == "code"
    ]
    found = [_run(code, source) for _ in range(runs)]
    medians = {
        part: [round(statistics.median(values), 2) for values in zip(*(run[part] for run in found), strict=True)]
        for part in ("imports", "first_chart", "run_all")
    }
    return {"source": name, "records": data.manifest["kept"], "MB": round(data.manifest["bytes"] / 1e6), **medians}


def _run(code: list[str], source: str) -> dict[str, Waited]:
    """One kernel from ready to its last cell."""
    parameters, setup, *rest = code
    imports = "\n".join(line for line in setup.splitlines() if line.startswith(("from ", "import ")))
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    try:
        ready = _now(client)
        _execute(client, imports)
        imported = _now(client)
        drawn = None
        for cell in (f"{parameters}\nsource = {source!r}", setup, *rest):
            kinds = _execute(client, cell)
            if drawn is None and any(CHART in kind for kind in kinds):
                drawn = _now(client)
        done = _now(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if drawn is None:
        raise SystemExit("the notebook draws no chart")
    return {"imports": imported - ready, "first_chart": drawn - imported, "run_all": done - ready}


def _execute(client: Any, code: str) -> set[str]:
    """Run a cell to its end; the kinds of what it displayed."""
    return set(_kinds(client, client.execute(code)))


def _kinds(client: Any, asked: str) -> Iterator[str]:
    while True:
        message = client.get_iopub_msg(timeout=LIMIT_S)
        if message["parent_header"].get("msg_id") != asked:
            continue
        content = message["content"]
        if message["msg_type"] == "error":
            raise SystemExit("\n".join(content["traceback"]))
        if message["msg_type"] == "display_data":
            yield from content["data"]
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            return


def _now(client: Any) -> Waited:
    reply = client.execute_interactive(
        "", user_expressions={"cpu": "__import__('time').process_time()"}, store_history=False, timeout=LIMIT_S
    )
    return Waited(time.perf_counter(), float(reply["content"]["user_expressions"]["cpu"]["data"]["text/plain"]))


def table(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        f"Medians of {result['runs']} kernels on {result['machine']}; {result['notebook']}, tables decoded before. "
        "Seconds by the clock, in brackets those of the processor.",
        "",
        "| source | records | MB | imports | first chart after them | Run All, imports included |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        parts = [f"{row[part][0]:.2f} ({row[part][1]:.2f})" for part in ("imports", "first_chart", "run_all")]
        lines.append(f"| {row['source']} | {row['records']:,} | {row['MB']:,} | {' | '.join(parts)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

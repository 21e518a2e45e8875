"""Time how long each page of the suite takes from opening to its last chart, in Chromium, without a network.

    python -m benchmarks.pages                    the sample's pages, five openings each (about two minutes)

Every opening is a tab of its own in a browser that runs already, 1280 x 900; the page says itself when all is drawn.
Medians are quoted, with the slowest opening.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.__main__ import HERE, machine

ALLOWED_S = 1.5


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("there is no Chromium: install it to time what it draws")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, sync_playwright() as driver:
        out = Path(folder) / "html"
        made = [sys.executable, "-m", "analysis", "report", "sample", "--out", str(out)]
        subprocess.run([*made, "--executed", f"{folder}/executed", "--quiet"], check=True)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        rows = [timed(browser, page, rounds) for page in sorted(out.glob("[0-9]*.html"))]
        browser.close()
    result = {"machine": machine(), "load": round(os.getloadavg()[0], 1), "rounds": rounds, "rows": rows}
    (HERE / "pages.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (HERE / "pages.md").write_text(table(result), encoding="utf-8")
    print(table(result))


def timed(browser: Browser, path: Path, rounds: int) -> dict[str, Any]:
    found = []
    charts = 0
    for _ in range(rounds):
        context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.add_init_script(
            """new MutationObserver((_, watcher) => {
                if (!document.documentElement?.dataset.drawn) return;
                window.drawnAt ??= performance.now();
                watcher.disconnect();
            }).observe(document, { attributes: true, subtree: true, childList: true });"""
        )
        page.goto(path.as_uri())
        charts = page.locator("figure.chart").count()
        page.wait_for_function("() => window.drawnAt || !document.querySelector('figure.chart')", timeout=60_000)
        found.append(
            page.evaluate(
                "() => window.drawnAt ?? performance.timing.loadEventEnd - performance.timing.navigationStart"
            )
        )
        context.close()
    seconds = [milliseconds / 1000 for milliseconds in found]
    return {
        "page": path.stem,
        "KB": round(path.stat().st_size / 1000),
        "charts": charts,
        "s": statistics.median(seconds),
        "slowest_s": max(seconds),
    }


def table(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    rows = result["rows"]
    within = sum(row["s"] <= ALLOWED_S for row in rows)
    lines = [
        f"The sample's pages in Chromium on {result['machine']}, load {result['load']} at the end; medians of "
        f"{result['rounds']} openings. **{within} of {len(rows)} have drawn every chart within {ALLOWED_S} s.**",
        "",
        "| page | KB | charts | all drawn after, s | slowest, s |",
        "|---|---|---|---|---|",
        *(
            f"| {row['page']} | {row['KB']} | {row['charts']} | {row['s']:.2f} | {row['slowest_s']:.2f} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

"""A run killed at any moment leaves no page that claims more than there is, and the next run goes on from there.

The runs here execute with `Paper`, an engine without a kernel: nearly all their time goes into reading, writing and
renaming, and so do the kills. The seed of the moments is printed, so that a failure can be had again.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import papermill
import pytest

from analysis.report import folder
from tests.conftest import ROOT
from tests.test_report import BY_ENVIRONMENT, PROVENANCE, House, Paper
from tests.waiting import until

REPORTS = ("a", "b", "c", "d")
# Tells when the run begins, so that kills fall into the run and not into seconds of importing and decoding.
DRIVER = """
import sys
from pathlib import Path
import papermill
from analysis import load
from tests.test_report import House, Paper
papermill.engines.papermill_engines.register("paper", Paper)
house = House(Path(sys.argv[1]))
load(str(house.source), progress=False)
top, each = int(sys.argv[2]), sys.argv[3]
print("begins", flush=True)
while True:
    house.run(parameters={"top": str(top)}, each=each, jobs=2)
    if "--once" in sys.argv:
        break
    top += 1
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    papermill.engines.papermill_engines.register("paper", Paper)
    made = House(tmp_path)
    for name in REPORTS:
        made.report(name, "1", parameters=BY_ENVIRONMENT)
    return made


def start(house: House, top: int, each: str = "", *more: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(house.folder), str(top), each, *more],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    if process.stdout.readline() != "begins\n":
        raise AssertionError(process.communicate()[1])
    return process


def kill(process: "subprocess.Popen[str]", after: float) -> None:
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def manifest(house: House) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((house.out / "manifest.json").read_text(encoding="utf-8"))
    return found


def check(house: House) -> None:
    """Nothing in the folder claims more than there is."""
    for path in house.out.glob("[!.]*.html"):
        assert path.read_text(encoding="utf-8").endswith("</html>"), path
    for path in (house.out / "schemas").glob("[!.]*.json"):
        assert path.read_text(encoding="utf-8").endswith("\n}\n"), path
    if not (house.out / "manifest.json").exists():
        assert not list(house.out.glob("*.html")), "the manifest is the first to be written"
        return
    told = manifest(house)
    index = house.page("index") if (house.out / "index.html").exists() else ""
    listed = told["pages"] + told["others"]
    for page in listed:
        if page["state"] == "made":
            top = page["parameters"]["top"]
            assert f"top = {top}&#x27;" in house.page(page["name"]) or f"top = {top}\\n" in house.page(page["name"])
    assert (told["state"] == "finished") <= all(page["state"] == "made" for page in told["pages"])
    if "has not finished" not in index and index:
        assert all((house.out / page["page"]).exists() for page in listed if f'href="{page["page"]}"' in index)


def killed_again_and_again(house: House, times: int, seed: int) -> None:
    print("seed", seed)
    moments = random.Random(seed)
    top = 0
    for number in range(times):
        top += 1000
        each = "env_id" if number % 2 else ""
        kill(start(house, top, each), after=moments.uniform(0, 1))
        check(house)
    for each in ("", "env_id"):
        assert house.run(parameters={"top": "7"}, each=each).status == 0
        assert manifest(house)["state"] == "finished"
        check(house)
    places = (house.out, house.executed, house.out / "schemas")
    scraps = [path.name for place in places for path in place.glob(".*.*.*")]
    assert scraps == [], "what the killed runs left half written"


def test_a_run_that_ends_does_not_claim_the_pages_of_one_that_was_killed(house: House) -> None:
    """Seed 66245: one run killed on its way, the next ends, the third is killed before it has said a word."""
    house.run(only=("a",), parameters={"top": "7"})
    killed = folder.Folder(house.out, PROVENANCE, [folder.Entry(name, name, "", f"{name}.html") for name in "bcd"])
    killed.begin()
    assert house.run(parameters={"top": "7"}, each="env_id").status == 0
    check(house)
    told = manifest(house)
    assert told["state"] == "finished"
    assert {page["group"] for page in told["pages"]} == {"bank", "shop"}
    assert {page["name"]: page["state"] for page in told["others"]} == {
        "a": "made", "b": "pending", "c": "pending", "d": "pending"
    }  # fmt: skip
    assert house.run().status == 0
    assert {page["state"] for page in manifest(house)["others"]} == {"made"}


@pytest.mark.slow
def test_no_page_claims_to_be_finished_after_a_kill_at_any_moment(house: House) -> None:
    killed_again_and_again(house, times=5, seed=random.SystemRandom().randrange(10**6))


@pytest.mark.nightly
def test_nor_after_forty_kills(house: House) -> None:
    killed_again_and_again(house, times=40, seed=random.SystemRandom().randrange(10**6))


@pytest.mark.slow
def test_a_run_that_was_killed_is_resumed_and_keeps_what_it_had(house: House) -> None:
    process = start(house, 5, "env_id", "--once")
    until(lambda: len(list(house.out.glob("?--*.html"))) >= 2, pause=0.002)
    kill(process, after=0)
    kept = {page["page"]: (house.out / page["page"]).stat().st_mtime_ns for page in manifest(house)["pages"]
            if page["state"] == "made"}  # fmt: skip
    assert kept
    assert house.run(parameters={"top": "5"}, each="env_id").status == 0
    assert manifest(house)["state"] == "finished"
    assert {name: (house.out / name).stat().st_mtime_ns for name in kept} == kept


@pytest.mark.slow
def test_two_runs_at_once_on_one_cache_and_one_folder_are_both_right(house: House) -> None:
    """Both make the same pages with other parameters: of each page the manifest tells what is there."""
    runs = [start(house, top, "", "--once") for top in (11, 22)]
    for run in runs:
        _, said = run.communicate(timeout=120)
        assert run.returncode == 0, said
    told = manifest(house)
    assert told["state"] == "finished"
    assert [page["name"] for page in told["pages"]] == list(REPORTS)
    check(house)

"""The figures of speed that pages tell are those that were measured: counted again from every single round."""

import json
import re
from statistics import median
from typing import Any

import pytest

from tests.conftest import ROOT

README = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")

WAYS = ("plain way", "ours, one core", "ours, 2 cores")


def measured(name: str) -> dict[str, Any]:
    held: dict[str, Any] = json.loads((ROOT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8"))
    return held


def times(slow: list[float], fast: list[float]) -> tuple[str, str]:
    """(median, "lowest to highest") of how many times one is the other, round by round."""
    each = [one / other for one, other in zip(slow, fast, strict=True)]
    return f"{median(each):.1f}", f"{min(each):.1f} to {max(each):.1f}"


@pytest.mark.parametrize("size", [1, 4])
def test_the_table_of_decoding_is_that_of_the_benchmark(size: int) -> None:
    ways = {row["way"]: row for row in measured("decode")["rows"] if row["size"] == size}
    plain, one, two = (ways[way] for way in WAYS)
    (line,) = re.findall(rf"^\| {9022 * size:,} \|.*$", README, flags=re.MULTILINE)
    _, _, megabytes, slow, *fast, memory, _ = [cell.strip() for cell in line.split("|")]
    assert megabytes == f"{plain['MB']:,.0f}"
    assert slow == f"{median(plain['rounds']):.1f} s"
    for cell, way in zip(fast, (one, two), strict=True):
        middle, spread = times(plain["rounds"], way["rounds"])
        assert cell.startswith(f"{median(way['rounds']):.1f} s, {middle} times")
        assert cell.endswith(f"({spread})") == (len(way["rounds"]) > 1)
    assert memory == f"{plain['peak_MB']:,.0f} / {one['peak_MB']:,.0f} MB"
    assert max(way["peak_MB"] for way in (one, two)) == one["peak_MB"]


def test_memory_is_the_same_within_a_fifth_at_twenty_times_the_size() -> None:
    rows = {(row["size"], row["way"]): row for row in measured("decode")["rows"]}
    one, two = ([rows[size, way] for size in (20, 1)] for way in ("ours, one core", "ours, 2 cores"))
    seconds = f"{one[0]['s']:.0f} s on one core, {two[0]['s']:.0f} s on two"
    memory = "{:.0f} and {:.0f} MB of memory, at the release's own size {:.0f} and {:.0f}.".format(
        *(row["peak_MB"] for row in (one[0], two[0], one[1], two[1]))
    )
    set_ = f"Twenty times the release ({20 * 9022:,} records, {one[0]['MB']:,.0f} MB, once)"
    said = f"{set_} takes {seconds}; the largest process holds {memory}"
    assert said in README.replace("\n", " ")
    for large, small in (one, two):
        assert large["peak_MB"] <= 1.2 * small["peak_MB"] < 300


def test_the_suite_s_figures_are_those_of_the_benchmark() -> None:
    held = measured("suite")
    slow, fast = ([seconds for seconds, _ in row["runs"]] for row in held["rows"])
    middle, spread = times(slow, fast)
    said = f"The {held['pages']} pages of the sample take {median(fast):.1f} s, {middle} times as fast ({spread} in "
    assert said in README
    assert held["times"] == [one / other for one, other in zip(slow, fast, strict=True)]


def test_the_pages_are_drawn_as_fast_as_is_said() -> None:
    (within,) = re.findall(
        r"each has drawn its last chart within ([\d.]+) s of being opened", README.replace("\n", " ")
    )
    assert max(row["s"] for row in measured("pages")["rows"]) <= float(within)


def test_the_projects_page_tells_the_same_figures() -> None:
    plain, one, _ = ({row["way"]: row for row in measured("decode")["rows"] if row["size"] == 1}[way] for way in WAYS)
    middle, _ = times(plain["rounds"], one["rounds"])
    said = f"decode in {median(one['rounds']):.1f} s on one core, {middle} times as fast as `json.load` and loops, in "
    assert f"{said}{one['peak_MB']:,.0f} MB of memory." in (ROOT / "README.md").read_text("utf-8").replace("\n", " ")


def test_a_replay_takes_as_many_times_as_long_as_is_said_with_memory_flat() -> None:
    small, large = measured("replay")["rows"]
    middle, spread = times(large["seconds"]["replay"], large["seconds"]["tables"])
    peaks = [row["peak_MB"]["replay"] for row in (large, small)]
    size = f"{large['trajectories']:,} trajectories of the sample ({large['MB']:.0f} MB, {large['calls']:,} calls)"
    took = (
        f"{median(large['seconds']['replay']):.1f} s, {middle} times as long as decoding them ({spread} in five rounds)"
    )
    held = f"the largest process holds {peaks[0]:.0f} MB, of an eighth of them {peaks[1]:.0f}."
    said = f"{size} are played again in {took}; {held}"
    assert said in README.replace("\n", " ")
    assert large["reproduced"] == large["calls"]
    assert float(middle) < 10
    assert peaks[0] <= 1.2 * peaks[1]

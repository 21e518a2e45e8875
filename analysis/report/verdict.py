"""The verdict that the index opens with, and what its pages say needs attention."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from analysis import gate
from analysis.report.request import ReportRequest
from analysis.tables import Tables
from analysis.verdict import Verdict, judge, rows_of

logger = logging.getLogger(__name__)
# What it says of two sources is no finding on this one.
OF_TWO = "90_compare"
# So many sentences can be read aloud.
MOST = 10


class Attention(msgspec.Struct, frozen=True):
    """A sentence on a page that asks for attention."""

    sentence: str
    page: str
    title: str


class Front(msgspec.Struct, frozen=True):
    """What the index opens with: the verdict, or why there is none, and what needs attention."""

    verdict: Verdict | None = None
    lacking: str = ""
    attention: list[Attention] = []


def bounds_of(request: ReportRequest) -> gate.Gate:
    """The gate asked for, read before anything runs.

    Raises:
        GateError: it cannot be read.
    """
    return gate.read(request.gate) if request.gate else gate.read()


def verdict_of(
    request: ReportRequest, data: Tables, bounds: gate.Gate, given: Mapping[str, Any]
) -> tuple[Front, dict[str, Any] | None]:
    """Judge what the pages are of, with the rows of the index's switches; an error costs these alone."""
    selection = {name: str(given[name]) for name in ("traj_type", "env_id") if given.get(name)}
    where = " AND ".join(f"{name} = '{value.replace(chr(39), 2 * chr(39))}'" for name, value in selection.items())
    try:
        front = Front(judge(data.where(**selection), bounds, where=where, is_own=request.gate is not None))
        return front, None if selection else rows_of(data)
    except Exception as error:
        logger.warning("no verdict: %s", error)
        return Front(lacking=f"The source could not be judged: {error}"[:300]), None


def attention_of(notebook: Any, page: str, title: str) -> Iterator[Attention]:
    """What an executed notebook says needs attention."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            about = output.get("metadata", {}).get("trajectory", {})
            if about.get("kind") == "attention" and about.get("sentence"):
                yield Attention(str(about["sentence"]), page, title)

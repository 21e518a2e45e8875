"""`report`: execute the notebooks and write one HTML file per report."""

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from analysis.cli.shared import (
    COULD_NOT,
    SOURCE,
    add_against_option,
    add_sibling_options,
    complain,
    path,
    positive,
    say,
    say_lost,
)
from analysis.cli.streams import tell

ABOUT = "execute the notebooks and write one HTML file per report"
EPILOG = """\
examples:
  python -m analysis report                                   every report, on the bundled sample
  python -m analysis report trajectories.json --only tool_usage -p top 30
  python -m analysis report trajectories.json -p traj_type=conversation --out conversations/
  python -m analysis report trajectories.json --only tool_usage --each env_id --jobs 4
  python -m analysis report trajectories.json --against bfcl/ --only overlap      what a benchmark has, too
  python -m analysis report trajectories.json --only transcripts --each trajectory_id    one page per trajectory

The index opens with a verdict by the limits of `check`: ready to train on, ready after steps that a command takes, or
not; each reason is counted, and verdict.json beside it says the same to machines. --only and --each leave it out.

A parameter is passed to every notebook that declares it. A name that no notebook declares is refused, with the nearest
name. SOURCE_DATE_EPOCH sets the date on the pages; the same inputs then give the same bytes.
exit status: 0 all reports made · 1 a cell failed, reports failed in different ways, or a part of the source could not
             be read · 2 could not run ·
             3 a kernel died · 4 a cell took too long · 5 no such kernel · 6 cannot write · 130 interrupted
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", nargs="?", default="sample", help=f"{SOURCE}; default: sample")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="make only this report; can be repeated"
    )
    parser.add_argument(
        "-p", dest="parameters", action=_Pairs, nargs=2, default={}, metavar=("NAME", "VALUE"),
        help="parameter of a notebook; NAME=VALUE also works; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--each",
        default="",
        metavar="COLUMN",
        help="one page per value of this column, such as env_id, and an overview",
    )
    add_sibling_options(parser)
    add_against_option(parser, "which tasks, tools and values it has, too, on the page 77_overlap")
    parser.add_argument("--out", type=path, metavar="DIR", help="folder of the pages; default: reports/html")
    parser.add_argument(
        "--executed", type=path, metavar="DIR", help="folder of the executed notebooks; default: reports/executed"
    )
    parser.add_argument(
        "--suite", type=path, metavar="FILE", help="file that declares the reports; default: reports/suite.toml"
    )
    parser.add_argument(
        "--gate", type=path, metavar="FILE", help="limits that the verdict on the index is by; default: as in `check`"
    )
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="notebooks to execute at a time; default: one more than cores"
    )
    parser.add_argument("--timeout", type=positive, metavar="S", help="seconds that a cell may take; default: 600")
    parser.add_argument("--engine", metavar="NAME", help="papermill engine that executes the notebooks")
    parser.add_argument("--quiet", action="store_true", help="do not show progress")


def run(options: argparse.Namespace) -> int:
    """Make the reports."""
    from analysis.parameters import ParameterError  # noqa: PLC0415
    from analysis.report import kernels  # noqa: PLC0415

    if options.engine in (None, kernels.WARM):
        kernels.warm_up()  # it imports while this process does; if the request is refused, nothing was lost by that
    from analysis.gate import GateError  # noqa: PLC0415
    from analysis.report.request import ReportRequest  # noqa: PLC0415
    from analysis.report.run import run  # noqa: PLC0415  papermill and nbconvert take seconds

    request = {name: value for name in vars(ReportRequest()) if (value := getattr(options, name, None)) is not None}
    try:
        result = run(ReportRequest(**{**request, "only": tuple(options.only), "progress": not options.quiet}))
    except (ParameterError, GateError) as error:
        return complain(error, COULD_NOT)
    _tell(result)
    return int(result.status)


def _tell(result: Any) -> None:
    for name, failure in result.failures.items():
        say(f"{name}: {failure.message}")
    for entry in result.entries:
        if entry.state == "skipped":
            tell(f"{entry.name} left out: {entry.message}")
    say_lost(result.manifest)  # which the pages tell, too: they are made all the same
    made = sum(entry.state == "made" for entry in result.entries)
    tell(f"{made:,} of {len(result.entries):,} reports made: {result.index}")


def pairs_apart(words: Sequence[str]) -> Iterator[str]:
    """`-p NAME=VALUE` as `-p NAME VALUE`: no name contains an equals sign.

    >>> list(pairs_apart(["-p", "top=5", "-p", "end", "a=b", "x=y"]))
    ['-p', 'top', '5', '-p', 'end', 'a=b', 'x=y']
    """
    rest = iter(words)
    for word in rest:
        yield word
        if word == "-p" and (pair := next(rest, None)) is not None:
            name, sign, value = pair.partition("=")
            yield name
            yield from [value] if sign else islice(rest, 1)


class _Pairs(argparse.Action):
    """`-p NAME VALUE`, collected into a dict; a name that is given twice is a mistake."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: Any = None
    ) -> None:
        name, value = values
        pairs = getattr(namespace, self.dest)
        if name in pairs:
            parser.error(f"-p {name} is given twice")
        setattr(namespace, self.dest, {**pairs, name: value})

"""`replay`: play recorded calls again on the environments' own code, in a sandbox."""

import argparse
from typing import Any

from analysis.cli.shared import (
    COULD_NOT,
    LOST,
    OK,
    SOURCE,
    STATUSES,
    add_keep_going,
    add_run_options,
    add_sibling_options,
    address,
    complain,
    positive,
    say,
)
from analysis.cli.streams import tell

ABOUT = "play recorded calls again in a sandbox, and compare the results"
EPILOG = f"""\
examples:
  python -m analysis replay sample out/
  python -m analysis replay trajectories.json out/ --environments envs.json --scenarios scenarios.json
  python -m analysis replay hub:XXHStudyHard/EnvScaler-SFT-Traj-9K out/ --environments hub --scenarios hub --limit 100

Each trajectory starts from its scenario's initial state. Its calls are made again, each result is compared with the
recorded one, and the scenario's checks are asked of the final state. Environment code runs in a sandbox only (pip
install 'trajectory-notebooks[replay]'): it reaches no file, no network and nothing of this process. What the sandbox
cannot run is counted as not replayable, with the reason. After a difference, later calls are judged by the replayed
state. Writes OUT/replays, OUT/replayed_calls and OUT/replayed_checks as Parquet, and OUT/replay.json.
exit status: 0 all calls reproduced or not to be told · 1 a call differs, or a trajectory could not be replayed ·
{STATUSES}
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=SOURCE)
    parser.add_argument("out", metavar="OUT", type=address, help="folder to write")
    parser.add_argument("--limit", type=positive, default=0, metavar="N", help="replay the first N trajectories only")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.add_argument(
        "--dask", default="", metavar="ADDRESS", help="replay on a Dask cluster that reaches the source and the cache"
    )
    add_sibling_options(parser)
    add_keep_going(parser, "not replayable, or differ")
    add_run_options(parser)


def run(options: argparse.Namespace) -> int:
    """Replay a source; the status is 1 if a call differs or something could not be replayed, unless --keep-going."""
    from analysis.replay.run import write_replays  # noqa: PLC0415

    try:
        summary = write_replays(
            options.source,
            options.out,
            environments=options.environments,
            scenarios=options.scenarios,
            jobs=options.jobs,
            dask=options.dask,
            limit=options.limit,
            progress=not options.quiet,
        )
    except FileExistsError as error:
        return complain(error, COULD_NOT)
    _tell(summary, options)
    is_whole = summary["replayable"] == summary["trajectories"] and not summary["differing"]
    return OK if is_whole or options.keep_going else LOST


def _tell(summary: dict[str, Any], options: argparse.Namespace) -> None:
    """Print what came out; the reasons of what could not be replayed to stderr."""
    if options.json:
        import msgspec  # noqa: PLC0415

        tell(msgspec.json.format(msgspec.json.encode(summary), indent=2).decode())
    else:
        tell(_sentence(options.out, summary))
    for reason, trajectories in list(summary["reasons"].items())[:5]:
        say(f"{trajectories:,} not replayable: {reason}")


def _sentence(out: str, summary: dict[str, Any]) -> str:
    calls = summary["calls"] - summary["not_replayable_calls"]
    parts = [
        f"{out}: {summary['replayable']:,} of {summary['trajectories']:,} trajectories replayed",
        f"{summary['reproduced']:,} of {calls:,} calls reproduced",
        f"{summary['differing']:,} differ",
        f"{summary['untold']:,} cannot be told",
    ]
    if summary["checks"]:
        parts.append(f"{summary['checks_passed']:,} of {summary['checks']:,} checks passed")
    if summary["rewards_compared"]:
        parts.append(f"{summary['rewards_equal']:,} of {summary['rewards_compared']:,} rewards as recorded")
    return ", ".join(parts)

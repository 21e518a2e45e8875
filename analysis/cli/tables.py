"""`tables`: decode a source into Parquet tables, or say what the tables contain."""

import argparse
import os
import shutil
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

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
    say,
)
from analysis.cli.streams import tell

if TYPE_CHECKING:
    from concurrent.futures import Executor

ABOUT = "decode a source into Parquet tables"
EPILOG = f"""\
examples:
  python -m analysis tables trajectories.json out/
  python -m analysis tables 'runs/**/*.json' out/ --jobs 4
  python -m analysis tables 's3://bucket/runs/*.jsonl' s3://bucket/tables --dask tcp://scheduler:8786
  python -m analysis tables hub:XXHStudyHard/EnvScaler-SFT-Traj-9K out/ \\
      --environments hub:XXHStudyHard/EnvScaler-191-Env --scenarios hub:XXHStudyHard/EnvScaler-SFT-Scenario
  python -m analysis tables --dialects
  python -m analysis tables --describe tool_calls
  python -m analysis tables --describe tool_usage_busiest --json > schema.json

Writes OUT/<table>/*.parquet and then OUT/manifest.json. The number of records read is always the number kept plus the
number rejected. OUT can be used as a source. If a run is killed, the next run continues where it stopped.
exit status: 0 all records kept · 1 some rejected or lost · {STATUSES}
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", nargs="?", help=SOURCE)
    parser.add_argument(
        "out", metavar="OUT", nargs="?", type=address, help="folder to write, or any address that fsspec can write to"
    )
    parser.add_argument(
        "--describe",
        nargs="?",
        const="",
        metavar="TABLE",
        help="print what one table, or every table, contains, and do nothing else",
    )
    parser.add_argument("--json", action="store_true", help="with --describe: print JSON Schema")
    parser.add_argument(
        "--dialects", action="store_true", help="print the shapes of records that are read, and do nothing else"
    )
    parser.add_argument(
        "--keep-unread",
        action="store_true",
        help="keep records whose calls or texts could not be read, instead of rejecting them; reports say so",
    )
    add_sibling_options(parser)
    parser.add_argument(
        "--dask", default="", metavar="ADDRESS", help="decode on a Dask cluster, for example tcp://scheduler:8786"
    )
    add_keep_going(parser, "rejected or lost")
    add_run_options(parser)


def run(options: argparse.Namespace) -> int:
    """Decode a source into tables; the status is 1 if something was rejected or lost, unless --keep-going."""
    if options.describe is not None:
        return _describe(options.describe, as_json=options.json)
    if options.dialects:
        return _dialects()
    if not options.out:
        return complain("tables needs SOURCE and OUT, --describe or --dialects; see --help", COULD_NOT)
    try:
        manifest = _write(options)
    except FileExistsError as error:
        return complain(error, COULD_NOT)
    return _tell(manifest, options)


def _write(options: argparse.Namespace) -> dict[str, Any]:
    from analysis import processes  # noqa: PLC0415

    with _workers(options.source, options.jobs, options.dask) as workers:
        with processes.importing():  # half a second that --help does not spend
            from analysis.tables import write_tables  # noqa: PLC0415

        return write_tables(
            options.source,
            options.out,
            environments=options.environments,
            scenarios=options.scenarios,
            jobs=options.jobs,
            dask=options.dask,
            progress=not options.quiet,
            workers=workers,
            keep_unread=options.keep_unread,
        )


def _workers(source: str, jobs: int, dask: str) -> AbstractContextManager["Executor | None"]:
    """Processes that start while this one imports Polars, if the file is large enough for several."""
    from analysis import processes  # noqa: PLC0415

    size = os.path.getsize(source) if os.path.isfile(source) else 0  # noqa: PTH113, PTH202
    jobs = processes.worth(size, jobs)
    return processes.workers(jobs) if jobs > 1 and not dask else nullcontext()


def _tell(manifest: dict[str, Any], options: argparse.Namespace) -> int:
    """Print what was kept and what was not; return the exit status."""
    kept, rejected, records = manifest["kept"], manifest["rejected"], manifest["records_in"]
    tell(f"{options.out}: {records:,} records in = {kept:,} kept + {rejected:,} rejected")
    if rejected:
        folder = f"{options.out.rstrip('/')}/rejected"
        say(f"{rejected:,} of {records:,} records rejected; {folder} lists them all with the reasons, beginning with:")
        _tell_first_rejected(folder)
    if unread := manifest["kept_unread"]:
        say(f"{unread:,} of the records kept could not be read whole: their calls or texts are not counted")
    if skipped := manifest.get("skipped_files", 0):
        say(f"{skipped:,} files that look like data are not read; the manifest lists them, beginning with:")
        say("{name}: {reason}".format(**manifest["skipped"][0]))
    for damage in manifest["damage"]:
        say(f"{damage['origin']}: {damage['reason']}")
    return LOST if (rejected or manifest["damage"]) and not options.keep_going else OK


def _tell_first_rejected(folder: str, most: int = 5) -> None:
    from analysis.tables import places  # noqa: PLC0415

    for origin, reason in places.scan(folder).select("origin", "reason").head(most).collect().rows():
        say(f"{origin}: {reason}")


def _dialects() -> int:
    """Print the shapes of records that are read."""
    from analysis.records import words  # noqa: PLC0415

    tell(words.dialects(), end="")
    return OK


def _describe(name: str, *, as_json: bool) -> int:
    """Print the dictionary, or one table of it."""
    from analysis.nearest import hint  # noqa: PLC0415
    from analysis.reference import json_schema, words  # noqa: PLC0415

    published = json_schema.published()
    if name and name not in published:
        return complain(f"no table {name!r}; {hint(name, published)}", COULD_NOT)
    if as_json:
        tell(json_schema.text(published[name]) if name else json_schema.texts(), end="")
    else:
        width = shutil.get_terminal_size().columns
        tell(words.described(published[name], width) if name else words.all_described(width))
    return OK

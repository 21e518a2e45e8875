"""What subcommands share: exit statuses, messages, and options that mean the same everywhere."""

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from analysis.visible import one_line

OK, LOST, COULD_NOT, CANNOT_WRITE, INTERRUPTED, NOBODY_READS = (
    0,
    1,
    2,
    6,
    130,
    141,
)  # the last as a shell reports SIGPIPE

SOURCE = (
    "a file, a glob, a folder, an fsspec address, `sample`, hub:OWNER/NAME[@REVISION][:FILE], or - for standard input"
)
STATUSES = "2 could not run · 6 cannot write · 130 interrupted"


def complain(problem: object, status: int) -> int:
    """Print a problem; return the status that goes with it."""
    say(problem)
    return status


def say(message: object) -> None:
    """Print a message to stderr as one line, whatever it contains."""
    with suppress(OSError):  # nobody can be told
        print("analysis:", one_line(message), file=sys.stderr)


def say_lost(manifest: Mapping[str, Any]) -> bool:
    """Name what of a source cannot be read besides its records; was there any?"""
    damages = manifest.get("damage", ())
    for damage in damages:
        say(f"{damage['origin']}: {damage['reason']}")
    return bool(damages)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=positive, default=0, metavar="N", help="worker processes; default: one per core")
    parser.add_argument("--quiet", action="store_true", help="do not show progress")


def add_keep_going(parser: argparse.ArgumentParser, losses: str) -> None:
    parser.add_argument("--keep-going", action="store_true", help=f"exit with 0 even if records were {losses}")


def add_sibling_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--environments",
        default="",
        metavar="SOURCE",
        help="data set of the environments; `hub` means the one that belongs to the release",
    )
    parser.add_argument(
        "--scenarios",
        default="",
        metavar="SOURCE",
        help="data sets of the scenarios, separated by commas; `hub` as above",
    )


def add_against_option(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--against",
        default="",
        metavar="SOURCE",
        help=f"another set to hold it against, trajectories or a benchmark's tasks or tools: {what}",
    )


def add_replay_option(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--replay", action="store_true", help=f"play the calls again in a sandbox first: {what}; needs the sibling sets"
    )


def path(text: str) -> Path:
    """A path of this machine; `~` stands for the home folder, as it does unquoted in a shell.

    Raises:
        argparse.ArgumentTypeError: it names nothing.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name; name a file or folder, `.` for this folder")
    return Path(address(text))


def address(text: str) -> str:
    """The same for what may be an address."""
    return os.path.expanduser(text)  # noqa: PTH111  of an unknown user's home it leaves the text alone


def positive(text: str) -> int:
    """A whole number from 1.

    Raises:
        argparse.ArgumentTypeError: it is below 1.
        ValueError: it is no whole number.
    """
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return number

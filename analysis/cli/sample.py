"""`sample`: write a synthetic sample."""

import argparse

from analysis import sample
from analysis.cli.shared import COULD_NOT, OK, STATUSES, complain, path, positive
from analysis.cli.streams import tell

ABOUT = "write a synthetic sample to a file"
EPILOG = f"""\
examples:
  python -m analysis sample sample.json
  python -m analysis sample sample.jsonl --trajectories 50 --environments 5 --seed 3 --siblings siblings/
  python -m analysis sample big.json --trajectories 9022 --environments 140 --seed 1 --release-sizes

The same options always give the same bytes. If OUT ends in .jsonl, the sample is JSON Lines; otherwise it is one JSON
array.
exit status: 0 written · {STATUSES}
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    default = sample.DEFAULT
    parser.add_argument("out", metavar="OUT", type=path, help="file to write")
    for name, usual, meaning in (
        ("trajectories", default["trajectories"], "number of records"),
        ("environments", default["environments"], "number of different environments"),
    ):
        parser.add_argument(
            f"--{name}", type=positive, default=usual, metavar="N", help=f"{meaning}; default: %(default)s"
        )
    parser.add_argument("--seed", type=int, default=default["seed"], metavar="S", help="default: %(default)s")
    parser.add_argument(
        "--release-sizes", action="store_true", help="make reasoning as long as in the release, about 75 KB per record"
    )
    parser.add_argument(
        "--siblings", type=path, metavar="FOLDER", help="also write the environments and scenarios behind the sample"
    )


def run(options: argparse.Namespace) -> int:
    """Write a sample."""
    size: sample.Size = {
        "trajectories": options.trajectories,
        "environments": options.environments,
        "seed": options.seed,
    }
    try:
        sample.write(options.out, **size, release_sizes=options.release_sizes)
        if options.siblings:
            sample.write_siblings(options.siblings, **size)
    except ValueError as error:
        return complain(error, COULD_NOT)
    tell(f"{options.out}: {options.trajectories:,} synthetic records")
    return OK

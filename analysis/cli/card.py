"""`card`: write the statistics of a dataset card, or update them."""

import argparse
from datetime import date
from pathlib import Path

from analysis.cli.shared import (
    COULD_NOT,
    LOST,
    OK,
    SOURCE,
    STATUSES,
    add_run_options,
    add_sibling_options,
    address,
    complain,
    path,
    say,
    say_lost,
)
from analysis.cli.streams import tell

ABOUT = "write the statistics of a dataset card, or update them"
EPILOG = f"""\
examples:
  python -m analysis card trajectories.json README.md
  python -m analysis card trajectories.json README.md --name "Bank runs" --license mit --language en
  python -m analysis card trajectories.json README.md --tables tables/ --url https://example.org/bank --creator "ACME"

Writes OUT, and beside it statistics/*.svg and croissant.jsonld. If OUT exists, only the text between these two lines
changes, wherever you put them:
  <!-- trajectory-notebooks:begin -->
  <!-- trajectory-notebooks:end -->
and, in its front matter, the text between these two, which are optional:
  # trajectory-notebooks:begin
  # trajectory-notebooks:end
What can neither be measured nor taken from an option is left for the author to write, and listed. Details given once
are kept in later updates. --tables describes the columns of tables that `python -m analysis tables` wrote.
exit status: 0 written · 1 written, but a file of SOURCE cannot be read · {STATUSES}
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=SOURCE)
    parser.add_argument(
        "card",
        metavar="OUT",
        nargs="?",
        type=path,
        default=Path("card/README.md"),
        help="card to write or update; default: %(default)s",
    )
    parser.add_argument(
        "--tables",
        default="",
        type=address,
        metavar="FOLDER",
        help="also describe these tables of SOURCE; a folder below OUT's",
    )
    parser.add_argument("--name", default="", help="name of the data set")
    parser.add_argument(
        "--license", default="", metavar="ID", help="license as the hub names it, such as mit, or a URL"
    )
    parser.add_argument(
        "--language", dest="languages", action="append", default=[], metavar="CODE", help="such as en; can be repeated"
    )
    parser.add_argument("--url", default="", metavar="ADDRESS", help="web page of the data set")
    parser.add_argument("--creator", default="", metavar="NAME", help="organisation that made the data set")
    parser.add_argument(
        "--published", type=_date, default=argparse.SUPPRESS, metavar="DATE", help="publication date, as 2026-03-31"
    )
    parser.add_argument(
        "--data-version", dest="version", default="", metavar="VERSION", help="version of the data set, as 1.0.0"
    )
    parser.add_argument("--citation", default="", metavar="TEXT", help="how the data set is to be cited, as BibTeX")
    add_sibling_options(parser)
    add_run_options(parser)


def run(options: argparse.Namespace) -> int:
    """Write or update a dataset card."""
    from analysis.card import CardError, CardRequest, write  # noqa: PLC0415

    request = {name: getattr(options, name) for name in vars(CardRequest()) if hasattr(options, name)}
    try:
        made = write(CardRequest(**{**request, "languages": tuple(options.languages), "progress": not options.quiet}))
    except CardError as error:
        return complain(error, COULD_NOT)
    tell(f"{made.card}: written, with {len(made.files) - 1:,} files beside it")
    for note in made.notes:
        say(note)
    if made.left:
        say(f"left for the author to write: {', '.join(made.left)}; see --help")
    return LOST if say_lost(made.manifest) else OK


def _date(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a date; write it as 2026-03-31") from None

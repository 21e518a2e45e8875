"""The command line: one verb a task, each thin. `python -m analysis VERB --help` teaches with examples."""

import argparse
import errno
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from analysis import sample

if TYPE_CHECKING:
    from concurrent.futures import Executor

FULL = (errno.ENOSPC, errno.EDQUOT)
OK, LOST, COULD_NOT, CANNOT_WRITE, INTERRUPTED, NOBODY_READS = 0, 1, 2, 6, 130, 141  # as a shell says of SIGPIPE

# Those of analysis.export, which takes half a second to import; a test holds the two together.
EXPORT_FORMATS = ("messages", "sharegpt", "alpaca-mask-history", "parquet", "raw")
SOURCE = "a file, a glob, a folder, an fsspec address, `sample`, or hub:OWNER/NAME[@REVISION][:FILE]"
EPILOG = """\
examples:
  python -m analysis report                                   the bundled sample -> reports/html/index.html
  python -m analysis report trajectories.json                 the same for your records
  python -m analysis tables trajectories.json out/            tables as Parquet, for any tool
  python -m analysis tables --describe                        what every table and column holds
  python -m analysis export trajectories.json out/ --format sharegpt --validation 0.1
  python -m analysis card trajectories.json README.md         statistics of a dataset card, kept up to date
  python -m analysis sample big.json --trajectories 9022 --environments 140 --seed 1
  python -m analysis VERB --help                              what a verb takes, with examples

Decoded tables are kept in $TRAJECTORY_CACHE (or ~/.cache/trajectory-notebooks) and found again by content.
"""
TABLES = """\
examples:
  python -m analysis tables trajectories.json out/
  python -m analysis tables 'runs/**/*.json' out/ --jobs 4
  python -m analysis tables 's3://bucket/runs/*.jsonl' s3://bucket/tables --dask tcp://scheduler:8786
  python -m analysis tables hub:XXHStudyHard/EnvScaler-SFT-Traj-9K out/ \\
      --environments hub:XXHStudyHard/EnvScaler-191-Env --scenarios hub:XXHStudyHard/EnvScaler-SFT-Scenario
  python -m analysis tables --describe tool_calls
  python -m analysis tables --describe tool_usage_busiest --json > schema.json

writes OUT/<table>/*.parquet and, last of all, OUT/manifest.json. Records in = kept + rejected, always. OUT is then a
source like any other. A run that was killed goes on where it stopped.
exit status: 0 all kept · 1 something was rejected or lost · 2 could not run · 6 cannot write · 130 interrupted
"""
EXPORT = """\
examples:
  python -m analysis export trajectories.json chat/ --format messages
  python -m analysis export trajectories.json split/ --format sharegpt --validation 0.1 --by environment --seed 7
  python -m analysis export trajectories.json sft/ --format alpaca-mask-history \\
      --where "traj_type = 'non_conversation' AND end_class = 'completed_marker' AND steps BETWEEN 5 AND 25"
  python -m analysis export 'runs/*.json' kept/ --format raw --where "total_reward = 1 AND rules NOT LIKE '%call%'"

formats:
  messages             OpenAI chat, as TRL takes it; tools and arguments are JSON texts
  sharegpt             LlamaFactory's ShareGPT: human, gpt, function_call, observation; with its dataset_info.json
  alpaca-mask-history  a row per assistant turn, thoughts out of the history: train with mask_history: true
  parquet              the rows of messages as Parquet; an absent key is a null
  raw                  the records' own bytes, in the layout of their source

writes OUT/train.*, OUT/validation.* and OUT/manifest.json. Records in = exported + filtered + refused + rejected,
always; a record that a format cannot hold is refused, and the manifest names it with the rule.

--where is SQL over one row of the trajectories table (`python -m analysis tables --describe` explains it), with the
number of its findings, the rules they break, and its failed calls: and, or, not, in, like, between, is null, case, ~
for regular expressions, functions of texts and numbers. Its columns:
  trajectory_id origin dialect traj_type env_id task_id task steps assistant_messages user_messages tool_messages
  tool_calls tools_offered tools_used tool_set end_class reasoning_messages total_reward trial model record_bytes
  findings rules failed_calls

exit status: 0 all went · 1 a record was refused, rejected or lost · 2 could not run · 6 cannot write · 130 interrupted
"""
CHECK = """\
examples:
  python -m analysis check trajectories.json
  python -m analysis check trajectories.json --gate gate.toml --baseline last_release.json
  python -m analysis check 'runs/*.json' --sarif findings.sarif --json > checks.json
  python -m analysis check --quantities                       what a gate can put a bound on

A gate is a TOML file; without one, the bounds a set made like the release should keep. A baseline is another source
that nothing may be much worse than. SARIF lists findings and rejected records with their byte offset and line.
exit status: 0 all bounds hold · 1 one falls short · 2 could not run · 6 cannot write · 130 interrupted
"""
CARD = """\
examples:
  python -m analysis card trajectories.json README.md
  python -m analysis card trajectories.json README.md --name "Bank runs" --license mit --language en
  python -m analysis card trajectories.json README.md --tables tables/ --url https://example.org/bank --creator "ACME"

writes OUT, statistics/*.svg and croissant.jsonld beside it. A card that is there already keeps every byte outside of
  <!-- trajectory-notebooks:begin --> … <!-- trajectory-notebooks:end -->
and, in its front matter, outside of
  # trajectory-notebooks:begin … # trajectory-notebooks:end
Put the first two lines where the statistics shall stand; the other two are optional. What no measure tells, and no
option gives, is left to the author and named; what was given once is kept. --tables describes the columns of what
`python -m analysis tables` wrote.
exit status: 0 written · 2 could not run · 6 cannot write · 130 interrupted
"""
SAMPLE = """\
examples:
  python -m analysis sample sample.json
  python -m analysis sample sample.jsonl --trajectories 50 --environments 5 --seed 3 --siblings siblings/
  python -m analysis sample big.json --trajectories 9022 --environments 140 --seed 1 --release-sizes

The same numbers give the same bytes. OUT ending in .jsonl becomes JSON Lines, any other name one JSON array.
"""
REPORT = """\
examples:
  python -m analysis report                                   every report on the bundled sample
  python -m analysis report trajectories.json --only tool_usage -p top 30
  python -m analysis report trajectories.json -p traj_type conversation --out talks/
  python -m analysis report trajectories.json --only tool_usage --each env_id --jobs 4
  python -m analysis report trajectories.json --only transcripts --each trajectory_id    a page for each to read

A parameter goes to the notebooks that know it; a name none of them knows is refused, with the nearest.
SOURCE_DATE_EPOCH sets the date on the pages: the same inputs then give the same bytes.
exit status: 0 all made · 1 a cell failed, or several kinds of failure · 2 could not run · 3 a kernel died ·
             4 a cell took too long · 5 no such kernel · 6 cannot write · 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; what a person can mend is one line on stderr."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except _mendable() as error:
        return _complain(error, COULD_NOT)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and error.filename is None:
            # Whoever reads has seen enough, as `head` does: there is nobody to tell, and nothing went wrong here.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return NOBODY_READS
        return _complain(_cannot_write(error), CANNOT_WRITE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    return status


def _mendable() -> tuple[type[Exception], ...]:
    """Errors of the source or of its tables; asked for when there is one, because they come with Polars."""
    from analysis.schema import SchemaError  # noqa: PLC0415
    from analysis.sources import SourceError  # noqa: PLC0415

    return SchemaError, SourceError


def tables(options: argparse.Namespace) -> int:
    """Decode a source into tables; 1 when something was rejected or lost, unless that is asked to be borne."""
    if options.describe is not None:
        return _describe(options.describe, as_json=options.json)
    if not options.out:
        return _complain("tables takes SOURCE and OUT, or --describe; see --help", COULD_NOT)
    from analysis import processes  # noqa: PLC0415

    try:
        with _workers(options.source, options.jobs, options.dask) as workers:
            with processes.importing():  # half a second that --help need not pay
                from analysis.tables import write_tables  # noqa: PLC0415

            manifest = write_tables(
                options.source,
                options.out,
                environments=options.environments,
                scenarios=options.scenarios,
                jobs=options.jobs,
                dask=options.dask,
                progress=not options.quiet,
                workers=workers,
            )
    except FileExistsError as error:
        return _complain(error, COULD_NOT)
    kept, rejected, records = manifest["kept"], manifest["rejected"], manifest["records_in"]
    print(f"{options.out}: {records:,} records in = {kept:,} kept + {rejected:,} rejected")
    if rejected:
        where = f"{options.out.rstrip('/')}/rejected"
        _say(f"{rejected:,} of {records:,} records rejected; all with their reasons in {where}:")
        _say_first_rejected(where)
    for damage in manifest["damage"]:
        _say(f"{damage['origin']}: {damage['reason']}")
    return LOST if (rejected or manifest["damage"]) and not options.keep_going else OK


def _workers(source: str, jobs: int, dask: str) -> AbstractContextManager["Executor | None"]:
    """Processes that start while this one imports Polars, for a file that is worth more than one."""
    from analysis import processes  # noqa: PLC0415

    size = os.path.getsize(source) if os.path.isfile(source) else 0  # noqa: PTH113, PTH202
    jobs = processes.worth(size, jobs)
    return processes.workers(jobs) if jobs > 1 and not dask else nullcontext()


def _describe(name: str, *, as_json: bool) -> int:
    """Print the dictionary, or one table of it."""
    from analysis.nearest import hint  # noqa: PLC0415
    from analysis.reference import json_schema, words  # noqa: PLC0415

    known = json_schema.published()
    if name and name not in known:
        return _complain(f"no table {name!r}; {hint(name, known)}", COULD_NOT)
    if as_json:
        print(json_schema.text(known[name]) if name else json_schema.texts(), end="")
    else:
        width = shutil.get_terminal_size().columns
        print(words.described(known[name], width) if name else words.all_described(width))
    return OK


def _say_first_rejected(folder: str, most: int = 5) -> None:
    from analysis.tables import places  # noqa: PLC0415

    for origin, reason in places.scan(folder).select("origin", "reason").head(most).collect().rows():
        _say(f"{origin}: {reason}")


def export(options: argparse.Namespace) -> int:
    """Write chosen records for another tool; 1 when one was refused, rejected or lost, unless that may be."""
    from analysis.export import ExportError, Request  # noqa: PLC0415
    from analysis.export import export as run  # noqa: PLC0415

    chosen = {name: getattr(options, name) for name in ("source", "out", "shape", "where", "validation", "by", "seed")}
    try:
        manifest = run(Request(**chosen, jobs=options.jobs, progress=not options.quiet))
    except ExportError as error:
        return _complain(error, COULD_NOT)
    print(
        f"{options.out}: {manifest['records_in']:,} records in = {manifest['exported']:,} exported + "
        f"{manifest['filtered']:,} filtered + {manifest['refused']:,} refused + {manifest['rejected']:,} rejected"
    )
    for name, part in manifest["splits"].items():
        print(
            f"  {name}: {part['records']:,} records, {part['rows']:,} rows, {part['scenarios']:,} scenarios, "
            f"{part['environments']:,} environments: {', '.join(part['files'])}"
        )
    for change, count in manifest["changes"].items():
        print(f"  changed: {count:,} {change}")
    for rule, count in manifest["refusals"].items():
        _say(f"{count:,} refused, {rule}; each is named in {options.out / 'manifest.json'}")
    if manifest["rejected"]:
        _say(f"{manifest['rejected']:,} rejected; `python -m analysis tables` names each with its reason")
    for damage in manifest["damage"]:
        _say(f"{damage['origin']}: {damage['reason']}")
    near = manifest.get("leaks", {}).get("near_duplicate_tasks", 0)
    if near:
        _say(f"{near:,} pairs of tasks read nearly the same on both sides of the split; see leaks in the manifest")
    lost = manifest["refused"] or manifest["rejected"] or manifest["damage"]
    return LOST if lost and not options.keep_going else OK


def check(options: argparse.Namespace) -> int:
    """Hold a source against a gate; 1 when a bound falls short."""
    import msgspec  # noqa: PLC0415

    from analysis import gate  # noqa: PLC0415
    from analysis.gate import QUANTITIES, sarif, text  # noqa: PLC0415
    from analysis.tables import load  # noqa: PLC0415
    from analysis.tables.places import write_bytes  # noqa: PLC0415

    if options.quantities:
        for name, quantity in QUANTITIES.items():
            print(f"{name:28} {quantity.meaning} ({'less' if quantity.is_less_better else 'more'} is better)")
        return OK
    if not options.sources:
        return _complain("check what? Name a source, or ask for --quantities", COULD_NOT)
    try:
        bounds = gate.read(options.gate) if options.gate else gate.read()
    except gate.GateError as error:
        return _complain(error, COULD_NOT)
    how: dict[str, Any] = {"jobs": options.jobs, "progress": not options.quiet}
    baseline = load(options.baseline, **how) if options.baseline else None
    judged = []
    for source in options.sources:
        data = load(source, environments=options.environments, scenarios=options.scenarios, **how)
        judged.append((data, gate.check(data, bounds, baseline)))
    if options.sarif:
        log = msgspec.json.encode(sarif.log(judged, most=options.most))
        write_bytes(str(options.sarif), msgspec.json.format(log, indent=1))
    if options.json:
        outcomes = [
            {"source": data.source, "content_hash": data.manifest["content_hash"], "checks": checks}
            for data, checks in judged
        ]
        print(msgspec.json.format(msgspec.json.encode(outcomes)).decode())
    for data, checks in judged:
        if not options.json:
            print(text.table(checks))
        _say(f"{data.source}: {text.summary(checks)}")
    return LOST if any(gate.failed(checks) for _, checks in judged) else OK


def card(options: argparse.Namespace) -> int:
    """Write or renew a dataset card."""
    from analysis.card import CardError, Request, write  # noqa: PLC0415

    chosen = {name: getattr(options, name) for name in vars(Request()) if hasattr(options, name)}
    try:
        made = write(Request(**{**chosen, "languages": tuple(options.languages), "progress": not options.quiet}))
    except CardError as error:
        return _complain(error, COULD_NOT)
    print(f"{made.card}: written, with {len(made.files) - 1:,} files beside it")
    for note in made.notes:
        _say(note)
    if made.left:
        _say(f"left to the author: {', '.join(made.left)}; see --help")
    return OK


def write_sample(options: argparse.Namespace) -> int:
    """Play a sample."""
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
        return _complain(error, COULD_NOT)
    print(f"{options.out}: {options.trajectories:,} synthetic records")
    return OK


def report(options: argparse.Namespace) -> int:
    """Make the reports."""
    from analysis.parameters import ParameterError  # noqa: PLC0415
    from analysis.report import kernels  # noqa: PLC0415

    if options.engine in (None, kernels.WARM):
        kernels.warm_up()  # imports while this process does; a refusal below has lost nothing by it
    from analysis.report.run import Request, run  # noqa: PLC0415  papermill and nbconvert take seconds

    chosen = {name: value for name in vars(Request()) if (value := getattr(options, name, None)) is not None}
    try:
        result = run(Request(**{**chosen, "only": tuple(options.only), "progress": not options.quiet}))
    except ParameterError as error:
        return _complain(error, COULD_NOT)
    for name, failure in result.failures.items():
        _say(f"{name}: {failure.message}")
    for entry in result.entries:
        if entry.state == "skipped":
            print(f"{entry.name} left out: {entry.message}")
    made = sum(entry.state == "made" for entry in result.entries)
    print(f"{made:,} of {len(result.entries):,} reports made: {result.index}")
    return result.status


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m analysis",
        description="Tables and reports of tool-use trajectories.",
        epilog=EPILOG,
        formatter_class=form,
    )
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    for name, run, about, epilog, options in (
        ("tables", tables, "decode a source into Parquet tables", TABLES, _table_options),
        ("export", export, "choose, split and write records for other tools", EXPORT, _export_options),
        ("check", check, "hold a source against a gate, for pipelines", CHECK, _check_options),
        ("card", card, "write or renew a dataset card's statistics", CARD, _card_options),
        ("sample", write_sample, "play a synthetic sample into a file", SAMPLE, _sample_options),
        ("report", report, "execute the notebooks and write one HTML file each", REPORT, _report_options),
    ):
        verb = verbs.add_parser(name, help=about, description=about, epilog=epilog, formatter_class=form)
        verb.set_defaults(run=run)
        options(verb)
    return parser


def _table_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("source", metavar="SOURCE", nargs="?", help=SOURCE)
    verb.add_argument("out", metavar="OUT", nargs="?", help="folder to write, or any address fsspec writes to")
    verb.add_argument(
        "--describe", nargs="?", const="", metavar="TABLE", help="say what the tables hold, or one, and do nothing else"
    )
    verb.add_argument("--json", action="store_true", help="with --describe: as JSON Schema")
    _sibling_options(verb)
    verb.add_argument("--jobs", type=_positive, default=0, metavar="N", help="processes; default: one a core")
    verb.add_argument(
        "--dask", default="", metavar="ADDRESS", help="decode on a Dask cluster, e.g. tcp://scheduler:8786"
    )
    verb.add_argument("--keep-going", action="store_true", help="exit with 0 even when records were rejected or lost")
    verb.add_argument("--quiet", action="store_true", help="no progress bar")


def _export_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("source", metavar="SOURCE", help=SOURCE)
    verb.add_argument("out", metavar="OUT", type=Path, help="folder to write")
    verb.add_argument("--format", dest="shape", required=True, choices=EXPORT_FORMATS, help="what to write")
    verb.add_argument(
        "--where", default="", metavar="EXPR", help="condition a record has to meet; default: all records"
    )
    verb.add_argument(
        "--validation", type=float, default=0.0, metavar="SHARE", help="share to hold out, e.g. 0.1; default: none"
    )
    verb.add_argument(
        "--by",
        choices=("scenario", "environment"),
        default="scenario",
        help="what is never split between train and validation; default: %(default)s",
    )
    verb.add_argument("--seed", type=int, default=0, metavar="S", help="of the split; default: %(default)s")
    verb.add_argument("--jobs", type=_positive, default=0, metavar="N", help="processes; default: one a core")
    verb.add_argument(
        "--keep-going", action="store_true", help="exit with 0 even when records were refused or rejected"
    )
    verb.add_argument("--quiet", action="store_true", help="no progress bar")


def _check_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("sources", metavar="SOURCE", nargs="*", help=f"{SOURCE}; each is judged by itself")
    verb.add_argument(
        "--gate", type=Path, metavar="FILE", help="bounds to keep; default: those of a set like the release"
    )
    verb.add_argument("--baseline", default="", metavar="SOURCE", help="nothing may be much worse than in this one")
    verb.add_argument("--json", action="store_true", help="write the outcome as JSON")
    verb.add_argument("--sarif", type=Path, metavar="FILE", help="write findings and outcome as SARIF 2.1.0, too")
    verb.add_argument(
        "--most",
        type=_positive,
        default=100,
        metavar="N",
        help="findings a rule in the SARIF file; default: %(default)s",
    )
    verb.add_argument(
        "--quantities", action="store_true", help="say what a gate can put a bound on, and do nothing else"
    )
    _sibling_options(verb)
    verb.add_argument("--jobs", type=_positive, default=0, metavar="N", help="processes; default: one a core")
    verb.add_argument("--quiet", action="store_true", help="no progress bar")


def _card_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("source", metavar="SOURCE", help=SOURCE)
    verb.add_argument(
        "card",
        metavar="OUT",
        nargs="?",
        type=Path,
        default=Path("card/README.md"),
        help="card to write or renew; default: %(default)s",
    )
    verb.add_argument(
        "--tables", default="", metavar="FOLDER", help="describe these tables of SOURCE, too; they stand below OUT"
    )
    verb.add_argument("--name", default="", help="what the data set is called")
    verb.add_argument("--license", default="", metavar="ID", help="as the hub names it, e.g. mit; or its address")
    verb.add_argument(
        "--language", dest="languages", action="append", default=[], metavar="CODE", help="e.g. en; may be repeated"
    )
    verb.add_argument("--url", default="", metavar="ADDRESS", help="page of the data set")
    verb.add_argument("--creator", default="", metavar="NAME", help="organisation that made it")
    verb.add_argument(
        "--published", type=_date, default=argparse.SUPPRESS, metavar="DATE", help="day of publication: 2026-03-31"
    )
    _sibling_options(verb)
    verb.add_argument("--jobs", type=_positive, default=0, metavar="N", help="processes; default: one a core")
    verb.add_argument("--quiet", action="store_true", help="no progress bar")


def _sample_options(verb: argparse.ArgumentParser) -> None:
    default = sample.DEFAULT
    verb.add_argument("out", metavar="OUT", type=Path, help="file to write")
    for name, usual, meaning in (
        ("trajectories", default["trajectories"], "records to play"),
        ("environments", default["environments"], "different environments to play them in"),
    ):
        verb.add_argument(
            f"--{name}", type=_positive, default=usual, metavar="N", help=f"{meaning}; default: %(default)s"
        )
    verb.add_argument("--seed", type=int, default=default["seed"], metavar="S", help="default: %(default)s")
    verb.add_argument(
        "--release-sizes", action="store_true", help="reasoning as long as the release's, about 75 KB a record"
    )
    verb.add_argument(
        "--siblings", type=Path, metavar="FOLDER", help="write the environments and scenarios behind it, too"
    )


def _report_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("source", metavar="SOURCE", nargs="?", default="sample", help=f"{SOURCE}; default: sample")
    verb.add_argument("--only", action="append", default=[], metavar="NAME", help="this report only; may be repeated")
    verb.add_argument(
        "-p", dest="parameters", action=_Pairs, nargs=2, default={}, metavar=("NAME", "VALUE"),
        help="a notebook's parameter; may be repeated",
    )  # fmt: skip
    verb.add_argument(
        "--each", default="", metavar="COLUMN", help="a page per value of it, e.g. env_id, and an overview"
    )
    _sibling_options(verb)
    verb.add_argument("--out", type=Path, metavar="DIR", help="folder of the pages; default: reports/html")
    verb.add_argument("--executed", type=Path, metavar="DIR", help="executed notebooks; default: reports/executed")
    verb.add_argument(
        "--suite", type=Path, metavar="FILE", help="declaration of the reports; default: reports/suite.toml"
    )
    verb.add_argument("--jobs", type=_positive, metavar="N", help="notebooks at a time; default: one more than cores")
    verb.add_argument("--timeout", type=_positive, metavar="S", help="seconds a cell may take; default: 600")
    verb.add_argument("--engine", metavar="NAME", help="papermill engine to execute with")
    verb.add_argument("--quiet", action="store_true", help="no progress bar")


def _sibling_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--environments", default="", metavar="SOURCE", help="sibling set of environments; `hub`: the release's there"
    )
    verb.add_argument(
        "--scenarios", default="", metavar="SOURCE", help="sibling sets of scenarios, separated by commas; or `hub`"
    )


class _Pairs(argparse.Action):
    """`-p NAME VALUE`, collected into a dict; a name given twice is a mistake."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: Any = None
    ) -> None:
        name, value = values
        pairs = getattr(namespace, self.dest)
        if name in pairs:
            parser.error(f"-p {name} is given twice")
        setattr(namespace, self.dest, {**pairs, name: value})


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return number


def _date(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: no day; write it as 2026-03-31") from None


def _cannot_write(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    remedy = "; free some and run again: it goes on where it stopped" if error.errno in FULL else ""
    return f"{where}{error.strerror or error}{remedy}"


def _complain(problem: object, status: int) -> int:
    _say(problem)
    return status


def _say(problem: object) -> None:
    """One line, whatever the message holds."""
    print("analysis:", " ".join(str(problem).split()), file=sys.stderr)


def _leave(status: int) -> NoReturn:
    """End the process at once: to take down what it imported, module by module, takes a tenth of a second.

    Not where kernels have run, whose server is to be ended, nor where what was printed has not arrived.
    """
    if "analysis.report.kernels" not in sys.modules:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    _leave(main())

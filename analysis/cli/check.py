"""`check`: test a source against the limits of a gate."""

import argparse
from pathlib import Path
from typing import Any

from analysis.cli.shared import (
    COULD_NOT,
    LOST,
    OK,
    SOURCE,
    STATUSES,
    add_against_option,
    add_replay_option,
    add_run_options,
    add_sibling_options,
    complain,
    path,
    positive,
    say,
    say_lost,
)
from analysis.cli.streams import tell
from analysis.visible import visible_json

ABOUT = "test a source against limits, for pipelines"
EPILOG = f"""\
examples:
  python -m analysis check trajectories.json
  python -m analysis check trajectories.json --gate gate.toml --baseline last_release.json
  python -m analysis check 'runs/*.json' --sarif findings.sarif --json > checks.json
  python -m analysis check --quantities                       quantities that a gate can limit

A gate is a TOML file of limits. Without one, `check` uses limits that suit a data set like the release. A baseline is
another source; no quantity may be much worse than in it. SARIF lists findings and rejected records with their byte
offset and line.
exit status: 0 no limit is broken · 1 one is broken, or a file cannot be read · {STATUSES}
A source from which nothing was read, or of which no limit is known, is no pass: that is 2.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", metavar="SOURCE", nargs="*", help=f"{SOURCE}; each source is tested on its own")
    parser.add_argument(
        "--gate", type=path, metavar="FILE", help="limits; default: those for a data set like the release"
    )
    parser.add_argument(
        "--baseline", default="", metavar="SOURCE", help="source to compare with: no quantity may be much worse"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.add_argument("--sarif", type=path, metavar="FILE", help="also write findings and outcome as SARIF 2.1.0")
    parser.add_argument(
        "--most",
        type=positive,
        default=100,
        metavar="N",
        help="at most this many findings per rule in the SARIF file; default: %(default)s",
    )
    parser.add_argument(
        "--quantities", action="store_true", help="list the quantities that a gate can limit, and do nothing else"
    )
    add_sibling_options(parser)
    add_against_option(parser, "for overlap_tasks_share and overlap_tools_share")
    add_replay_option(parser, "for reproduced_share, checks_passed_share and agreement_share")
    add_run_options(parser)


def run(options: argparse.Namespace) -> int:
    """Test sources against a gate; the status is 1 if a limit is broken."""
    from analysis import gate  # noqa: PLC0415

    if options.quantities:
        return _list_quantities()
    if not options.sources:
        return complain("check needs a SOURCE, or --quantities; see --help", COULD_NOT)
    try:
        bounds = gate.read(options.gate) if options.gate else gate.read()
    except gate.GateError as error:
        return complain(error, COULD_NOT)
    try:
        judged = _judge(options, bounds)
    except gate.GateError as error:
        return complain(error, COULD_NOT)
    if options.sarif:
        _write_sarif(options.sarif, judged, options.most)
    _print(judged, as_json=options.json)
    outcomes = {gate.outcome(checks) for _, checks in judged}
    is_lost = max([say_lost(data.manifest) for data, _ in judged])
    return LOST if "falls short" in outcomes else COULD_NOT if "not known" in outcomes else LOST if is_lost else OK


def _list_quantities() -> int:
    from analysis.gate import QUANTITIES  # noqa: PLC0415

    for name, quantity in QUANTITIES.items():
        tell(f"{name:28} {quantity.meaning} ({'less' if quantity.is_less_better else 'more'} is better)")
    return OK


def _judge(options: argparse.Namespace, bounds: Any) -> list[tuple[Any, Any]]:
    """Each source with its checks."""
    from analysis import gate  # noqa: PLC0415
    from analysis.tables import load  # noqa: PLC0415

    how: dict[str, Any] = {"jobs": options.jobs, "progress": not options.quiet}
    baseline = load(options.baseline, **how) if options.baseline else None
    if baseline:
        gate.refuse_unread(baseline)
    judged = []
    for source in options.sources:
        siblings = {"environments": options.environments, "scenarios": options.scenarios}
        data = load(source, **siblings, replay=options.replay, against=options.against, **how)
        gate.refuse_unread(data)
        judged.append((data, gate.check(data, bounds, baseline)))
    return judged


def _write_sarif(path: Path, judged: list[tuple[Any, Any]], most: int) -> None:
    import msgspec  # noqa: PLC0415

    from analysis.gate import sarif  # noqa: PLC0415
    from analysis.tables.places import write_bytes  # noqa: PLC0415

    log = msgspec.json.encode(sarif.log(judged, most=most))
    write_bytes(str(path), msgspec.json.format(log, indent=1))


def _print(judged: list[tuple[Any, Any]], *, as_json: bool) -> None:
    import msgspec  # noqa: PLC0415

    from analysis import gate  # noqa: PLC0415
    from analysis.gate import text  # noqa: PLC0415

    if as_json:
        outcomes = [
            {
                "source": data.source,
                "content_hash": data.manifest["content_hash"],
                "verdict": gate.outcome(checks),
                "counts": gate.counts(checks),
                "damage": data.manifest.get("damage", []),
                "checks": checks,
            }
            for data, checks in judged
        ]
        tell(visible_json(msgspec.json.format(msgspec.json.encode(outcomes)).decode()))
    for data, checks in judged:
        if not as_json:
            tell(text.table(checks))
        no_pass = "" if gate.outcome(checks) != "not known" else "; no limit is known, so it does not pass"
        say(f"{data.source}: {text.summary(checks)}{no_pass}")

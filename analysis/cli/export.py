"""`export`: filter, split and write records for other tools."""

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
    add_keep_going,
    add_replay_option,
    add_run_options,
    add_sibling_options,
    complain,
    path,
    positive,
    say,
)
from analysis.cli.streams import tell

# The formats of analysis.export, which takes half a second to import; a test compares the two.
FORMATS = ("messages", "openai", "atif", "sharegpt", "alpaca-mask-history", "parquet", "raw")

LIMITS = {
    "per_scenario": "records of one scenario and mode, at most",
    "per_environment": "records of one environment, at most",
    "diverse": "so many records, one by one those with most tools, pairs of tools and parameters that none before has",
    "budget": "tokens of all records together, at most",
}

ABOUT = "filter, split and write records for other tools"
EPILOG = f"""\
examples:
  python -m analysis export trajectories.json chat/ --format messages
  python -m analysis export trajectories.json split/ --format sharegpt --validation 0.1 --by environment --seed 7
  python -m analysis export trajectories.json sft/ --format alpaca-mask-history \\
      --where "traj_type = 'non_conversation' AND end_class = 'completed_marker' AND steps BETWEEN 5 AND 25"
  python -m analysis export trajectories.json masked/ --format openai --mask errors,unrun,repeats
  python -m analysis export trajectories.json small/ --format messages --drop-copies --per-scenario 2 --diverse 500
  python -m analysis export trajectories.json again/ --like small/manifest.json
  python -m analysis export rl.json passed/ --format messages --replay --environments envs.json \\
      --scenarios scenarios.json --where "checks > 0 AND checks_passed = checks"
  python -m analysis export 'runs/*.json' kept/ --format raw --where "total_reward = 1 AND rules NOT LIKE '%call%'"

formats:
  messages             OpenAI chat messages, as TRL reads them; tools and arguments are JSON texts
  openai               the same with ids and types throughout, for APIs that insist on them; tools are objects
  atif                 Agent Trajectory Interchange Format: steps with calls and observations
  sharegpt             ShareGPT for LlamaFactory: human, gpt, function_call, observation; with its dataset_info.json
  alpaca-mask-history  one row per assistant turn, without reasoning in the history: train with mask_history: true
  parquet              the rows of `messages` as Parquet; an absent key is null
  raw                  the bytes of the records, in the layout of their source

--mask says of assistant messages that nothing is learned from them; they stay in the context. `errors`: the message's
only call fails. `unrun`: its only call has no result. `repeats`: its only call was made before, with the same arguments
and result. What recovers from an error is learned. Messages get `loss_mask` 0 or 1 in messages and parquet, `weight` in
openai, `loss` in sharegpt; alpaca-mask-history leaves such turns out as samples. The manifest counts messages and
supervised tokens for each rule.

Writes OUT/train.*, OUT/validation.* and OUT/manifest.json. The number of records read is always the number exported,
filtered out, refused and rejected. A record that a format cannot represent is refused; the manifest gives the rule.

--where is an SQL condition on one row of the trajectories table (`python -m analysis tables --describe trajectories`
explains its columns), extended by the number of findings, the rules they break, and the number of failed calls. It can
use and, or, not, in, like, between, is null, case, ~ for regular expressions, and functions of texts and numbers.
Its columns:
  trajectory_id origin dialect traj_type env_id task_id task steps assistant_messages user_messages tool_messages
  tool_calls tools_offered tools_used tool_set end_class reasoning_messages total_reward trial model record_bytes
  findings rules failed_calls unanswered_calls refused_arguments is_copy loops tokens overlaps reproduced differing
  untold first_difference changes changes_read_back checks checks_passed reward

`is_copy` is true of a trajectory that does what an earlier one does. `tokens` are those of Qwen3, rendered once; naming
them has them counted, which takes a while on a large set. `overlaps` is true of a trajectory whose task the set of
--against has, too, or nearly: --where "NOT overlaps" leaves out what is like a benchmark. The columns from `reproduced`
on are known after a replay only: with --replay, of trajectories that could be played.

--redact replaces what may be a secret or personal data by its kind, such as [e-mail], in every text of a row: keys by
their published prefixes, passwords by the name they are given under, e-mail addresses, phone and card numbers, made up
or not. What has no such form stays: names, postal addresses, keys without a prefix. `raw` is refused.

exit status: 0 everything exported or filtered · 1 a record was refused, rejected or lost · {STATUSES}
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=SOURCE)
    parser.add_argument("out", metavar="OUT", type=path, help="folder to write")
    parser.add_argument("--format", dest="shape", choices=FORMATS, help="what to write; needed without --like")
    parser.add_argument(
        "--like",
        type=path,
        metavar="MANIFEST",
        help="repeat the export with this manifest, of the same contents: format, condition, limits, mask, split, seed",
    )
    parser.add_argument(
        "--where", default="", metavar="EXPR", help="export only records that meet this condition; default: all records"
    )
    parser.add_argument(
        "--mask",
        default="",
        metavar="RULES",
        help="messages that nothing is learned from: errors, unrun, repeats, one or several between commas",
    )
    limits = parser.add_argument_group(
        "limits", "taken in this order, after --where; --seed gives the order of records"
    )
    limits.add_argument("--drop-copies", action="store_true", help="leave out what does what an earlier record does")
    for name, what in LIMITS.items():
        limits.add_argument(f"--{name.replace('_', '-')}", type=positive, default=0, metavar="N", help=what)
    parser.add_argument(
        "--validation", type=float, default=0.0, metavar="SHARE", help="share to hold out, such as 0.1; default: none"
    )
    parser.add_argument(
        "--by",
        choices=("scenario", "environment"),
        default="scenario",
        help="keep all records of one scenario, or environment, on the same side of the split; default: %(default)s",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="seed of limits and split; default: %(default)s"
    )
    parser.add_argument(
        "--redact", action="store_true", help="replace what may be secrets or personal data; the manifest counts it"
    )
    add_sibling_options(parser)
    add_against_option(parser, "for the column overlaps of --where")
    add_replay_option(parser, "for the columns of --where that only a replay knows")
    add_keep_going(parser, "refused, rejected or lost")
    add_run_options(parser)


def run(options: argparse.Namespace) -> int:
    """Write the records; the status is 1 if one was refused, rejected or lost, unless --keep-going."""
    from analysis.export import ExportError, ExportRequest, Limits, export, read_request, rules_of  # noqa: PLC0415

    if not options.shape and not options.like:
        return complain("export needs --format, or --like MANIFEST; see --help", COULD_NOT)
    names = (
        "source",
        "out",
        "shape",
        "where",
        "validation",
        "by",
        "seed",
        "jobs",
        "environments",
        "scenarios",
        "replay",
        "redact",
        "against",
    )
    request = {name: getattr(options, name) for name in names}
    limits = {name: getattr(options, name) for name in ("drop_copies", *LIMITS)}
    try:
        request |= {"mask": rules_of(options.mask), "limits": Limits(**limits)}
        if options.like:
            _refuse_what_is_repeated(options)
            request |= read_request(options.like)
        manifest = export(ExportRequest(**request, progress=not options.quiet))
    except ExportError as error:
        return complain(error, COULD_NOT)
    _tell_exported(manifest, options.out)
    _tell_lost(manifest, options.out)
    lost = manifest["refused"] or manifest["rejected"] or manifest["damage"]
    return LOST if lost and not options.keep_going else OK


def _refuse_what_is_repeated(options: argparse.Namespace) -> None:
    """What a manifest says cannot be said otherwise beside it.

    Raises:
        ExportError: it is.
    """
    from analysis.export import ExportError  # noqa: PLC0415

    names = ("shape", "where", "mask", "drop_copies", *LIMITS, "validation", "seed", "redact")
    given = [name for name in names if getattr(options, name)]
    if given:
        option = "format" if given[0] == "shape" else given[0].replace("_", "-")
        raise ExportError(f"--like says what --{option} says; give one of them")


def _tell_exported(manifest: dict[str, Any], out: Path) -> None:
    tell(
        f"{out}: {manifest['records_in']:,} records in = {manifest['exported']:,} exported + "
        f"{manifest['filtered']:,} filtered + {manifest['refused']:,} refused + {manifest['rejected']:,} rejected"
    )
    for step in manifest.get("subset", {}).get("steps", []):
        tell(f"  {step['limit']}: {step['left_out']:,} left out, {step['remain']:,} remain")
    for name, split in manifest["splits"].items():
        tell(
            f"  {name}: {split['records']:,} records, {split['rows']:,} rows, {split['scenarios']:,} scenarios, "
            f"{split['environments']:,} environments: {', '.join(split['files'])}"
        )
    if mask := manifest.get("mask"):
        tell(
            f"  masked: {mask['messages']['any']:,} of {mask['of_messages']:,} assistant messages, "
            f"{mask['supervised_tokens']['any']:,} of {mask['of_supervised_tokens']:,} supervised tokens"
        )
    for change, count in manifest["changes"].items():
        tell(f"  changed: {count:,} {change}")


def _tell_lost(manifest: dict[str, Any], out: Path) -> None:
    for rule, count in manifest["refusals"].items():
        say(f"{count:,} refused, {rule}; {out / 'manifest.json'} names each")
    if manifest["rejected"]:
        say(f"{manifest['rejected']:,} rejected; `python -m analysis tables` names each with its reason")
    for damage in manifest["damage"]:
        say(f"{damage['origin']}: {damage['reason']}")
    near = manifest.get("leaks", {}).get("near_duplicate_tasks", 0)
    if near:
        say(f"{near:,} pairs of nearly identical tasks lie on different sides of the split; see leaks in the manifest")

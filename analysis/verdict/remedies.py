"""What mends a broken bound: a condition on records for `export --where`, or, where none can, what to look at."""

from analysis.gate import Gate
from analysis.gate.check import Check

# Conditions that leave out the records that break a bound on a share of them.
_CONDITIONS = {
    "closing_marker_share": "end_class IN ('completed_marker', 'stop_marker')",
    "unanswered_share": "unanswered_calls = 0",
    "accepted_arguments_share": "refused_arguments = 0",
    "exact_copies_share": "NOT is_copy",
    "looping_share": "loops = 0",
    "cut_share": "(tokens IS NULL OR tokens <= {cutoff})",
}
# What no condition on single records mends.
_ADVICE = {
    "unknown_share": "no filter tells these results apart: read some of them, and treat every error rate as one of the "
    "rest",
    "error_rate": "leaving out failing records takes recoveries with them: look at 40_call_quality for the tools and "
    "messages",
    "tools_used_share": "only more trajectories use more tools: 10_tool_usage lists those that nobody calls",
    "environment_evenness": "only more trajectories of environments that have few mend this: 30_coverage lists them",
    "environment_coverage": "only trajectories of the absent environments mend this: 30_coverage lists them",
    "scenario_coverage": "only trajectories of the absent scenarios mend this: 30_coverage lists them",
    "fewest_per_environment": "only more trajectories of these environments mend this: 30_coverage lists them",
    "near_duplicate_tasks_share": "which of two tasks to keep is a choice: 75_duplicates lists the pairs",
    "secrets_share": "export --redact replaces them, in any format but raw",
    "personal_data_share": "export --redact replaces them, in any format but raw",
    "overlap_tasks_share": "77_overlap lists the tasks beside those of the other set; `export --against SOURCE --where "
    '"NOT overlaps"` leaves them out',
    "overlap_tools_share": "77_overlap lists the tools beside those of the other set",
    "reproduced_share": "look at 82_replay for the calls that come out otherwise",
}
_ANY = "no filter on single records is known to mend this"
# Bounds on the form in which EnvScaler writes its records: of others they say nothing.
OF_THE_PUBLISHER = {
    *("closing_marker_share", "steps_mismatch", "publisher_bounds", "first_role_system", "repeated_task"),
}
EVERY_EXPORT = "rejected_share"


def condition(check: Check, gate: Gate) -> str | None:
    """What records must meet so that the bound holds; "" where every export leaves them out, None where nothing helps.

    >>> condition(Check("steps_mismatch", "finding", "", "falls short", ""), Gate())
    "rules NOT LIKE '%steps_mismatch%'"
    """
    if check.kind == "baseline":
        return None
    if check.kind == "finding":
        return f"rules NOT LIKE '%{check.name}%'"
    if check.name == EVERY_EXPORT:
        return ""
    text = _CONDITIONS.get(check.name)
    return None if text is None else text.format(cutoff=gate.cutoff)


def advice(check: Check) -> str:
    """What to look at where no condition helps."""
    return _ADVICE.get(check.name, _ANY)

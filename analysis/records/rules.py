"""The contract's rules, as data: id, the sentence that is broken, the remedy."""

from typing import NamedTuple


class Rule(NamedTuple):
    """One rule: what a sound record does, and what to do about one that does not."""

    id: str
    sentence: str
    remedy: str


RULES = (
    Rule("inner_json", "Every JSON text inside the record parses.", "Write the field with json.dumps again."),
    Rule("unreadable_tool", "Every declared tool has a name.", "Give the tool a name or take it out."),
    Rule("repeated_tool", "A tool is declared once.", "Remove the second declaration."),
    Rule(
        "schema_budget",
        "A tool's arguments can be checked in little time and memory.",
        "Simplify the schema; what goes beyond the budget is unchecked.",
    ),
    Rule("schema_invalid", "A tool's parameters are a JSON Schema.", "Correct the schema; calls of it go unchecked."),
    Rule(
        "first_role_system", "The first message is the system's.", "Put the system prompt first, or accept its absence."
    ),
    Rule(
        "legal_roles",
        "Roles are system, user, assistant and tool; OpenAI's also developer and function.",
        "Rename the role; it was read as the nearest one.",
    ),
    Rule("alternation", "Assistant messages and others alternate.", "Look for a lost or a doubled message."),
    Rule("unanswered_call", "Every call is answered.", "Drop the call or add its result before training on it."),
    Rule(
        "unanswered_by_design",
        "A record goes on behind its calls.",
        "Expected of single turns: nothing runs them.",
    ),
    Rule("rejected_answer", "A record is one rollout.", "Expected of pairs: only the chosen answer is read."),
    Rule("orphan_result", "Every result answers a call.", "Drop the result, or restore the call."),
    Rule("ambiguous_pairing", "It is plain which result answers which call.", "Write ids into calls and results."),
    Rule("duplicate_call_id", "An id names one call.", "Make ids unique in the record; pairs were made by step."),
    Rule("answered_by_user", "Results come as tool messages.", "Give the error text the role tool."),
    Rule("env_prefix", "env_id is the prefix of task_id.", "Check the join keys before joining the scenarios."),
    Rule(
        "steps_mismatch", "`steps` is the number of assistant messages.", "See the detail for what it counts instead."
    ),
    Rule("steps_form", "`steps` is a whole number.", "Write it as an integer."),
    Rule("closing_marker", "A run closes with its marker.", "Treat the record as unfinished."),
    Rule("publisher_bounds", "5 to 39 assistant messages with user, 3 to 29 without.", "Filter by steps."),
    Rule("traj_type_inferred", "The record names its traj_type.", "Write it; it was read from the user turns."),
    Rule("env_id_missing", "The record names its environment.", "Write task_info.env_id."),
    Rule("task_id_missing", "The record names its scenario.", "Write task_info.task_id."),
    Rule(
        "no_environment", "The dialect carries environments.", "Nothing to mend: coverage by environment has no base."
    ),
    Rule("repeated_task", "(traj_type, env_id, task_id) occurs once.", "Expected with trials; else a duplicate."),
    Rule("unreadable_call", "Every call block names a tool.", "Mend the block or drop the step."),
    Rule("extra_calls_not_run", "One text-style call block a message.", "The runner runs the first block only."),
    Rule("unclosed_block", "Text-style blocks are closed.", "Add the closing tag; it was read to the end."),
    Rule("call_by_user", "The agent alone calls tools.", "The user's own calls and results are counted nowhere."),
    Rule("repaired_call", "A call block is plain JSON.", "Remove what stands after the object."),
    Rule("reasoning_in_content", "Reasoning stands in its own field.", "Move <think> out of the content."),
    Rule("call_in_reasoning", "Calls stand outside the reasoning.", "The call was not run; drop or move it."),
    Rule("content_parts", "Content is text.", "Parts other than text are counted, not read."),
    Rule(
        "unread_text",
        "Every character of a message is read.",
        "See which members hold it; the number is in the detail.",
    ),
    Rule(
        "kept_unread", "Calls and texts of a record are read.", "Kept because --keep-unread asks for it: count nothing."
    ),
    Rule("reward_form", "A reward is a number within the range of floats.", "Write it as a number."),
    Rule("undeclared_tool", "A called tool is declared.", "Drop the call or declare the tool."),
    Rule("arguments_unparsable", "Arguments parse as JSON.", "Mend or drop the call."),
    Rule("arguments_not_object", "Arguments are an object.", "Mend or drop the call."),
    Rule("missing_required", "Required arguments are given.", "The environment refused or did not say."),
    Rule("over_required", "The schema requires only what the tool needs.", "Take the argument out of `required`."),
    Rule("unknown_key", "Arguments are among the declared ones.", "Mend the call or declare the key."),
    Rule("wrong_type", "Arguments have the declared type.", "Mend the call or the schema."),
    Rule("enum", "Arguments are among the declared values.", "Mend the call or the schema."),
    Rule("other_breach", "Arguments satisfy the rest of the schema.", "See the detail."),
    Rule("lone_surrogate", "Text is valid Unicode.", "Replaced by U+FFFD; mend the writer."),
    Rule("non_finite_number", "Numbers are finite.", "NaN and Infinity are not JSON; write null or a text."),
    Rule("invalid_utf8", "Bytes are UTF-8.", "Replaced by U+FFFD; mend the writer."),
)

BY_ID = {rule.id: rule for rule in RULES}

"""The sibling data sets of a sample: its environments, the scenarios behind its trajectories, and a few with checks."""

import json
from typing import Any

from analysis.sample.catalogue import quotas, scenarios
from analysis.sample.checks import checklist
from analysis.sample.code import class_code, class_head, class_name, method_code
from analysis.sample.description import Entity
from analysis.sample.naming import environment
from analysis.sample.scenarios import scenario
from analysis.sample.toolbox import constraints, toolbox

Row = dict[str, Any]

# The family has 51 environments for reinforcement learning beside its 140, with 50 scenarios each; ours are fewer.
RL_SHARE = 51 / 140
RL_SCENARIOS = 6
UNSEEN_SCENARIOS = 8


def siblings(environments: int, seed: int, trajectories: int) -> tuple[list[Row], list[Row], list[Row]]:
    """The rows of the three sibling sets.

    Args:
        environments: as many as the sample plays in. The catalogue holds one more that nobody played in, and the `_rl`
            ones, which come with checks instead of trajectories.
        seed: the sample's.
        trajectories: the sample's; how many scenarios there are follows from it.

    Returns:
        Environments, scenarios, and scenarios with checks.
    """
    counts = [scenarios(index, quota, seed) for index, quota in enumerate(quotas(trajectories, environments, seed))]
    counts.append(UNSEEN_SCENARIOS)
    rl = max(2, round(environments * RL_SHARE))
    first_rl = len(counts)
    env_rows = [_environment(index, seed, f"env_{index + 1}_sft") for index in range(first_rl)]
    env_rows += [_environment(first_rl + i, seed, f"env_{i + 1}_rl") for i in range(rl)]
    sft = [
        _scenario(index, seed, number, f"env_{index + 1}_sft")
        for index, count in enumerate(counts)
        for number in range(1, count + 1)
    ]
    checked = [
        {**_scenario(first_rl + i, seed, number, f"env_{i + 1}_rl"), **_checks(first_rl + i, seed, number)}
        for i in range(rl)
        for number in range(1, RL_SCENARIOS + 1)
    ]
    return env_rows, sft, checked


def _environment(index: int, seed: int, env_id: str) -> Row:
    description, tools = environment(index, seed), toolbox(index, seed)
    return {
        "env_id": env_id,
        "environment_summary": description.title.capitalize(),
        "environment_introduction": description.introduction,
        "state_space_definition": [
            {"entity": entity.type_name, "attributes": ", ".join(_attributes(entity)), "description": entity.about}
            for entity in description.entities.values()
        ],
        "constraints_rules": constraints(description, tools),
        "operation_list": [
            {
                "operation_name": tool.name,
                "operation_description": tool.summary,
                "operation_type": "query" if tool.is_query else "state change",
            }
            for tool in tools.values()
        ],
        "env_class_name": class_name(description),
        "env_class_code": class_code(description, tools),
        "env_class_def": class_head(description),
        "env_func_details": _text({
            tool.name: {"doc": tool.docstring, "source_code": method_code(description, tool)} for tool in tools.values()
        }),
        "tools": _text([tool.schema for tool in tools.values()]),
    }  # fmt: skip


def _attributes(entity: Entity) -> list[str]:
    states = [entity.state_name] if entity.states else []
    return [entity.id_column, *(field.column for field in entity.fields.values()), *states]


def _scenario(index: int, seed: int, number: int, env_id: str) -> Row:
    played = scenario(index, seed, number)
    return {
        "env_id": env_id,
        "env_class_name": class_name(environment(index, seed)),
        "task_id": f"{env_id}-task_{number}",
        "init_config": _text({**played.initial, "current_date": played.today}),
        "task": played.task,
    }


def _checks(index: int, seed: int, number: int) -> Row:
    return {"checklist_with_func": checklist(scenario(index, seed, number))}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

"""The sibling sets have the published columns, join to the records, and hold code that is only text."""

import ast
import json
from pathlib import Path
from typing import Any

from analysis import sample

Rows = list[dict[str, Any]]


def test_columns_are_the_published_ones(family: tuple[Rows, Rows, Rows]) -> None:
    environments, scenarios, checked = family
    environment = "env_id environment_summary environment_introduction state_space_definition constraints_rules "
    environment += "operation_list env_class_name env_class_code env_class_def env_func_details tools"
    scenario = "env_id env_class_name task_id init_config task"
    assert {" ".join(row) for row in environments} == {environment}
    assert {" ".join(row) for row in scenarios} == {scenario}
    assert {" ".join(row) for row in checked} == {f"{scenario} checklist_with_func"}


def test_every_record_joins_to_its_environment_and_scenario(family: tuple[Rows, Rows, Rows], default: Rows) -> None:
    environments, scenarios, _ = family
    tools = {row["env_id"]: row["tools"] for row in environments}
    tasks = {row["task_id"]: (row["env_id"], row["task"]) for row in scenarios}
    for record in default:
        task = record["task_info"]
        assert tools[task["env_id"]] == record["tools"]
        assert tasks[task["task_id"]] == (task["env_id"], task["task"])


def test_the_catalogue_holds_more_than_was_played(family: tuple[Rows, Rows, Rows], default: Rows) -> None:
    environments, scenarios, checked = family
    played = {record["task_info"]["task_id"] for record in default}
    unseen = {row["env_id"] for row in scenarios} - {task_id.split("-")[0] for task_id in played}
    assert unseen == {"env_15_sft"}
    assert len(scenarios) > len(played)
    assert {row["env_id"] for row in checked} == {r["env_id"] for r in environments if r["env_id"].endswith("_rl")}


def test_keys_of_the_sibling_sets_are_unique(family: tuple[Rows, Rows, Rows]) -> None:
    environments, scenarios, checked = family
    assert len({row["env_id"] for row in environments}) == len(environments)
    assert len({row["task_id"] for row in [*scenarios, *checked]}) == len(scenarios) + len(checked)
    assert len({row["tools"] for row in environments}) == len(environments)


def test_code_and_checks_are_python_source_of_the_same_tools(family: tuple[Rows, Rows, Rows]) -> None:
    environments, _, checked = family
    for row in environments:
        (made,) = [node for node in ast.parse(row["env_class_code"]).body if isinstance(node, ast.ClassDef)][-1:]
        assert made.name == row["env_class_name"]
        methods = [node.name for node in made.body if isinstance(node, ast.FunctionDef)]
        offered = [tool["function"]["name"] for tool in json.loads(row["tools"])]
        assert methods == ["__init__", *offered]
        assert offered == [operation["operation_name"] for operation in row["operation_list"]]
        assert offered == list(json.loads(row["env_func_details"]))
        assert {operation["operation_type"] for operation in row["operation_list"]} == {"query", "state change"}
        ast.parse(row["env_class_def"])
    for check in (check for row in checked for check in row["checklist_with_func"]):
        assert list(check) == ["check_item", "check_func"]
        (function,) = ast.parse(check["check_func"]).body
        assert isinstance(function, ast.FunctionDef)
        assert function.name == "check_func"


def test_siblings_are_written_as_three_arrays(tmp_path: Path) -> None:
    sample.write_siblings(tmp_path, environments=3, seed=1, trajectories=12)
    read = [
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("environments", "scenarios", "rl_scenarios")
    ]
    assert tuple(read) == sample.siblings(3, 1, trajectories=12)

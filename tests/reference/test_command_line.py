"""`python -m analysis tables --describe`: the dictionary in a terminal, and as JSON Schema."""

import json
import re

import pytest

from analysis.cli.main import main
from analysis.reference import dictionary, json_schema
from analysis.schema import TOOL_CALLS


def test_all_tables_are_described_and_the_results_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--describe"]) == 0
    told = capsys.readouterr().out
    for table in dictionary.KEPT:
        assert f"{table.name}: One row per" in told
    assert "tool_usage_busiest" in told


def test_one_table_is_described_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--describe", "tool_calls"]) == 0
    told = capsys.readouterr().out
    assert re.findall(r"^  (\w+)$", told, flags=re.MULTILINE) == TOOL_CALLS.names
    assert "Used by outcomes" in told


def test_a_result_is_described_and_printed_as_json_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--describe", "outcomes_by_mode"]) == 0
    assert "errors over (ok + errors)" in capsys.readouterr().out
    assert main(["tables", "--describe", "outcomes_by_mode", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "outcomes_by_mode"


def test_all_schemas_are_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--describe", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == set(json_schema.published())


def test_a_misspelt_table_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "--describe", "tool_cals"]) == 2
    assert "no table 'tool_cals'; nearest: tool_calls" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["tables"], ["tables", "sample"]])
def test_without_source_or_folder_the_command_says_what_it_takes(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "tables needs SOURCE and OUT, --describe or --dialects" in capsys.readouterr().err

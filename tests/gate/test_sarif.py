"""The SARIF log is what its schema asks for, and leads to the record: file, byte offset, line."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from analysis import gate
from analysis.gate import Gate, sarif
from analysis.gate.config import Finding, Threshold
from analysis.tables import load
from tests.builders import step, trajectory

RECORDS = [
    trajectory("t1", env_id="bank", steps=[step(tool="get_user")]),
    trajectory("t2", env_id="bank", steps=[step(tool="nowhere"), step(tool="nowhere")], tools=["get_user"]),
    trajectory("t3", env_id="bänk <b>", steps=[step(tool="nowhere")], tools=["get_user"]),
]
LAYOUTS = {
    "lines": "".join(f"{json.dumps(record)}\n" for record in RECORDS) + '{"messages": \n',
    "array": json.dumps(RECORDS, indent=4),
    "one line": json.dumps(RECORDS),
}


def log_of(path: Path, text: str, **options: Any) -> dict[str, Any]:
    path.write_text(text, encoding="utf-8")
    data = load(str(path), progress=False)
    bounds = Gate(
        threshold=[Threshold("rejected_share", at_most=0), Threshold("environment_coverage", at_least=1)],
        finding=[Finding("undeclared_tool", at_most=0)],
    )
    made: dict[str, Any] = msgspec.json.decode(
        msgspec.json.encode(sarif.log([(data, gate.check(data, bounds))], **options))
    )
    return made


def regions(log: dict[str, Any], rule: str) -> list[dict[str, Any]]:
    results = [result for result in log["runs"][0]["results"] if result["ruleId"] == rule]
    return [result["locations"][0]["physicalLocation"]["region"] for result in results]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_finding_stands_at_its_records_first_byte_and_line(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "set of records.json"
    log = log_of(path, LAYOUTS[layout])
    data = path.read_bytes()
    found = regions(log, "undeclared_tool")
    assert len(found) == 3
    for region in found:
        raw = data[region["byteOffset"] : region["byteOffset"] + region["byteLength"]]
        assert "nowhere" in json.loads(raw)["messages"]
        assert region["startLine"] == data[: region["byteOffset"]].count(b"\n") + 1
    (uri,) = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in log["runs"][0]["results"]
        if "locations" in result
    }
    assert uri == "set%20of%20records.json"


def test_levels_follow_the_gate_and_a_rejected_record_is_an_error(tmp_path: Path) -> None:
    log = log_of(tmp_path / "records.jsonl", LAYOUTS["lines"])
    levels = {(result["ruleId"], result["level"]) for result in log["runs"][0]["results"]}
    assert {("undeclared_tool", "error"), ("rejected", "error"), ("gate/rejected_share", "error")} <= levels
    assert ("gate/environment_coverage", "error") not in levels, "what is not known is no breach"
    assert {level for rule, level in levels if rule == "closing_marker"} <= {"warning"}
    (rejected,) = regions(log, "rejected")
    assert rejected["startLine"] == 4


def test_what_is_not_listed_is_counted(tmp_path: Path) -> None:
    log = log_of(tmp_path / "records.jsonl", LAYOUTS["lines"], most=1)
    assert len(regions(log, "undeclared_tool")) == 1
    properties = log["runs"][0]["properties"]
    assert properties["findings"]["undeclared_tool"] == 3
    assert properties["listed_per_rule"] == 1
    assert (properties["records_in"], properties["kept"], properties["rejected"]) == (4, 3, 1)


def test_every_result_names_a_rule_of_the_log(tmp_path: Path) -> None:
    run = log_of(tmp_path / "records.jsonl", LAYOUTS["lines"])["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    assert run["results"]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_log_is_valid_by_the_formats_own_schema(tmp_path: Path, sarif_schema: Any, layout: str) -> None:
    log = log_of(tmp_path / "records.json", LAYOUTS[layout])
    validator = jsonschema.Draft7Validator(sarif_schema)
    assert [error.message for error in validator.iter_errors(log)] == []
    log["runs"][0]["results"][0]["level"] = "dreadful"
    assert list(validator.iter_errors(log)), "a schema that takes anything proves nothing"


@pytest.fixture(scope="session")
def sarif_schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The published schema, out of a package of the format's own makers."""
    if shutil.which("npm") is None:
        pytest.skip("no npm: the published schema of SARIF cannot be had")
    folder = tmp_path_factory.mktemp("sarif")
    got = subprocess.run(
        ["npm", "pack", "--silent", "@microsoft/jest-sarif@1.0.0-beta.0"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if got.returncode:
        pytest.skip("the package that holds the published schema of SARIF could not be fetched")
    with tarfile.open(folder / got.stdout.strip()) as package:
        held = package.extractfile("package/lib/schemas/sarif-2.1.0-rtm.5.json")
        assert held is not None
        return json.load(held)

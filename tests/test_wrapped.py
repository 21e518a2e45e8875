"""Records one level down are records: lists of a wrapper, arrays in arrays, conversations without an object around."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis import sources
from analysis.sources.containers import wrapped
from analysis.sources.containers.wrapped import with_members
from tests.conftest import SHARED_DATA

SAID = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
ROWS: list[dict[str, Any]] = [{"id": n, "messages": SAID} for n in range(3)]


def read(path: Path) -> list[Any]:
    items = [item for unit in sources.plan(sources.locate(str(path))) for item in sources.read_unit(unit)]
    assert not [item for item in items if isinstance(item, sources.Damage) or item.broken]
    return [json.loads(item.data) for item in items if isinstance(item, sources.Raw)]


def written(folder: Path, value: Any, indent: int | None = None) -> Path:
    path = folder / "x.json"
    path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 0, 2, 4])
@pytest.mark.parametrize("key", ["samples", "simulations", "rollouts", "data", "any_other_name"])
def test_the_list_of_a_wrapper_is_cut_into_records_that_get_its_small_members(
    tmp_path: Path, key: str, indent: int | None
) -> None:
    wrapper = {"model": "m", "info": {"a": [1]}, "tasks": [{"id": 1}], key: ROWS, "seed": 3, "more": ["x"]}
    expected = [row | {"model": "m", "seed": 3} for row in ROWS]
    assert read(written(tmp_path, wrapper, indent)) == expected
    assert read(written(tmp_path, [wrapper, wrapper], indent)) == expected * 2


def test_a_wrapper_a_line_is_cut_into_its_records(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"task_id": n, "rollouts": ROWS}) + "\n" for n in range(2)), encoding="utf-8")
    assert read(path) == [row | {"task_id": n} for n in range(2) for row in ROWS]


def test_rows_under_a_usual_name_are_records_whatever_they_hold(tmp_path: Path) -> None:
    rows = [{"query": "q", "answers": [{"name": "f"}]}, {"env_id": "e"}]
    assert read(written(tmp_path, {"data": rows})) == rows


def test_what_a_record_says_itself_and_what_tells_of_the_whole_run_is_not_overwritten(tmp_path: Path) -> None:
    wrapper = {"id": "run", "model": "m", "reward": 0.5, "status": "success", "samples": [ROWS[0] | {"model": "own"}]}
    assert read(written(tmp_path, wrapper)) == [ROWS[0] | {"model": "own"}]


@pytest.mark.parametrize("indent", [None, 2])
def test_arrays_in_arrays_are_one(tmp_path: Path, indent: int | None) -> None:
    assert read(written(tmp_path, [ROWS[:2], [], [ROWS[2:]]], indent)) == ROWS


@pytest.mark.parametrize("indent", [None, 0, 4])
@pytest.mark.parametrize(
    "said", [SAID, [{"from": "human", "value": "a"}], [{"type": "reasoning", "summary": []}, *SAID]]
)
def test_a_conversation_without_an_object_around_it_is_one_record(
    tmp_path: Path, said: Any, indent: int | None
) -> None:
    assert read(written(tmp_path, said, indent)) == [said]
    assert read(written(tmp_path, [said, said], indent)) == [said, said]
    assert read(written(tmp_path, {"trajectories": [said, said]}, indent)) == [said, said]
    assert read(written(tmp_path, {"model": "m", "trajectories": [said]}, indent)) == [{"messages": said, "model": "m"}]


def test_a_conversation_a_line_is_a_record_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{json.dumps(SAID)}\n{json.dumps(SAID)}\n", encoding="utf-8")
    assert read(path) == [SAID, SAID]


@pytest.mark.parametrize(
    "record",
    [
        {"messages": SAID, "rollouts": ROWS},
        {"trajectory": [{"action": "ls", "observation": "x"}], "history": SAID, "info": {}},
        {"steps": [{"step_id": 1, "source": "user", "message": "go"}], "agent": {}},
        {"traj_type": "a", "more": ROWS},
        {"conversations": [{"from": "human", "value": "a"}], "tools": "[]"},
        {"chosen": SAID, "rejected": SAID},
    ],
)
def test_a_record_that_holds_lists_is_no_wrapper(tmp_path: Path, record: Any) -> None:
    assert read(written(tmp_path, record)) == [record]
    assert read(written(tmp_path, [record, record], 4)) == [record, record]


def test_members_behind_a_list_too_large_to_wait_for_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapped, "WAITING_BYTES", 100)
    (unit,) = sources.plan(sources.locate(str(written(tmp_path, {"model": "m", "samples": ROWS, "seed": 3}))))
    items = [*sources.read_unit(unit)]
    rows = [json.loads(item.data) for item in items if isinstance(item, sources.Raw)]
    assert [row["model"] for row in rows] == ["m"] * 3
    (damage,) = [item for item in items if isinstance(item, sources.Damage)]
    assert damage.reason.startswith("seed: behind a list of more than")


def test_members_are_added_where_a_record_lacks_them() -> None:
    members = {b"model": b'"m"', b"n": b"2"}
    assert with_members(b"{}", members) == b'{"model": "m", "n": 2}'
    assert with_members(b'{"n": 1 }', members) == b'{"n": 1, "model": "m"}'
    assert with_members(b"[1]", {}) == b"[1]"
    assert with_members(b"[1]", {b"n": b"2"}) == b'{"messages": [1], "n": 2}'


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("tau2.json", 1),
        ("tau2_sim.json", 1),
        ("listlist2.json", 2),
        ("lines_of_lists.jsonl", 2),
        ("bare_messages.json", 1),
    ],
)
def test_the_shared_dialects_are_cut_into_so_many_records(name: str, records: int) -> None:
    path = SHARED_DATA.parent / "cases" / "dialects" / name
    if not path.is_file():
        pytest.skip("no ../shared/cases beside the project: the tests on its dialects did not run")
    assert len(read(path)) == records

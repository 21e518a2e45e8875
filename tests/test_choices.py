"""A choice of trajectories and columns of one's own, in a notebook."""

from pathlib import Path

import polars as pl
import pytest

from analysis.measures import tool_usage
from analysis.tables import Tables
from tests.builders import decode, step, trajectory


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    records = [
        trajectory("t1", env_id="bank", steps=[step("look")]),
        trajectory("t2", env_id="bank", steps=[step("look"), step("pay")]),
        trajectory("t3", env_id="shop", steps=[step("buy"), step("buy"), step("buy")]),
    ]
    return decode(*records, folder=tmp_path_factory.mktemp("choices"))


def tasks(data: Tables) -> list[str]:
    return [id_.partition("-")[2] for id_ in data.trajectories.collect()["task_id"]]


def ids(data: Tables) -> list[str]:
    return data.trajectories.select("trajectory_id").collect().to_series().to_list()


def test_an_expression_chooses(data: Tables) -> None:
    long = data.where(pl.col("tool_calls") > 1)
    assert tasks(long) == ["t2", "t3"]
    assert long.tool_calls.collect().height == 5
    assert long.is_narrowed
    assert "2 of the 3 trajectories" in long.narrowing


def test_choices_narrow_each_other(data: Tables) -> None:
    part = data.where(pl.col("tool_calls") > 1).where(ids(data)[1:]).where(env_id=["bank", "shop"]).where(env_id="shop")
    assert tasks(part) == ["t3"]
    assert part.messages.select("trajectory_id").unique().collect().height == 1


@pytest.mark.parametrize("as_frame", [False, True])
def test_ids_choose_as_a_list_or_as_a_frame(data: Tables, as_frame: bool) -> None:
    some = data.trajectories.collect().sample(2, seed=1)
    assert sorted(ids(data.where(some if as_frame else some["trajectory_id"].to_list()))) == sorted(
        some["trajectory_id"]
    )


def test_what_does_not_exist_is_refused(data: Tables) -> None:
    with pytest.raises(ValueError, match="trajectories have no column 'tool_cals'; nearest: tool_calls"):
        data.where(pl.col("tool_cals") > 1)
    with pytest.raises(ValueError, match="1 of 2 ids are of no trajectory here, such as 'x'"):
        data.where([ids(data)[0], "x"])
    with pytest.raises(ValueError, match="'bank' is one text"):
        data.where("bank")
    with pytest.raises(ValueError, match="there is no env_id 'bnk'"):
        data.where(env_id=["bank", "bnk"])


def test_own_columns_stand_beside_and_can_be_chosen_by(data: Tables) -> None:
    own = pl.DataFrame({"trajectory_id": ids(data), "grade": ["good", "bad", "good"]})
    graded = data.join(own)
    assert graded.trajectories.collect()["grade"].to_list() == ["good", "bad", "good"]
    assert tasks(graded.where(pl.col("grade") == "good")) == ["t1", "t3"]
    assert {grade: tasks(part) for grade, part in graded.groups("grade").items()} == {
        "bad": ["t2"],
        "good": ["t1", "t3"],
    }


def test_a_column_of_environments_is_joined_by_env_id(data: Tables) -> None:
    both = data.join(pl.DataFrame({"env_id": ["bank", "shop"], "risk": [2, 1]}), on="env_id").join(
        pl.DataFrame({"task_id": ["bank-t1", "bank-t2", "shop-t3"], "author": ["a", "b", "a"]}).lazy(), on="task_id"
    )
    assert both.trajectories.select("risk", "author").collect().rows() == [(2, "a"), (2, "b"), (1, "a")]


def test_a_join_that_leaves_gaps_says_how_many(data: Tables) -> None:
    own = pl.DataFrame({"env_id": ["bank", "none"], "risk": [2, 1]})
    with pytest.warns(UserWarning, match="2 of 3 trajectories have a row .* 1 of its 2 rows fit none"):
        assert data.join(own, on="env_id").trajectories.collect()["risk"].to_list() == [2, 2, None]


@pytest.mark.parametrize(
    ("own", "on", "message"),
    [
        ({"env_id": ["bank", "bank"], "risk": [1, 2]}, "env_id", "1 row of 2 repeat a value of env_id"),
        ({"env_id": ["bank"], "task": ["x"]}, "env_id", "have a column 'task' already"),
        ({"env_id": ["x"], "risk": [1]}, "env_id", "no env_id of the frame is one of the 3"),
        ({"env": ["x"], "risk": [1]}, "env_id", "no column 'env_id' to join on; nearest: env"),
        ({"env_id": ["x"], "risk": [1]}, "envid", "no column 'envid' to join on; nearest: env_id"),
    ],
)
def test_a_join_that_could_mislead_is_refused(
    data: Tables, own: dict[str, list[object]], on: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        data.join(pl.DataFrame(own), on=on)


def test_own_columns_do_not_disturb_a_measure(data: Tables, tmp_path: Path) -> None:
    joined = data.join(pl.DataFrame({"env_id": ["bank", "shop"], "risk": [2, 1]}), on="env_id")
    plain, beside = (tool_usage.by_tool(d.tool_calls, d.trajectories, d.tools).collect() for d in (data, joined))
    assert plain.equals(beside)

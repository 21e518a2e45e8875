"""A condition chooses records by their own columns, and can reach nothing else."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cli.export import EPILOG
from analysis.export.errors import ExportError
from analysis.export.where import CHOOSABLE, COLUMNS, FUNCTIONS, KEYWORDS, choosable, chosen, condition
from analysis.schema import FINDINGS, TOOL_CALLS, TRAJECTORIES
from tests.measures.frames import rows

RUNS = rows(
    TRAJECTORIES,
    {"trajectory_id": "a", "env_id": "bank", "steps": 3, "traj_type": "conversation", "task": "It's \\ 100%"},
    {"trajectory_id": "b", "env_id": "bank", "steps": 9, "traj_type": "non_conversation", "total_reward": 1.0},
    {"trajectory_id": "c", "env_id": None, "steps": None, "traj_type": "non_conversation", "task": "SELECT from it"},
)


def ids(text: str) -> list[str]:
    return chosen(RUNS, text).get_column("trajectory_id").to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["a", "b", "c"]),
        ("env_id = 'bank' AND steps > 3", ["b"]),
        ("steps BETWEEN 3 AND 9", ["a", "b"]),
        ("not steps between 3 and 5", ["b"]),
        ("env_id IS NULL", ["c"]),
        ("env_id IS DISTINCT FROM 'bank'", ["c"]),
        ("trajectory_id IN ('a', 'c')", ["a", "c"]),
        ("traj_type = 'conversation'", ["a"]),
        ("coalesce(total_reward, 0) >= 1e0", ["b"]),
        ("env_id LIKE 'ba%' and length(env_id) = 4", ["a", "b"]),
        ("CAST(steps AS varchar) = '3' or steps::text = '9'", ["a", "b"]),
        ("task = 'It''s \\ 100%'", ["a"]),
        ("task ~ '^SELECT from'", ["c"]),
        ("\"task\" = 'SELECT from it'", ["c"]),
        ("case when steps < 5 then true else false end", ["a"]),
        ("steps % 2 = 1 and -steps + 3 * 2 > -3", ["a"]),
    ],
)
def test_a_condition_chooses_whole_records_by_their_columns(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


def test_records_are_chosen_by_their_findings_and_their_failed_calls() -> None:
    broken = rows(
        FINDINGS,
        {"trajectory_id": "b", "rule": "unanswered_call"},
        {"trajectory_id": "b", "rule": "closing_marker"},
        {"trajectory_id": "b", "rule": "unanswered_call"},
    )
    calls = rows(
        TOOL_CALLS,
        {"trajectory_id": "a", "call": 1, "outcome": "error"},
        {"trajectory_id": "a", "call": 2, "outcome": "ok"},
    )
    frame = choosable(RUNS, broken, calls)
    assert frame.collect().schema == CHOOSABLE.schema
    facts = frame.select("trajectory_id", "findings", "rules", "failed_calls").collect()
    assert facts.rows() == [("a", 0, "", 1), ("b", 3, "closing_marker,unanswered_call", 0), ("c", 0, "", 0)]
    found = {text: chosen(frame, text)["trajectory_id"].to_list() for text in ("findings = 0", "rules LIKE '%call%'")}
    assert found == {"findings = 0": ["a", "c"], "rules LIKE '%call%'": ["b"]}


@pytest.mark.parametrize("text", ["true" + " and steps > 1" * 20_000, "steps" + "+1" * 20_000 + " > 1", "(" * 20_000])
def test_a_condition_too_deep_for_the_parsers_stack_is_refused(text: str) -> None:
    with pytest.raises(ExportError, match="more than 400; shorten it"):
        condition(text)


def test_a_long_list_of_ids_is_no_deep_condition() -> None:
    assert ids("trajectory_id IN (" + ", ".join(f"'{n}'" for n in range(5_000)) + ", 'b')") == ["b"]


def test_null_is_not_true() -> None:
    assert ids("steps > 0 or steps <= 0") == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "env_id IN (SELECT column_1 FROM read_csv('{file}'))",
        "env_id in (from read_csv('{file}'))",
        "EXISTS (SELECT * FROM read_csv('{file}'))",
        "steps > (select count(*) from read_parquet('{file}'))",
        "steps > (SELECT/**/count(*) FROM read_json('{file}'))",
        "steps is distinct from (from read_csv('{file}'))",
        "steps is distinct from read_csv('{file}')",
        "true) UNION SELECT * FROM read_csv('{file}') WHERE (true",
        "true; SELECT * FROM read_csv('{file}')",
        "env_id IN (VALUES ('x'))",
        "env_id IN (TABLE trajectories)",
        "WITH t AS (SELECT 1) SELECT 1",
        "'\\' OR env_id IN (SELECT * FROM read_csv('{file}')) OR env_id = '",
        "$$x$$ = (select 1)",
        "true -- and\n and (select 1)",
        "`env_id` = 'x'",
        "env_id = E'x'",
        "read_csv('{file}')",
        "count(*) > 1",
        "steps > max(steps)",
        "sum(steps) over () > 1",
        "env_id = @x",
        "env_id[1] = 'x'",
    ],
)
def test_no_condition_reaches_a_file_another_table_or_another_row(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(pl, "sql_expr", parsed.append)
    (tmp_path / "secret.csv").write_text("column_1\nbank\n", encoding="utf-8")
    with pytest.raises(ExportError):
        condition(text.format(file=tmp_path / "secret.csv"))
    assert not parsed, "Polars opens files while it parses; this text must not come that far"


def test_polars_own_sql_opens_files_while_it_parses_which_is_why_words_are_checked_first(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("the first line\n", encoding="utf-8")
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="the first line"):
        pl.sql_expr(f"env_id IN (SELECT column_1 FROM read_csv('{tmp_path}/secret.csv'))")


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*"()',\"\\;-*/", "select", "from", "read_csv", "in", "exists", "env_id", "steps"])))
def test_what_is_let_through_names_no_table(words: list[str]) -> None:
    text = " ".join(words)
    try:
        expression = condition(text)
    except ExportError:
        return
    assert set(expression.meta.root_names()) <= set(COLUMNS)
    assert "SUBPLAN" not in str(expression).upper()


def test_no_word_that_is_let_through_can_name_a_table() -> None:
    reading = {"select", "values", "table", "with", "exists", "any", "all", "unnest", "join", "union", "copy", "using"}
    assert not reading & (KEYWORDS | FUNCTIONS)
    assert not [name for name in FUNCTIONS if name.startswith(("read_", "scan_"))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("env = 'bank'", "no column env; nearest: env_id"),
        ("ENV_ID = 'bank'", "no column ENV_ID; nearest: env_id"),
        ('env_id = "bank"', "no column bank (a text stands in single quotes)"),
        ("steps", "a condition is true or false; this is Int64"),
        ("steps > 'many'", "cannot compare string with numeric type"),
        ("traj_type = 'chat'", "traj_type is one of conversation, non_conversation"),
        ("md5(task) = ''", "no function md5; there are abs"),
        ("steps >", "unable to parse"),
        ("*", "unable to parse"),
        ("env_id = 'bank", '"\'bank" is not understood'),
    ],
)
def test_a_condition_that_cannot_be_names_the_word_and_what_is_there(text: str, said: str) -> None:
    with pytest.raises(ExportError) as caught:
        chosen(RUNS, text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_lines_help_names_every_column() -> None:
    listed = EPILOG.partition("Its columns:\n")[2].partition("\n\n")[0]
    assert listed.split() == list(COLUMNS)

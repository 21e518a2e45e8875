"""Every kind of fault, on every dialect and in every container it can reach: kept, kept with findings, or rejected."""

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from analysis import processes, records, schema
from analysis.records import READER_FAILED, chat
from analysis.records.dialects import DIALECTS
from analysis.records.members import flagged_list
from analysis.records.model import Rejected, Trajectory
from analysis.records.record import Record
from analysis.records.roles import ROLES
from analysis.schema import conform
from analysis.sources.containers import plan
from analysis.tables import Tables, load
from analysis.tables.rows import Rows
from tests.dialects import AS_FIELDS, MAKERS, WITH_TASK_INFO, block, make
from tests.records.writers import WRITERS

FIXTURES = sorted((Path(__file__).parent / "records").glob("*.json"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))


def fixture(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((Path(__file__).parent / "records" / f"{name}.json").read_text("utf-8"))[
        "record"
    ]
    return record


def read(record: Any) -> Trajectory:
    found = records.read(record if isinstance(record, bytes) else json.dumps(record).encode(), "here@0", 0)
    assert isinstance(found, Trajectory), found
    return found


def rules(found: Trajectory) -> set[str]:
    return {finding.rule for finding in found.findings}


@pytest.fixture(params=MAKERS)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_one_conversation_reads_the_same_in_every_dialect(dialect: str) -> None:
    found = read(make(dialect))
    assert found.dialect == dialect
    (call,) = found.calls
    assert (call.name, call.arguments, call.form, call.outcome) == ("get_user", '{"id": 1}', "string", "ok")
    assert [m.role for m in found.messages if m.role != "system"] == ["user", "assistant", "tool", "assistant"]
    assert (found.messages[-1].content, found.tools[0].name) == ("Seen.", "get_user")


def test_every_dialect_has_a_maker_or_a_writer() -> None:
    written = {name.partition(",")[0] for name in WRITERS} | {
        "xlam",
        "swe_agent",
    }  # single turns, and commands of a shell
    assert MAKERS.keys() | written == {json.loads(path.read_text("utf-8"))["reads_as"]["dialect"] for path in FIXTURES}


# 1, 2: cells and keys ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["[1],[2", "3]", "", " ", "{", '"', "\0", "nul", "[" * 100_000])
@pytest.mark.parametrize("key", ["messages", "tools", "user_messages"])
def test_a_bad_inner_cell_costs_its_own_record_at_most(key: str, cell: str) -> None:
    found = records.read(json.dumps(make("release") | {key: cell}).encode(), "here@0", 0)
    if isinstance(found, Rejected):
        assert key == "messages"
        assert found.reason.startswith(("messages: ", "nested too deeply"))
    elif cell.strip():
        assert "inner_json" in rules(found)
        assert found.calls[0].outcome == "ok"


def test_a_key_no_reader_knows_is_counted_and_costs_nothing(dialect: str, tmp_path: Path) -> None:
    rows = [make(dialect) for _ in range(150)]
    rows[120] |= {"reasoning_notes": "late"}
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    manifest = load(str(tmp_path / "rows.jsonl"), progress=False).manifest
    assert (manifest["kept"], manifest["unknown_keys"]) == (150, {"reasoning_notes": 1})


@pytest.mark.parametrize("dialect", AS_FIELDS, indirect=True)
def test_reasoning_first_seen_late_is_read(dialect: str) -> None:
    plain, late = make(dialect), make(dialect)
    text = json.dumps(late)
    text = text.replace('\\"content\\": null', '\\"content\\": null, \\"reasoning_content\\": \\"Hm.\\"')
    text = text.replace('"content": null', '"content": null, "reasoning_content": "Hm."')
    assert [m.reasoning for m in read(plain).messages if m.calls] == [None]
    assert [m.reasoning for m in read(text.encode()).messages if m.calls] == ["Hm."]


# 3, 4, 8: what JSON and Unicode do not have -----------------------------------------------------------------------


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_not_finite_are_kept_as_text_and_flagged(dialect: str, number: str) -> None:
    record = make(dialect, arguments={"id": float(number)})
    found = read(record)
    (call,) = found.calls
    assert call.arguments is not None
    assert json.loads(call.arguments, parse_constant=lambda name: pytest.fail(f"{name} is no JSON")) == {
        "id": str(float(number))
    }
    assert rules(found) & {"non_finite_number", "repaired_call"}


@pytest.mark.parametrize("place", ["arguments", "result", "user", "says"])
def test_lone_surrogates_become_a_replacement_character_and_are_flagged(dialect: str, place: str) -> None:
    text = "ok \ud83d done"
    spoken: dict[str, Any] = {place: {"id": text} if place == "arguments" else text}
    record = make(dialect, **spoken)
    found = read(record)
    held = json.dumps([[m.content for m in found.messages], [c.arguments for c in found.calls]], ensure_ascii=False)
    held.encode()
    assert "ok \ufffd done" in held
    assert rules(found) & {"lone_surrogate", "repaired_call"}


def test_bytes_that_are_no_utf8_are_replaced_and_flagged(dialect: str) -> None:
    found = read(json.dumps(make(dialect, user="Lo?k.")).encode().replace(b"Lo?k", b"Lo\xffk"))
    assert "Lo\ufffdk." in [m.content for m in found.messages]
    assert "invalid_utf8" in rules(found)


@pytest.mark.parametrize("id_", [2**63, 2**80, -(2**70), 10**400])
def test_ids_too_large_for_any_column_stay_exact(dialect: str, id_: int) -> None:
    assert read(make(dialect, task_id=id_)).task_id == str(id_)


# 10: arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ('{"a": 1}', "object"),
        ("{}", "object"),
        ("", "empty"),
        ("null", "not_object"),
        ("[1]", "not_object"),
        ('{"a": 1', "unparsable"),
        ('"{\\"a\\": 1}"', "not_object"),
    ],
)
def test_arguments_as_text_keep_their_text_in_every_dialect(dialect: str, arguments: str, state: str) -> None:
    (call,) = read(make(dialect, arguments=arguments)).calls
    assert (call.arguments, call.form, call.arguments_state) == (arguments, "string", state)


@pytest.mark.parametrize("arguments", [{}, {"a": 1, "b": [None, {"c": "}"}]}])
def test_arguments_as_an_object_are_told_from_text_and_never_encoded_twice(dialect: str, arguments: Any) -> None:
    (call,) = read(make(dialect, arguments=arguments)).calls
    assert (call.arguments, call.form, call.arguments_state) == (json.dumps(arguments), "object", "object")


def test_arguments_that_are_null_are_empty_and_not_the_text_null(dialect: str) -> None:
    (call,) = read(make(dialect, arguments=None)).calls
    assert call.arguments in (None, "null")
    assert call.arguments_state in ("empty", "not_object")
    assert call.form != "string"


# 11: content ------------------------------------------------------------------------------------------------------

PARTS = [
    {"type": "text", "text": "Lo"},
    {"type": "image_url", "image_url": {"url": "data:"}},
    {"type": "text", "text": "ok"},
]


def test_content_that_is_null_is_no_text(dialect: str) -> None:
    found = read(make(dialect, user=None, says=None))
    assert [m.content for m in found.messages if m.role in ("user", "assistant")] == [""] * 3
    assert "content_parts" not in rules(found)


def test_content_of_parts_is_its_texts_and_the_other_parts_are_counted(dialect: str) -> None:
    found = read(make(dialect, user=PARTS))
    assert "Lo\nok" in [m.content for m in found.messages]
    assert [f.detail for f in found.findings if f.rule == "content_parts"] == ["1 parts that are not text: image_url"]


def test_thoughts_among_the_parts_are_reasoning(dialect: str) -> None:
    found = read(make(dialect, says=[{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Seen."}]))
    assert (found.messages[-1].reasoning, found.messages[-1].content) == ("Hm.", "Seen.")


@pytest.mark.parametrize("role", ["developer", "function", "toolResult", "critic", None, 7])
@pytest.mark.parametrize("dialect", AS_FIELDS, indirect=True)
def test_a_role_foreign_to_the_dialect_is_a_finding_and_costs_no_message(dialect: str, role: Any) -> None:
    record = make(dialect)
    inner = json.loads(record["messages"]) if isinstance(record["messages"], str) else record["messages"]
    inner.append({"role": role, "content": "Hm."})
    record["messages"] = json.dumps(inner) if isinstance(record["messages"], str) else inner
    found = read(record)
    assert found.messages[-1].content == "Hm."
    assert found.messages[-1].role == {"developer": "system", "function": "tool", "toolResult": "tool"}.get(
        role, "other"
    )
    is_own = dialect == "openai" and role in ("developer", "function")
    assert ("legal_roles" in rules(found)) is not is_own


# 12: results ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ("{'success': True, 'data': {'name': \"O'Hara\", 'x': nan}}", "ok"),
        ("{'success': False, 'error': \"isn't there\"}", "error"),
        ("{'data': {'success': False}, 'success': True}", "ok"),
        ("{'success': True, 'data': \"'success': False\"}", "ok"),
        ("{'success': True, 'data': <object at 0x7f00>}", "ok"),
        ("{'when': datetime.datetime(2024, 1, 1), 'success': False}", "error"),
        ('{"success": false, "error": "no"}', "error"),
        ("Error: no such user", "error"),
        ("no error at all", "unknown"),
        ("{1, 2}", "ok"),
    ],
)
def test_a_result_is_judged_alike_in_every_dialect(dialect: str, result: str, outcome: str) -> None:
    (call,) = read(make(dialect, result=result)).calls
    assert call.outcome == outcome


def test_an_empty_result_answers_its_call_and_says_nothing(dialect: str) -> None:
    found = read(make(dialect, result=""))
    assert [(call.outcome, call.result_message is None) for call in found.calls] == [("unknown", False)]
    assert "unanswered_call" not in rules(found)


# 13, 14: several calls --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", AS_FIELDS, indirect=True)
@pytest.mark.parametrize(
    ("ids", "answers", "paired", "rule"),
    [
        (("a", "b"), ("b", "a"), ["2nd", "1st"], ""),
        ((None, None), (None, None), ["1st", "2nd"], ""),
        (("", ""), ("", ""), ["1st", "2nd"], ""),
        (("a", None), ("a", None), ["1st", "2nd"], ""),
        (("a", "b"), ("a", "c"), ["1st", None], "orphan_result"),
        (("a", "a"), ("a", "a"), [None, None], "duplicate_call_id"),
        (("a", "b"), ("b",), [None, "1st"], "unanswered_call"),
        ((None, None), (None,), [None, None], "ambiguous_pairing"),
    ],
)
def test_results_go_to_their_calls_by_id_or_where_that_is_plain_by_place(
    dialect: str, ids: tuple[str | None, ...], answers: tuple[str | None, ...], paired: list[str | None], rule: str
) -> None:
    function = {"name": "get_user", "arguments": "{}"}
    calls = [{"function": function} | ({} if id_ is None else {"id": id_}) for id_ in ids]
    results = [
        {"role": "tool", "content": text} | ({} if id_ is None else {"tool_call_id": id_})
        for text, id_ in zip(("1st", "2nd"), answers, strict=False)
    ]
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "tool_calls": calls}, *results]
    record = make(dialect)
    record["messages"] = json.dumps(messages) if isinstance(record["messages"], str) else messages
    found = read(record)
    assert [
        None if c.result_message is None else found.messages[c.result_message].content for c in found.calls
    ] == paired
    assert not rule or rule in rules(found)


@pytest.mark.parametrize("dialect", ["prompt", "qwen_text", "alpaca"], indirect=True)
@pytest.mark.parametrize(
    ("said", "names", "rule"),
    [
        ('<tool_call>{"name": "a"}</tool_call><tool_call>{"name": "b"}</tool_call>', ["a", "b"], "extra_calls_not_run"),
        ('<tool_call>{"name": "a"}', ["a"], "unclosed_block"),
        ('<tool_call>{"name": "a"}}</tool_call>', ["a"], "repaired_call"),
        ('<tool_call>{"name": "a"}></tool_call>', ["a"], "repaired_call"),
        ('<tool_call>{"nam": "a"}</tool_call>', [None], "unreadable_call"),
        ("<tool_call>get_user(1)</tool_call>", [None], "unreadable_call"),
        ('<think>x</think><think>y</think><tool_call>{"name": "a"}</tool_call>', ["a"], "reasoning_in_content"),
        (
            '<think><tool_call>{"name": "z"}</tool_call></think><tool_call>{"name": "a"}</tool_call>',
            ["a"],
            "call_in_reasoning",
        ),
        ('<think>x<tool_call>{"name": "a"}</tool_call>', [], "unclosed_block"),
    ],
)
def test_calls_as_text_are_parsed_as_far_as_they_go(
    dialect: str, said: str, names: list[str | None], rule: str
) -> None:
    record = json.loads(json.dumps(make(dialect)).replace(json.dumps(block('{"id": 1}'))[1:-1], json.dumps(said)[1:-1]))
    found = read(record)
    assert [call.name for call in found.calls] == names
    assert rule in rules(found)


# 15, 16: counting, and what is not there --------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", WITH_TASK_INFO, indirect=True)
def test_steps_that_count_something_else_are_said_with_what_they_could_count(dialect: str) -> None:
    assert "steps_mismatch" not in rules(read(make(dialect) | {"steps": 2}))
    found = read(make(dialect) | {"steps": 1})
    (detail,) = [finding.detail for finding in found.findings if finding.rule == "steps_mismatch"]
    assert detail == "steps is 1; 2 assistant messages, 1 calls, 1 tool messages"


@pytest.mark.parametrize("dialect", AS_FIELDS, indirect=True)
@pytest.mark.parametrize(
    ("held", "reasoning"), [({}, None), ({"reasoning_content": None}, None), ({"reasoning_content": ""}, "")]
)
def test_reasoning_that_is_absent_is_told_from_an_empty_one(dialect: str, held: dict[str, Any], reasoning: Any) -> None:
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done.", **held}]
    record = make(dialect)
    record["messages"] = json.dumps(messages) if isinstance(record["messages"], str) else messages
    assert read(record).messages[-1].reasoning == reasoning


# Every bad value in every place -----------------------------------------------------------------------------------

BAD: dict[str, Any] = {
    "null": None,
    "true": True,
    "integer": 2**80,
    "float": 3.0,
    "NaN": float("nan"),
    "empty": "",
    "surrogate": "ok \ud83d done",
    "NUL": "a\0b",
    "inner null": "null",
    "inner NaN": "[NaN]",
    "inner surrogate": '["\\ud83d"]',
    "cut": '{"a": 1',
    "blocks": '<tool_call>{"name": "f"}</tool_call></tool_call><tool_call>[1]<think>',
    "deep": "[" * 3000,
    "list": [None],
    "object": {"a": {"b": None}},
}
Path_ = tuple[Any, ...]


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The path of every value below, inside JSON texts too."""
    if path and path[-1] != "in text":
        yield path
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            yield from places(json.loads(value), (*path, "in text"))
        except ValueError:
            return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def put(value: Any, path: Path_, new: Any) -> Any:
    if not path:
        return new
    if path[0] == "in text":
        return json.dumps(put(json.loads(value), path[1:], new))
    changed = copy.copy(value)
    changed[path[0]] = put(value[path[0]], path[1:], new)
    return changed


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_any_value_in_any_place_is_kept_or_rejected_with_a_reason_and_fits_the_tables(path: Path) -> None:
    record = fixture(path.stem)
    rows, count = Rows(), 0
    for place in places(record):
        for bad in BAD.values():
            found = records.read(json.dumps(put(record, place, bad)).encode(), "here@0", 0)
            if isinstance(found, Rejected):
                assert found.reason
                assert not found.reason.startswith(READER_FAILED), (place, bad)
            rows.add(f"{count:05d}-00000", found)
            count += 1
    made = rows.frames()
    assert made["trajectories"].height + made["rejected"].height == count > 100
    for table in schema.RECORD_TABLES:
        conform(made[table.name], table)


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b"\xff", b'{"messages":' + b"[" * 100_000]
)
def test_what_is_no_record_is_rejected(raw: bytes) -> None:
    found = records.read(raw, "here@0", 0)
    assert isinstance(found, Rejected)
    assert not found.reason.startswith(READER_FAILED)


def test_a_fault_of_a_reader_costs_one_record_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(record: Any) -> Trajectory:
        raise KeyError("oops")

    monkeypatch.setattr(records, "DIALECTS", (DIALECTS[-1]._replace(read=fails),))
    found = records.read(json.dumps(make("openai")).encode(), "here@0", 0)
    assert isinstance(found, Rejected)
    assert found.reason == f"{READER_FAILED}: KeyError: 'oops'"


# Containers -------------------------------------------------------------------------------------------------------

CONTAINERS: dict[str, Callable[[list[Any]], bytes]] = {
    "indent 4": lambda rows: json.dumps(rows, indent=4, ensure_ascii=False).encode(),
    "one line": lambda rows: json.dumps(rows).encode(),
    "lines": lambda rows: "\n".join(map(json.dumps, rows)).encode(),
    "CRLF lines with a BOM": lambda rows: b"\xef\xbb\xbf" + "\r\n".join(map(json.dumps, rows)).encode(),
    "a record a line of an array": lambda rows: ("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]").encode(),
    "one after another": lambda rows: "\n".join(json.dumps(row, indent=2) for row in rows).encode(),
    "gzip": lambda rows: gzip.compress(json.dumps(rows, indent=1).encode()),
    "reversed keys": lambda rows: json.dumps([_reversed(row) for row in rows], indent=2).encode(),
}


def _reversed(value: Any) -> Any:
    """The same with all keys in the other order, but for a call's arguments, which are kept to the byte."""
    if isinstance(value, dict):
        return {k: v if k == "arguments" else _reversed(v) for k, v in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def tables(data: Tables) -> dict[str, pl.DataFrame]:
    """All that a record says of itself, in the order of the records.

    The arguments of a call that holds them as an object are kept as they were written, white space included: here they
    are compared by what they say.
    """
    drop = ("origin", "record_bytes", "trajectory_id", "byte_offset")
    kept = [t for t in schema.RECORD_TABLES if t not in (schema.TOOLS, schema.REJECTED)]
    found = {
        table.name: getattr(data, table.name).sort("trajectory_id", maintain_order=True).collect() for table in kept
    }
    written, is_object = pl.col("arguments"), pl.col("arguments_form") == "object"
    said = written.map_elements(lambda text: json.dumps(json.loads(text), sort_keys=True), pl.String)
    found["tool_calls"] = found["tool_calls"].with_columns(pl.when(is_object).then(said).otherwise(written))
    found["findings"] = found["findings"].sort(pl.all())
    found["tools"] = data.tools.sort("tool_set", "tool_name").collect()
    return {name: frame.drop(drop, strict=False) for name, frame in found.items()}


def mixture() -> list[dict[str, Any]]:
    """Every fixture and every maker's record twice, one with something wrong: a source of all dialects."""
    bad = [make(name, arguments="[1]", result="Error: no", user=PARTS) for name in MAKERS]
    return [*(fixture(path.stem) for path in FIXTURES), *(make(name) for name in MAKERS), *bad, {"messages": "[{"}]


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_source_of_all_dialects_gives_the_same_tables_in_every_container(tmp_path: Path, container: str) -> None:
    rows = mixture()
    name = "misleading.json" if "line" in container else "misleading.jsonl"
    (tmp_path / "plain.json").write_text(json.dumps(rows, indent=3), encoding="utf-8")
    expected = load(str(tmp_path / "plain.json"), progress=False)
    (tmp_path / name).write_bytes(CONTAINERS[container](rows))
    found = load(str(tmp_path / name), progress=False)
    for told in (found.manifest, expected.manifest):
        assert (told["records_in"], told["kept"], told["rejected"]) == (len(rows), len(rows) - 1, 1)
    assert found.manifest["dialects"] == expected.manifest["dialects"]
    assert found.manifest["dialects"].keys() >= MAKERS.keys()
    for table, frame in tables(found).items():
        assert_frame_equal(frame, tables(expected)[table])


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("container", [name for name in CONTAINERS if name not in ("gzip", "reversed keys")])
def test_a_torn_source_of_all_dialects_keeps_what_is_whole(tmp_path: Path, container: str, cut: float) -> None:
    rows = mixture()
    data = CONTAINERS[container](rows)
    (tmp_path / "torn.json").write_bytes(data[: int(len(data) * cut)])
    told = load(str(tmp_path / "torn.json"), progress=False).manifest
    assert told["records_in"] == told["kept"] + told["rejected"]
    assert told["rejected"] + len(told["damage"]) >= 1
    (tmp_path / "whole.json").write_bytes(CONTAINERS[container](rows[: told["kept"]]))
    whole = load(str(tmp_path / "whole.json"), progress=False)
    assert whole.manifest["kept"] == told["kept"] > 0
    for table, frame in tables(load(str(tmp_path / "torn.json"), progress=False)).items():
        assert_frame_equal(frame, tables(whole)[table])


def test_parquet_of_each_dialect_gives_what_its_json_gives(tmp_path: Path, dialect: str) -> None:
    rows = [make(dialect, arguments='{"id": 2}'), make(dialect, says="Done.")]
    (tmp_path / "rows.json").write_text(json.dumps(rows, indent=4), encoding="utf-8")
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    found, expected = (load(str(tmp_path / f"rows.{kind}"), progress=False) for kind in ("parquet", "json"))
    for table, frame in tables(found).items():
        assert_frame_equal(frame, tables(expected)[table])


@pytest.mark.slow
def test_units_and_processes_change_nothing_but_the_shard_in_the_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all.json").write_text(json.dumps(mixture(), indent=4), encoding="utf-8")
    whole = tables(load(str(tmp_path / "all.json"), progress=False))
    monkeypatch.setattr(plan, "UNIT_BYTES", 2000)
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    for jobs in (1, 2):
        monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / f"cache-{jobs}"))
        data = load(str(tmp_path / "all.json"), jobs=jobs, progress=False)
        assert data.trajectories.select(pl.col("trajectory_id").str.head(5).n_unique()).collect().item() > 3
        for table, frame in tables(data).items():
            assert_frame_equal(frame, whole[table])


# The two readers of chat messages ---------------------------------------------------------------------------------

TEXT = st.text(max_size=12)
CALL = st.fixed_dictionaries(
    {"function": st.fixed_dictionaries({"name": TEXT, "arguments": TEXT})},
    optional={"id": TEXT | st.none(), "type": TEXT | st.none()},
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(sorted(ROLES))},
    optional={
        "content": TEXT | st.none(),
        "reasoning_content": TEXT | st.none(),
        "tool_calls": st.lists(CALL, max_size=3) | st.none(),
        "tool_call_id": TEXT | st.none(),
        "name": TEXT | st.none(),
    },
)


@given(messages=st.lists(MESSAGE, max_size=6), is_text=st.booleans(), is_ascii=st.booleans())
def test_the_typed_and_the_patient_reader_of_messages_agree(
    messages: list[dict[str, Any]], is_text: bool, is_ascii: bool
) -> None:
    inner = json.dumps(messages, ensure_ascii=is_ascii)
    raw = json.dumps({"messages": inner if is_text else messages}, ensure_ascii=is_ascii).encode("utf-8", "replace")
    typed, patient = Record(raw, "here"), Record(raw, "here")
    text = patient.inner("messages")
    assert chat.read_messages(typed) == chat.read_items(patient, "messages", flagged_list(patient, "messages", text))
    assert typed.findings == patient.findings

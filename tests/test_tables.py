"""What is kept, what is rejected, what is written, and when nothing is decoded again."""

import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from analysis import processes, sample, schema, sources
from analysis.schema import conform
from analysis.sources.containers import parquet, plan
from analysis.tables import Tables, cache, crew, decode, load, summary, write_tables
from analysis.tables.crew import Crew
from analysis.tables.receipts import Receipt
from analysis.tables.units import decode_units
from tests.builders import step, tool, trajectory
from tests.dialects import MAKERS, make

TABLES = [table for table in schema.RECORD_TABLES if table is not schema.REJECTED]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    return  # type: ignore[return-value]


def people() -> list[dict[str, Any]]:
    """Six records: ok, error, unanswered, conversation, an undeclared tool, an environment of its own."""
    return [
        trajectory("t1", steps=[step("get_user", arguments={"id": 1}), step(says="Task Completed")]),
        trajectory("t2", steps=[step("transfer", error="no 'funds'"), step("transfer"), step(says="Task Completed")]),
        trajectory("t3", steps=[step("transfer", answered=False)]),
        trajectory("t1", traj_type="conversation", steps=[step(says="Who?", user="Ann."), step("get_user")]),
        trajectory("t4", steps=[step("steal"), step(says="Task Completed")], tools=["get_user", "transfer"]),
        trajectory("t1", env_id="env_10_sft", steps=[step(says="Task Completed", reasoning=None)]),
    ]


def written(folder: Path, text: str | bytes, name: str = "trajectories.json") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def dumped(records: list[dict[str, Any]], **options: Any) -> str:
    return json.dumps(records, ensure_ascii=False, **({"indent": 4} | options))


def frames(data: Tables, *, drop: tuple[str, ...] = ("origin", "record_bytes")) -> dict[str, pl.DataFrame]:
    """Every table but `rejected`, without where records stand."""
    found = {}
    for table in TABLES:
        frame: pl.DataFrame = getattr(data, table.name).collect()
        found[table.name] = frame.drop(drop, strict=False).sort(pl.all())
    return found


def test_every_table_conforms_to_its_declaration(tmp_path: Path) -> None:
    data = load(written(tmp_path, dumped(people())))
    for table in schema.BASE_TABLES:
        frame = getattr(data, table.name).collect()
        assert frame.schema == table.schema
        conform(frame, table)


def test_in_is_kept_and_rejected_and_the_rejected_one_is_named(tmp_path: Path) -> None:
    records = people()
    records[2] = records[2] | {"messages": records[2]["messages"][:40]}
    text = dumped(records)
    data = load(written(tmp_path, text))
    assert (data.manifest["records_in"], data.manifest["kept"], data.manifest["rejected"]) == (6, 5, 1)
    ((origin, offset, reason),) = data.rejected.collect().rows()
    assert origin == f"trajectories.json@{offset}"
    assert json.JSONDecoder().raw_decode(text.encode()[offset:].decode())[0] == records[2]
    assert reason.startswith("messages: ")


def test_a_scenario_run_twice_in_one_mode_is_a_finding_and_no_loss(tmp_path: Path) -> None:
    data = load(written(tmp_path, dumped([people()[0], people()[0], people()[3]])))
    repeats = data.findings.filter(pl.col("rule") == "repeated_task").collect()
    assert repeats["trajectory_id"].to_list() == ["00000-00000", "00000-00001"]
    assert data.manifest["kept"] == 3


def test_one_task_id_in_two_environments_is_two_scenarios(tmp_path: Path) -> None:
    one, other = people()[0], json.loads(json.dumps(people()[0]))
    other["task_info"]["env_id"] = "another"
    data = load(written(tmp_path, dumped([one, other])))
    assert data.findings.filter(pl.col("rule") == "repeated_task").collect().is_empty()


def test_a_second_load_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path, dumped(people()))
    first = frames(load(source))
    monkeypatch.setattr(crew, "decode_unit", None)
    for name, frame in frames(load(source)).items():
        assert_frame_equal(frame, first[name])


def test_the_same_file_in_another_place_is_known_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = frames(load(written(tmp_path, dumped(people()))), drop=())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(crew, "decode_unit", None)
    for name, frame in frames(load(written(tmp_path / "elsewhere", dumped(people()))), drop=()).items():
        assert_frame_equal(frame, first[name])


def test_the_same_bytes_under_another_name_are_told_by_that_name(tmp_path: Path) -> None:
    load(written(tmp_path, dumped(people())))
    other = load(written(tmp_path, dumped(people()), "copy.json"))
    assert other.manifest["kept"] == 6
    assert {origin.split("@")[0] for origin in other.trajectories.collect()["origin"]} == {"copy.json"}


@pytest.mark.parametrize("moment", ["hashed", "decoded"])
def test_a_file_that_is_written_to_while_it_is_read_is_refused_and_never_known_by_other_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    before, after = dumped(people()[:2]), dumped(people())
    source = written(tmp_path, before)
    module, name = {"hashed": (cache, "content_hash"), "decoded": (crew, "decode_unit")}[moment]
    real = getattr(module, name)

    def then_another_program_writes(*args: Any) -> Any:
        done = real(*args)
        written(tmp_path, after)
        return done

    with monkeypatch.context() as patch:
        patch.setattr(module, name, then_another_program_writes)
        with pytest.raises(
            sources.SourceError, match=r"trajectories\.json: written to while it was read; load it again"
        ):
            load(source)
        written(tmp_path, before)
        with pytest.raises(sources.SourceError, match="written to while it was read"):
            write_tables(source, tmp_path / "out")
    assert load(source).manifest["kept"] == 6
    written(tmp_path, before)
    assert load(source).manifest["kept"] == 2
    assert write_tables(source, tmp_path / "out")["kept"] == 2


def test_a_file_that_is_taken_away_while_it_is_read_is_refused(tmp_path: Path) -> None:
    files = sources.locate(written(tmp_path, dumped(people())))
    sources.refuse_changed(files)
    Path(files[0].path).unlink()
    with pytest.raises(sources.SourceError, match=r"^trajectories\.json: written to"):
        sources.refuse_changed(files)


def test_a_second_pass_over_a_file_that_is_written_to_meanwhile_is_refused(tmp_path: Path) -> None:
    source = written(tmp_path, dumped(people()))
    data = load(source)
    table = schema.Table("lengths", "record", (schema.TRAJECTORIES["trajectory_id"], schema.TRAJECTORIES["steps"]))

    def another_program_writes(record: Any) -> list[tuple[Any, ...]]:
        written(tmp_path, dumped(people()[:2]))
        return [(record.steps,)]

    with pytest.raises(sources.SourceError, match="written to while it was read"):
        data.derive(table, another_program_writes, key="")
    written(tmp_path, dumped(people()))
    data = load(source)
    records = data.raw_records()
    next(records)
    written(tmp_path, dumped(people()[:2]))
    with pytest.raises(sources.SourceError, match="written to while it was read"):
        list(records)


def test_contents_are_named_by_the_published_blake3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "abc.json").write_bytes(b"abc")
    # Of "abc", as other implementations give it.
    known = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
    assert cache.content_hash(sources.locate(str(tmp_path / "abc.json"))) == f"blake3:{known}"


def test_the_hash_of_a_file_is_remembered_once_it_rests_and_of_that_state_alone(tmp_path: Path) -> None:
    source = written(tmp_path, dumped(people()))

    def is_remembered() -> bool:
        files = sources.locate(source)
        cache.content_hash(files)
        return cache.is_remembered(files)

    assert not is_remembered()  # within the clock's grain it could be written to again
    time.sleep(cache.RACY_S + 0.1)
    assert is_remembered()
    written(tmp_path, dumped(people()))
    assert not cache.is_remembered(sources.locate(source))


def test_changed_bytes_of_the_same_size_and_time_are_not_missed(tmp_path: Path) -> None:
    text = dumped(people())
    source = written(tmp_path, text)
    old = time.time() - 1000
    os.utime(source, (old, old))
    stat = Path(source).stat()
    assert load(source).manifest["kept"] == 6
    with Path(source).open("r+b") as stream:
        stream.seek(text.index("env_10_sft"))
        stream.write(b"env_20_sft")
    os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert Path(source).stat().st_size == stat.st_size
    assert "env_20_sft" in load(source).trajectories.collect()["env_id"].to_list()


@pytest.mark.parametrize("variant", ["indent 2", "one line", "lines", "keys", "parquet", "units"])
def test_container_layout_order_of_keys_and_units_change_nothing_but_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    records = people()
    expected = frames(load(written(tmp_path, dumped(records))), drop=("origin", "record_bytes", "trajectory_id"))
    text: str | bytes = {
        "indent 2": dumped(records, indent=2),
        "one line": dumped(records, indent=None),
        "lines": "\n".join(json.dumps(record) for record in records),
        "keys": dumped([dict(reversed(record.items())) for record in records], indent=1),
    }.get(variant, dumped(records, indent=3))
    source = written(tmp_path, text, "other.json")
    if variant == "parquet":
        pl.DataFrame(records).write_parquet(source)
    if variant == "units":
        monkeypatch.setattr(plan, "UNIT_BYTES", 300)
    found = frames(load(source), drop=("origin", "record_bytes", "trajectory_id"))
    for name, frame in found.items():
        assert_frame_equal(frame, expected[name])


def test_a_folder_of_small_files_gives_the_tables_of_one_file_and_few_parts(tmp_path: Path) -> None:
    records = [trajectory(f"t{n}", steps=[step("get_user"), step(says="Task Completed")]) for n in range(60)]
    dropped = ("origin", "record_bytes", "trajectory_id")
    expected = frames(load(written(tmp_path, dumped(records), "all.json")), drop=dropped)
    (tmp_path / "runs").mkdir()
    for number, record in enumerate(records):
        text = (json.dumps(record), json.dumps(record, indent=2), dumped([record]))[number % 3]
        written(tmp_path / "runs", text, f"run {number}.json")
    data = load(str(tmp_path / "runs"))
    for name, frame in frames(data, drop=dropped).items():
        assert_frame_equal(frame, expected[name])
    assert len(list((Path(data.folder) / "trajectories").iterdir())) == 1
    origins = data.trajectories.sort("trajectory_id").collect()["origin"].to_list()
    assert [origin.partition("@")[0] for origin in origins] == [f"run {number}.json" for number in range(60)]
    known = dict(data.trajectories.select("trajectory_id", "origin").collect().iter_rows())
    assert known == {id_: raw.origin for id_, raw in data.raw_records()}


def test_of_small_files_one_that_misleads_has_all_its_unit_read_by_brackets_and_one_that_is_broken_costs_only_itself(
    tmp_path: Path,
) -> None:
    records = people()
    (tmp_path / "runs").mkdir()
    broken = json.dumps(records[0])[:-20]
    for number in range(decode.DOUBTS + 5):
        written(tmp_path / "runs", broken, f"{number} broken.json")
    written(tmp_path / "runs", dumped(records), "50.json")
    data = load(str(tmp_path / "runs"))
    assert (data.manifest["kept"], data.manifest["rejected"]) == (len(records), decode.DOUBTS + 5)
    assert data.manifest["by_brackets"] == []
    deep = [record | {"tools": json.loads(record["tools"])} for record in records]
    misleading = dumped(deep).replace("\n            {", "\n    {")
    written(tmp_path / "runs", misleading, "51 misleading.json")
    data = load(str(tmp_path / "runs"))
    assert (data.manifest["kept"], data.manifest["rejected"]) == (2 * len(records), decode.DOUBTS + 5)
    assert len(data.manifest["by_brackets"]) == decode.DOUBTS + 7
    assert data.rejected.collect()["origin"].str.contains("broken").all()
    known = dict(data.trajectories.select("trajectory_id", "origin").collect().iter_rows())
    assert known.items() <= {id_: raw.origin for id_, raw in data.raw_records()}.items()


def test_small_files_that_cannot_be_read_together_are_named_from_first_to_last(tmp_path: Path) -> None:
    for number in range(3):
        written(tmp_path, dumped(people()), f"{number}.json")
    (unit,) = sources.plan(sources.locate(str(tmp_path / "*.json")))
    receipt = crew.give_up(unit, str(tmp_path / "out"), "the process that read it died")
    assert (receipt.records_in, receipt.rejected) == (1, 1)
    assert receipt.damage == [
        ("0.json@0", "3 files, from here to 2.json, could not be read in 3 attempts: the process that read it died")
    ]


def test_tool_sets_are_the_same_set_whatever_their_indent_and_key_order(tmp_path: Path) -> None:
    first = trajectory("t1", tools=[tool("a", properties={"x": {"type": "string"}})])
    second = first | {"tools": json.dumps([dict(reversed(t.items())) for t in json.loads(first["tools"])], indent=3)}
    data = load(written(tmp_path, dumped([first, second])))
    assert data.trajectories.select(pl.col("tool_set").n_unique()).collect().item() == 1
    assert data.tools.collect().height == 1


def test_a_task_is_counted_over_all_parts_however_few_are_looked_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 300)
    records = people()
    for record in records[2:5]:
        del record["task_info"]["task_id"]  # no name is no task in common
    records = [*records, *people()[:2], people()[0]]
    source = written(tmp_path, dumped(records))
    times = Counter((r["traj_type"], r["task_info"]["task_id"]) for r in records if "task_id" in r["task_info"])
    expected = [
        f"{times[key]} of {key[1]} as {key[0]}"
        for key in ((r["traj_type"], r["task_info"].get("task_id")) for r in records)
        if times[key] > 1
    ]
    assert len(expected) == 5
    for few in (1, 2, 4, 100):
        monkeypatch.setattr(summary, "FEW_PARTS", few)
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        data = load(source)
        assert data.manifest["kept"] == len(records) < len(sources.plan(sources.locate(source)))
        found = data.findings.filter(pl.col("rule") == "repeated_task").sort("trajectory_id").collect()
        assert found["detail"].to_list() == expected


def dies_once(unit: sources.Unit, target: str) -> Receipt:
    """Stands in for `decode_unit` in a worker: kills its process at the first attempt on unit 2, at all on unit 3."""
    marker = Path(target) / "died"
    if unit.shard == 3 or (unit.shard == 2 and not marker.exists()):
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return decode.decode_unit(unit, target)


def records_of(unit: sources.Unit) -> int:
    return sum(isinstance(item, sources.Raw) for item in sources.read_unit(unit))


@pytest.mark.slow
def test_a_process_that_dies_is_replaced_and_a_unit_that_kills_three_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 1500)
    monkeypatch.setattr(processes, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(crew, "decode_unit", dies_once)
    source = written(tmp_path, dumped(people()))
    units = sources.plan(sources.locate(source))
    receipts = decode_units(units, str(tmp_path / "out"), Crew(jobs=2, progress=False))
    assert [receipt.shard for receipt in receipts] == [unit.shard for unit in units]
    assert [receipt.shard for receipt in receipts if receipt.damage] == [3]
    assert sum(receipt.kept for receipt in receipts) == len(people()) - records_of(units[3])
    rejected = pl.read_parquet(tmp_path / "out" / "rejected" / "*.parquet")
    assert rejected.height == sum(receipt.rejected for receipt in receipts)


def test_a_unit_that_a_cluster_gives_up_is_one_named_rejection_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 1500)
    source = written(tmp_path, dumped(people()))
    units = sources.plan(sources.locate(source))

    def fails(unit: sources.Unit, target: str) -> Receipt:
        if unit.shard == 2:
            raise RuntimeError("the worker died")
        return decode.decode_unit(unit, target)

    with ThreadPoolExecutor(2) as cluster:
        receipts = list(crew._collect(cluster, units, str(tmp_path / "out"), fails, attempts=1))
    (lost,) = [receipt for receipt in receipts if receipt.damage]
    assert (lost.shard, lost.records_in, lost.rejected) == (2, 1, 1)
    assert "RuntimeError: the worker died" in lost.damage[0][1]
    assert sum(receipt.kept for receipt in receipts) == len(people()) - records_of(units[2])


def test_a_unit_that_cannot_be_read_costs_no_other_in_one_process_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "UNIT_BYTES", 1500)
    source = written(tmp_path, dumped(people()))
    attempts: list[int] = []

    def fails(unit: sources.Unit, target: str) -> Receipt:
        attempts.append(unit.shard)
        if unit.shard == 2 or attempts == [0]:  # the first unit is read at the second attempt
            raise TimeoutError("the store did not answer")
        return decode.decode_unit(unit, target)

    monkeypatch.setattr(crew, "decode_unit", fails)
    data = load(source, jobs=1)
    assert attempts[:6] == [0, 0, 1, 2, 2, 2]
    assert data.manifest["records_in"] == data.manifest["kept"] + 1
    assert "in 3 attempts: TimeoutError: the store did not answer" in data.rejected.collect()["reason"].item()


def test_whoever_meets_tables_that_lack_a_part_is_told_how_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source, out = written(tmp_path, dumped(people())), tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(crew, "decode_unit", None)
        folder = load(source).folder
    remedy = f"1 part could not be read in 3 attempts; to try again, remove {folder}"
    for again in (lambda: load(source), lambda: write_tables(source, out), lambda: write_tables(source, out)):
        caplog.clear()
        again()
        assert remedy in caplog.messages
    shutil.rmtree(folder)
    caplog.clear()
    assert write_tables(source, out)["kept"] == load(source).manifest["kept"] == 6
    assert not caplog.messages


@pytest.mark.parametrize("error", [pl.exceptions.ComputeError, pl.exceptions.PanicException])
def test_a_page_of_parquet_that_cannot_be_read_costs_its_rows_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    monkeypatch.setattr(parquet, "ROWS_PER_UNIT", 2)
    source = tmp_path / "rows.parquet"
    pl.DataFrame([make("release", task_id=f"n{n}") for n in range(6)]).write_parquet(source)
    real = pl.LazyFrame.slice

    def broken(frame: pl.LazyFrame, offset: int, length: int | None = None) -> pl.LazyFrame:
        if offset == 2:
            raise error("a page is broken")
        return real(frame, offset, length)

    monkeypatch.setattr(pl.LazyFrame, "slice", broken)
    data = load(str(source), jobs=1, progress=False)
    assert data.trajectories.collect()["task_id"].to_list() == ["n0", "n1", "n4", "n5"]
    assert "rows 2-4 could not be read in 3 attempts" in data.rejected.collect()["reason"].item()


def test_the_same_bytes_decoded_twice_give_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = written(tmp_path, dumped([make(name) for name in MAKERS] + people()))
    found = []
    for name in ("one", "two"):
        monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / name))
        found.append(load(source))
    assert found[0].folder != found[1].folder
    for table in schema.RECORD_TABLES:
        assert_frame_equal(*(getattr(data, table.name).collect() for data in found))


def test_a_unit_that_cannot_be_read_is_one_named_rejection(tmp_path: Path) -> None:
    source = written(tmp_path, dumped(people()))
    (unit,) = sources.plan(sources.locate(source))
    receipt = crew.give_up(unit, str(tmp_path / "out"), "the process that read it died")
    assert (receipt.records_in, receipt.kept, receipt.rejected) == (1, 0, 1)
    rejected = pl.read_parquet(tmp_path / "out" / "rejected" / "*.parquet")
    assert "the process that read it died" in rejected["reason"].item()


def test_written_tables_hold_every_table_and_a_manifest(tmp_path: Path) -> None:
    manifest = write_tables(written(tmp_path, dumped(people())), tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == manifest
    assert {
        "source",
        "bytes",
        "content_hash",
        "dialects",
        "records_in",
        "kept",
        "rejected",
        "versions",
    } <= manifest.keys()
    assert manifest["dialects"] == {"release": 6}
    for table in TABLES:
        assert pl.read_parquet(tmp_path / "out" / table.name / "*.parquet").schema == table.schema
    assert pl.read_parquet(tmp_path / "out" / "trajectories" / "*.parquet").height == manifest["kept"]


def test_tables_are_not_written_over_somebodys_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(FileExistsError, match="name another"):
        write_tables(written(tmp_path, dumped(people())), tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_a_selection_narrows_every_table(tmp_path: Path) -> None:
    data = load(written(tmp_path, dumped(people()))).where(env_id="env_1_sft", traj_type="conversation")
    assert data.trajectories.collect().height == 1
    for table in (schema.MESSAGES, schema.TOOL_CALLS):
        assert getattr(data, table.name).collect()["trajectory_id"].unique().to_list() == ["00000-00003"]


def test_a_misspelt_environment_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nearest: env_10_sft"):
        load(written(tmp_path, dumped(people()))).where(env_id="env_10_stf")


def test_a_trajectory_is_read_again_with_its_texts(tmp_path: Path) -> None:
    data = load(written(tmp_path, dumped(people())))
    second, first = data.read(["00000-00001", "00000-00000"])
    assert second.calls[0].error == "no 'funds'"
    assert first.messages[2].reasoning == "I think."
    with pytest.raises(KeyError, match="00000-00099"):
        data.read(["00000-00099"])


def test_a_file_whose_lines_mislead_is_read_again_under_the_ids_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lists instead of JSON texts, and what stands inside a record indented like a record.
    records = [record | {"messages": json.loads(record["messages"])} for record in people()]
    text = dumped(records).replace("\n            {", "\n    {")
    monkeypatch.setattr(plan, "UNIT_BYTES", 700)
    data = load(written(tmp_path, text))
    assert data.manifest["by_brackets"] == ["trajectories.json"]
    assert (data.manifest["kept"], data.manifest["rejected"]) == (6, 0)
    table = schema.Table("words", "record", (schema.TRAJECTORIES["trajectory_id"], schema.TRAJECTORIES["task_id"]))
    again = data.derive(table, lambda trajectory: [(trajectory.task_id,)], key="1").collect()
    assert_frame_equal(again, data.trajectories.select("trajectory_id", "task_id").collect())


def test_a_source_that_changed_since_is_not_read_under_the_old_ids(tmp_path: Path) -> None:
    source = written(tmp_path, dumped(people()))
    data = load(source)
    written(tmp_path, dumped(people()[::-1]))
    with pytest.raises(sources.SourceError, match="load it again"):
        data.read(["00000-00000"])


def test_a_derived_table_may_begin_with_many_nulls(tmp_path: Path) -> None:
    table = schema.Table("marks", "message", (schema.TRAJECTORIES["trajectory_id"], schema.TRAJECTORIES["steps"]))
    data = load(written(tmp_path, dumped(people())))
    frame = data.derive(table, lambda trajectory: [(None,)] * 200 + [(trajectory.steps,)], key="1").collect()
    assert frame["steps"].drop_nulls().to_list() == data.trajectories.collect()["steps"].to_list()


def test_a_derived_table_is_made_once(tmp_path: Path) -> None:
    table = schema.Table("words", "record", (schema.TRAJECTORIES["trajectory_id"], schema.MESSAGES["content_chars"]))
    data = load(written(tmp_path, dumped(people())))
    made: list[str] = []

    def rows(read: Any) -> list[tuple[int]]:
        made.append(read.origin)
        return [(sum(len(message.content) for message in read.messages),)]

    frame = data.derive(table, rows, key="1").collect()
    assert_frame_equal(frame, data.derive(table, rows, key="1").collect())
    assert len(made) == 6
    chars = data.messages.group_by("trajectory_id").agg(pl.col("content_chars").sum()).sort("trajectory_id")
    assert_frame_equal(frame, chars.collect())


def test_the_sample_says_that_it_is_synthetic_and_brings_its_siblings() -> None:
    data = load("sample")
    assert data.manifest["synthetic"]
    assert data.manifest["records_in"] == data.manifest["kept"] == sample.DEFAULT["trajectories"]
    known = set(data.environments.collect()["env_id"])
    assert set(data.trajectories.collect()["env_id"]) < known
    assert data.checks.collect().height > 0


# Mutations ----------------------------------------------------------------------------------------------------------

CONTAINERS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "indent 4": dumped,
    "one line": lambda records: dumped(records, indent=None),
    "lines": lambda records: "\n".join(json.dumps(record, ensure_ascii=False) for record in records),
}


def _whole(data: Tables, victim: int) -> list[str]:
    """task ids of the records that are not the victim, in order."""
    ids = data.trajectories.collect()["task_id"].to_list()
    return [id_ for id_ in ids if id_ in {f"n{n}" for n in range(5) if n != victim}]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    dialect=st.sampled_from(sorted(MAKERS)),
    container=st.sampled_from(sorted(CONTAINERS)),
    victim=st.integers(0, 4),
    where=st.floats(0, 1, exclude_max=True),
    mutation=st.sampled_from(["drop", "flip", "quote", "brace", "cut", "newline", "nul", "bytes"]),
    seed=st.integers(0, 2**16),
)
def test_a_record_mutated_in_its_bytes_costs_no_other_record(
    tmp_path_factory: pytest.TempPathFactory,
    dialect: str,
    container: str,
    victim: int,
    where: float,
    mutation: str,
    seed: int,
) -> None:
    records = [make(dialect, arguments={"id": n}, task_id=f"n{n}") for n in range(5)]
    data = CONTAINERS[container](records).encode()
    (unit,) = _units(tmp_path_factory.mktemp("plan"), data)
    raw = [item for item in sources.read_unit(unit) if isinstance(item, sources.Raw)][victim]
    assert raw.byte_offset is not None
    inside = raw.byte_offset + 1 + int(where * (len(raw.data) - 2))
    random_ = random.Random(seed)
    patch = {
        "drop": b"",
        "flip": bytes([data[inside] ^ (1 << random_.randrange(8))]),
        "quote": b'"',
        "brace": random_.choice([b"{", b"}", b"[", b"]"]),
        "cut": b"",
        "newline": b"\n",
        "nul": b"\0",
        "bytes": random_.randbytes(3),
    }[mutation]
    length = min(random_.randrange(1, 40), raw.byte_offset + len(raw.data) - 1 - inside) if mutation == "cut" else 1
    mutated = data[:inside] + patch + data[inside + length :]
    loaded = load(written(tmp_path_factory.mktemp("data"), mutated), progress=False)
    manifest = loaded.manifest
    assert manifest["records_in"] == manifest["kept"] + manifest["rejected"]
    assert manifest["kept"] == loaded.trajectories.collect().height
    assert manifest["rejected"] == loaded.rejected.collect().height
    assert _whole(loaded, victim) == [f"n{n}" for n in range(5) if n != victim]


def _units(folder: Path, data: bytes) -> list[sources.Unit]:
    return sources.plan(sources.locate(written(folder, data)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just("\ud83d") | st.just(2**80),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fixture=st.sampled_from(sorted(path.stem for path in (Path(__file__).parent / "records").glob("*.json"))),
    path=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    value=VALUES,
    is_dropped=st.booleans(),
)
def test_a_record_mutated_in_its_values_is_kept_or_rejected_and_never_raises(
    fixture: str, path: list[int], value: Any, is_dropped: bool
) -> None:
    from analysis import records  # noqa: PLC0415
    from analysis.tables.rows import Rows  # noqa: PLC0415

    case = json.loads((Path(__file__).parent / "records" / f"{fixture}.json").read_text(encoding="utf-8"))
    record = _mutated(case["record"], path, value, is_dropped)
    read = records.read(json.dumps(record).encode(), "x@0", 0)
    rows = Rows()
    rows.add("00000-00000", read)
    made = rows.frames()
    assert made["trajectories"].height + made["rejected"].height == 1
    for table in schema.RECORD_TABLES:
        conform(made[table.name], table)


def _mutated(value: Any, path: list[int], new: Any, is_dropped: bool) -> Any:
    """Replace or drop one value, inside JSON texts too."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.dumps(_mutated(json.loads(value), path, new, is_dropped))
        except ValueError:
            return new
    if not path or not isinstance(value, dict | list) or not value:
        return new
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    if len(path) == 1 and is_dropped:
        return (
            {k: v for k, v in value.items() if k != key}
            if isinstance(value, dict)
            else [v for v in value if v is not value[key]]
        )
    changed = _mutated(value[key], path[1:], new, is_dropped)
    return {**value, key: changed} if isinstance(value, dict) else [*value[:key], changed, *value[key + 1 :]]

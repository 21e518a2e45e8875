"""An export from start to end: every record accounted for, read again to the same tables, whole or not at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis import sample
from analysis.cli import export as command
from analysis.cli.main import main
from analysis.export import FORMATS, ExportError, ExportRequest, export
from analysis.sources import SourceError
from analysis.tables import Tables, load, write_tables
from tests.builders import step, trajectory

Written = Callable[..., Path]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small sample, as a file of the release's layout."""
    path = tmp_path_factory.mktemp("played") / "trajectories.json"
    sample.write(path, trajectories=30, environments=4, seed=11)
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path_factory.getbasetemp() / "export-cache"))


def run(source: Path, out: Path, shape: str, **asked: Any) -> dict[str, Any]:
    return export(ExportRequest(str(source), out, shape, **{"progress": False, "jobs": 1, **asked}))


def again(out: Path, manifest: dict[str, Any], name: str = "train") -> Tables:
    """What our own readers read of an export."""
    (file,) = manifest["splits"][name]["files"]
    return load(str(out / file), progress=False)


def content(frame: pl.LazyFrame) -> pl.DataFrame:
    """A table without where its records stand."""
    return frame.drop("origin", "record_bytes", strict=False).collect()


@pytest.mark.parametrize("shape", FORMATS)
def test_in_is_exported_filtered_refused_and_rejected_in_every_format(shape: str, tmp_path: Path) -> None:
    records = [
        trajectory("t1", env_id="bank", steps=[step(tool="get"), step(says="Task Completed")]),
        trajectory("t2", env_id="bank", steps=[step(tool="get"), step(tool="pay", answered=False)], closing=False),
        trajectory("t3", env_id="shop"),
        {"neither": "this nor that"},
    ]
    source = tmp_path / "records.json"
    source.write_text(json.dumps(records, indent=4), encoding="utf-8")
    manifest = run(source, tmp_path / "out", shape, where="env_id = 'bank'")
    refused = 1 if shape in ("openai", "atif", "sharegpt", "alpaca-mask-history") else 0
    counts = {name: manifest[name] for name in ("records_in", "exported", "filtered", "refused", "rejected")}
    assert counts == {"records_in": 4, "exported": 2 - refused, "filtered": 1, "refused": refused, "rejected": 1}
    assert manifest["refusals"] == ({"unanswered_call": 1} if refused else {})
    assert [row["rule"] for row in manifest["refused_records"]] == ["unanswered_call"] * refused
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == manifest


@pytest.mark.parametrize("shape", ["messages", "parquet"])
def test_chat_rows_of_the_sample_read_as_the_same_tables(shape: str, played: Path, tmp_path: Path) -> None:
    manifest = run(played, tmp_path / "out", shape)
    ours, theirs = load(str(played), progress=False), again(tmp_path / "out", manifest)
    for table in ("trajectories", "messages", "tool_calls", "tools", "findings", "rejected"):
        assert_frame_equal(content(getattr(theirs, table)), content(getattr(ours, table)))


def test_sharegpt_rows_of_the_sample_read_as_the_same_tables_but_for_the_closing_turn(
    played: Path, tmp_path: Path
) -> None:
    manifest = run(played, tmp_path / "out", "sharegpt")
    ours, theirs = load(str(played), progress=False), again(tmp_path / "out", manifest)
    closing = ours.messages.filter(pl.col("message") == pl.col("message").max().over("trajectory_id"))
    assert closing.select(pl.col("role").unique()).collect().to_series().to_list() == ["user"]
    spoken = ours.messages.join(closing, on=["trajectory_id", "message"], how="anti")
    assert_frame_equal(theirs.messages.collect(), spoken.collect(), check_row_order=False)
    # In the value of a function_call arguments stand as an object; a mode is told by its turns, the closing one too.
    told = ["arguments_form", "traj_type"]
    assert_frame_equal(theirs.tool_calls.drop(told).collect(), ours.tool_calls.drop(told).collect())
    assert_frame_equal(theirs.tools.collect(), ours.tools.collect())


def test_the_last_alpaca_rows_of_the_sample_make_the_same_calls(played: Path, tmp_path: Path) -> None:
    manifest = run(played, tmp_path / "out", "alpaca-mask-history")
    ours, theirs = load(str(played), progress=False), again(tmp_path / "out", manifest)
    steps = ours.trajectories.select("assistant_messages").collect().to_series()
    assert manifest["rows"] == steps.sum()
    row = pl.Series((steps.cum_sum() - 1).cast(pl.String).str.zfill(5))
    last = theirs.tool_calls.filter(pl.col("trajectory_id").str.tail(5).is_in(row.implode()))
    told = ["env_id", "step", "call", "tool_name", "arguments", "arguments_class", "outcome", "error"]
    assert_frame_equal(last.select(told).collect(), ours.tool_calls.select(told).collect())


def test_parquet_holds_values_of_the_wrong_kind_as_nulls_not_as_a_failure(tmp_path: Path) -> None:
    odd: dict[str, Any] = {
        "terminated": "yes",
        "truncated": None,
        "traj_type": 3,
        "steps": "many",
        "total_reward": [],
        "id": {},
    }
    source = tmp_path / "odd.json"
    source.write_text(
        json.dumps([trajectory("t1") | odd, trajectory("t2", terminated=True, truncated=False, trial=7)]),
        encoding="utf-8",
    )
    manifest = run(source, tmp_path / "out", "parquet")
    assert manifest["exported"] == 2
    rows = pl.read_parquet(tmp_path / "out" / manifest["splits"]["train"]["files"][0])
    assert rows.select("terminated", "truncated", "traj_type", "steps", "total_reward", "id", "trial").rows() == [
        (None,) * 7,
        (True, False, "non_conversation", 1, None, None, "7"),
    ]


def test_parquet_is_written_a_part_at_a_time_so_that_memory_does_not_grow(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.export.writers.PART_BYTES", 100_000)
    manifest = run(played, tmp_path / "out", "parquet")
    parts = manifest["splits"]["train"]["files"]
    assert len(parts) > 3
    rows = pl.read_parquet([tmp_path / "out" / part for part in parts])
    order = load(str(played), progress=False).trajectories.select("task_id").collect().to_series().to_list()
    assert rows.get_column("task_info").struct.field("task_id").to_list() == order


# Raw


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("indented.json", lambda records: json.dumps(records, indent=4, ensure_ascii=False)),
        ("dense.json", json.dumps),
        ("lines.jsonl", lambda records: "".join(f"{json.dumps(record)}\n" for record in records)),
    ],
)
def test_raw_records_keep_their_bytes(name: str, text: Callable[[Any], str], tmp_path: Path) -> None:
    records = [trajectory(f"t{n}", steps=[step(says="“Task Completed” \\u00e9 é")], odd=1.50 + n) for n in range(4)]
    source = tmp_path / name
    source.write_text(text(records), encoding="utf-8")
    before = source.read_bytes()
    everything = run(source, tmp_path / "all", "raw")
    if name != "dense.json":
        assert (tmp_path / "all" / everything["splits"]["train"]["files"][0]).read_bytes() == before
    some = run(source, tmp_path / "some", "raw", where="task_id IN ('env_1_sft-t1', 'env_1_sft-t3')")
    found = again(tmp_path / "some", some)
    kept = [raw.data for _, raw in found.raw_records()]
    originals = [raw.data for _, raw in load(str(source), progress=False).raw_records()]
    assert kept == [originals[1], originals[3]]
    assert all(data in before for data in kept)


# Splits


def test_a_split_is_two_files_that_share_no_scenario_and_say_so(played: Path, tmp_path: Path) -> None:
    manifest = run(played, tmp_path / "out", "messages", validation=0.25, seed=3)
    sides = [
        set(again(tmp_path / "out", manifest, name).trajectories.select("env_id", "task_id").collect().rows())
        for name in ("train", "validation")
    ]
    assert not sides[0] & sides[1]
    assert [len(side) for side in sides] == [part["scenarios"] for part in manifest["splits"].values()]
    assert sum(part["records"] for part in manifest["splits"].values()) == 30
    assert manifest["split"] == {"validation": 0.25, "by": "scenario", "seed": 3}
    assert manifest["leaks"]["near_duplicate_tasks"] == len(manifest["leaks"]["shown"])


def test_the_same_request_writes_the_same_bytes(played: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(played, tmp_path / name, "sharegpt", validation=0.25)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["dataset_info.json", "manifest.json", "train.jsonl", "validation.jsonl"]
    assert [(tmp_path / "one" / f).read_bytes() for f in files] == [(tmp_path / "two" / f).read_bytes() for f in files]


# What is there already


def test_an_earlier_export_is_replaced_and_anything_else_is_left_alone(played: Path, tmp_path: Path) -> None:
    run(played, tmp_path / "out", "raw")
    run(played, tmp_path / "out", "messages")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["manifest.json", "train.jsonl"]
    other = tmp_path / "mine"
    other.mkdir()
    (other / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ExportError, match="not a folder that an export wrote"):
        run(played, other, "raw")
    assert [path.name for path in other.iterdir()] == ["notes.txt"]


def test_an_export_that_fails_leaves_the_earlier_one_and_nothing_beside_it(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(played, tmp_path / "out", "messages", where="steps < 12")
    before = (tmp_path / "out" / "train.jsonl").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("analysis.export.writers.Lines.add", full)
    with pytest.raises(OSError, match="No space left"):
        run(played, tmp_path / "out", "messages")
    assert (tmp_path / "out" / "train.jsonl").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_disk_that_cannot_take_parquet_is_told_by_the_system(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a disk that is full Polars has an exception of its own, without the file."""

    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("analysis.files.write_whole", full)
    with pytest.raises(OSError, match=r"No space left on device: .*train-00000\.parquet"):
        run(played, tmp_path / "out", "parquet")


def test_a_folder_of_tables_is_exported_from_the_source_it_was_made_of(played: Path, tmp_path: Path) -> None:
    source = tmp_path / "copied.json"
    source.write_bytes(played.read_bytes())
    write_tables(str(source), tmp_path / "tables", jobs=1, progress=False)
    run(tmp_path / "tables", tmp_path / "out", "raw")
    assert (tmp_path / "out" / "train.json").read_bytes() == source.read_bytes().rstrip()
    source.unlink()
    with pytest.raises(SourceError, match=r"copied\.json: no such file"):
        run(tmp_path / "tables", tmp_path / "other", "raw")
    assert not (tmp_path / "other").exists()


# The command line


def test_the_command_line_knows_the_formats_there_are() -> None:
    assert tuple(FORMATS) == command.FORMATS
    assert all(f"\n  {name} " in command.EPILOG for name in FORMATS)


def test_the_command_says_where_every_record_went_and_what_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    records = [trajectory("t1"), trajectory("t2", steps=[step(tool="pay", answered=False)]), {"no": "shape"}]
    Path("records.json").write_text(json.dumps(records), encoding="utf-8")
    words = ["export", "records.json", "out", "--format", "sharegpt", "--quiet"]
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "out: 3 records in = 1 exported + 0 filtered + 1 refused + 1 rejected",
        "  train: 1 records, 1 rows, 1 scenarios, 1 environments: train.jsonl",
        "  changed: 1 closing turns without an answer, left out",
    ]
    assert said.err.splitlines() == [
        f"analysis: 1 refused, unanswered_call; {Path('out/manifest.json')} names each",
        "analysis: 1 rejected; `python -m analysis tables` names each with its reason",
    ]
    assert main([*words, "--keep-going"]) == 0


def test_the_command_refuses_a_condition_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("records.json").write_text(json.dumps([trajectory()]), encoding="utf-8")
    assert main(["export", "records.json", "out", "--format", "raw", "--where", "env = 1"]) == 2
    assert capsys.readouterr().err == "analysis: --where 'env = 1': no column env; nearest: env_id, end_class, tokens\n"
    assert not Path("out").exists()

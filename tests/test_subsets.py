"""A chosen part of a source, saved as a small file, is a source: exactly these trajectories, or a refusal."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import papermill
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import load, show
from analysis.cli.main import main
from analysis.schema import BASE_TABLES, RECORD_TABLES
from analysis.sources import SourceError
from analysis.tables import Tables, subsets, write_tables
from tests.builders import step, trajectory
from tests.test_report import House, Paper

ID = [f"00000-{row:05d}" for row in range(7)]


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def people() -> list[dict[str, Any]]:
    """Six records of two environments; every second one asks and fails."""
    fails = [step("get_user"), step("transfer", error="no funds"), step(says="Done.")]
    asks = [step("get_user"), step(says="Done.")]
    return [trajectory(f"t{n}", env_id=f"env_{n % 2}", steps=fails if n % 2 else asks) for n in range(6)]


def written(records: list[dict[str, Any]], name: str = "trajectories.json") -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, indent=4), encoding="utf-8")
    return name


def saved(data: Tables, *ids: str, name: str = "few", **options: Any) -> Path:
    return subsets.save(
        name, ids, source=data.source, manifest=data.manifest, trajectories=data.trajectories, **options
    )


def ids(data: Tables, table: str) -> set[str]:
    return set(data.table(table, "trajectory_id").collect().to_series())


def test_a_subset_loads_as_exactly_its_trajectories_in_every_table() -> None:
    whole = load(written(people()))
    part = load(saved(whole, ID[1], ID[4], chosen="by hand"))
    assert part.trajectories.collect()["trajectory_id"].to_list() == [ID[1], ID[4]]
    for name in ("messages", "tool_calls"):
        assert ids(part, name) == {ID[1], ID[4]}
        assert ids(whole, name) > {ID[1], ID[4]}
    assert part.tools.collect().height < whole.tools.collect().height + 1
    for table in BASE_TABLES:
        assert getattr(part, table.name).collect_schema() == table.schema
    assert [one.env_id for one in part.read([ID[4], ID[1]])] == ["env_0", "env_1"]


def test_a_subset_can_be_narrowed_further_to_what_it_holds() -> None:
    part = load(saved(load(written(people())), ID[1], ID[3]))
    assert part.where(env_id="env_1").trajectories.collect().height == 2
    with pytest.raises(ValueError, match=r"there is no env_id 'env_0' in few.subset.toml"):
        part.where(env_id="env_0")


def test_manifest_handle_and_provenance_say_what_part_of_what_it_is() -> None:
    part = load(saved(load(written(people())), ID[1], ID[4], chosen="steps 2 to 3"))
    sentence = "2 of the 6 trajectories of trajectories.json (steps 2 to 3)"
    assert part.manifest["subset"] == sentence
    assert part.manifest["source"] == part.source == "few.subset.toml"
    assert part.manifest["records_in"] == 6, "the source's own counts stay what they are"
    assert f"Selected: {sentence}" in repr(part)
    assert show.source_facts(part.where(env_id="env_1"))["selection"] == f"{sentence}, env_id = env_1"


def test_a_derived_table_holds_the_subset_only() -> None:
    from analysis.schema import TRAJECTORIES, Table  # noqa: PLC0415

    lengths = Table("lengths", "record", (TRAJECTORIES["trajectory_id"], TRAJECTORIES["assistant_messages"]))
    part = load(saved(load(written(people())), ID[2]))
    derived = part.derive(lengths, lambda record: [(len(record.messages),)], key="")
    assert derived.collect()["trajectory_id"].to_list() == [ID[2]]


def test_a_path_is_seen_from_the_subsets_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("notebooks").mkdir()
    path = saved(load(written(people(), "data/trajectories.json")), ID[0], folder="notebooks")
    assert 'source = "../data/trajectories.json"' in path.read_text(encoding="utf-8")
    assert ids(load("notebooks/few.subset.toml"), "trajectories") == {ID[0]}
    monkeypatch.chdir("notebooks")
    assert ids(load("few.subset.toml"), "trajectories") == {ID[0]}


def test_an_absolute_path_a_folder_and_written_tables_are_sources_too(tmp_path: Path) -> None:
    source = str(tmp_path / written(people()))
    assert f"source = {json.dumps(source)}" in saved(load(source), ID[0], name="absolute").read_text(encoding="utf-8")
    written(people(), "runs/a.json")
    written(people()[:2], "runs/b.json")
    write_tables(source, "tables")
    for name, whole in {"absolute": source, "folder": "runs", "tables": "tables"}.items():
        last = load(whole).trajectories.collect()["trajectory_id"][-1]
        saved(load(whole), last, name=name, replace=True)
        assert ids(load(f"{name}.subset.toml"), "trajectories") == {last}


def test_the_sample_is_named_and_brings_its_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAJECTORY_CACHE")  # the sample is played once a machine, not once a test
    sample = load("sample")
    first = sample.trajectories.collect()["trajectory_id"][0]
    part = load(saved(sample, first, name="of sample"))
    assert part.manifest["synthetic"]
    assert part.environments.collect().height > 0


def test_a_source_that_has_changed_is_refused_with_the_remedy() -> None:
    path = saved(load(written(people())), ID[1])
    written([*people(), trajectory("more")])
    with pytest.raises(SourceError, match=r"few.subset.toml: trajectories.json has changed .* choose again"):
        load(path)


def test_a_subset_of_an_earlier_version_is_not_said_to_have_changed() -> None:
    path = saved(load(written(people())), ID[1])
    path.write_text(path.read_text(encoding="utf-8").replace("blake3:", ""), encoding="utf-8")
    with pytest.raises(SourceError, match=r"few.subset.toml: .* a hash that earlier versions used; choose again"):
        load(path)


def test_ids_that_are_not_there_or_name_other_records_are_refused() -> None:
    path = saved(load(written(people())), ID[1], ID[2])
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(ID[2], "00000-00099"), encoding="utf-8")
    with pytest.raises(SourceError, match=r"1 of its trajectories are not in the source: 00000-00099"):
        load(path)
    path.write_text(text.replace(ID[2], ID[3]), encoding="utf-8")
    with pytest.raises(SourceError, match="its ids name other records"):
        load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trajectory_ids = [", "not a subset as it was saved"),
        ('source = "x.json"', "not a subset as it was saved"),
        ("\ufeff", "not a subset as it was saved"),
    ],
)
def test_a_damaged_file_is_refused_and_says_what_is_wrong(text: str, message: str) -> None:
    Path("bad.subset.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=f"bad.subset.toml: {message}"):
        load("bad.subset.toml")


def test_a_missing_file_and_a_missing_source_are_named() -> None:
    with pytest.raises(SourceError, match=r"none.subset.toml: No such file"):
        load("none.subset.toml")
    path = saved(load(written(people())), ID[1])
    Path("trajectories.json").unlink()
    with pytest.raises(SourceError, match=r"trajectories.json: no such file or folder"):
        load(path)


def test_a_subset_of_a_subset_names_the_records_themselves() -> None:
    path = saved(load(written(people())), ID[1])
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"trajectories.json"', '"few.subset.toml"'), encoding="utf-8")
    with pytest.raises(SourceError, match="its source is a subset itself"):
        load(path)


def test_nothing_and_what_is_not_there_cannot_be_saved() -> None:
    data = load(written(people()))
    with pytest.raises(ValueError, match="nothing is selected"):
        saved(data)
    with pytest.raises(ValueError, match=r"1 ids are not in trajectories.json"):
        saved(data, ID[0], "00009-00000")
    assert not list(Path().glob("*.toml"))


def test_a_name_that_is_taken_is_refused_unless_it_is_to_be_replaced() -> None:
    data = load(written(people()))
    saved(data, ID[0])
    with pytest.raises(FileExistsError, match="there is a subset of that name"):
        saved(data, ID[1])
    saved(data, ID[1], replace=True)
    assert ids(load("few.subset.toml"), "trajectories") == {ID[1]}


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a\nb", "x" * 101, "a\\b", "C:x"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    data = load(written(people()))
    with pytest.raises(ValueError, match="is no name for a subset"):
        saved(data, ID[0], name=name)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_words_come_back_as_they_were_written(words: str) -> None:
    assert tomllib.loads(f"chosen = {subsets._quoted(words)}")["chosen"] == words


def test_subsets_beside_the_records_of_a_folder_are_not_read_as_records() -> None:
    written(people(), "runs/a.json")
    saved(load("runs"), ID[1], folder="runs")
    assert load("runs").manifest["records_in"] == 6
    assert ids(load("runs/few.subset.toml"), "trajectories") == {ID[1]}


def test_tables_of_a_subset_cannot_be_written_and_the_message_says_what_can(capsys: pytest.CaptureFixture[str]) -> None:
    saved(load(written(people())), ID[1])
    assert main(["tables", "few.subset.toml", "out"]) == 2
    assert "write trajectories.json, and load the subset" in capsys.readouterr().err
    assert not os.path.lexists("out")


def test_an_export_of_a_subset_holds_its_records_and_counts_the_others_as_filtered() -> None:
    saved(load(written(people())), ID[1], ID[4])
    assert main(["export", "few.subset.toml", "out", "--format", "raw", "--quiet"]) == 0
    manifest = json.loads(Path("out/manifest.json").read_bytes())
    assert (manifest["records_in"], manifest["exported"], manifest["filtered"]) == (6, 2, 4)


def test_every_record_table_is_narrowed_or_says_that_it_is_the_sources() -> None:
    part = load(saved(load(written([*people(), {"messages": "["}])), ID[1]))
    whole_source = {table.name for table in RECORD_TABLES if "trajectory_id" not in table.names}
    assert whole_source == {"tools", "rejected"}
    assert part.rejected.collect().height == 1


def test_a_report_of_a_subset_is_made_anew_when_it_holds_other_trajectories(tmp_path: Path) -> None:
    papermill.engines.papermill_engines.register("paper", Paper)
    house = House(tmp_path)
    house.report("a")
    data = load(house.source)

    def key_of(id_: str) -> str:
        path = saved(data, id_, folder=house.folder, replace=True)
        house.run(source=str(path))
        manifest = json.loads((house.out / "manifest.json").read_bytes())
        assert manifest["content_hash"] == data.manifest["content_hash"]
        return str(manifest["pages"][0]["key"])

    first = key_of(ID[0])
    assert key_of(ID[0]) == first
    assert key_of(ID[1]) != first

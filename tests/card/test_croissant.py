"""The Croissant file: checksums of the files, the meaning of every column; mlcroissant validates it and reads by it."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import polars as pl
import pytest

from analysis import schema, sources
from analysis.card import CardError, CardRequest, croissant, distribution, write
from analysis.card.croissant import Given
from analysis.card.run import own_name
from analysis.tables import Tables, load
from tests.builders import trajectory
from tests.card.conftest import Played

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def copied(played: Played, tmp_path: Path) -> Path:
    """A folder with the records, their tables and their card, for tests that write into it."""
    return shutil.copytree(played.folder, tmp_path / "set")


def files(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in document["distribution"] if part["@type"] == "cr:FileObject"]


def test_a_file_is_told_by_its_path_size_kind_and_checksum(played: Played) -> None:
    raw = played.source.read_bytes()
    assert files(played.croissant) == [
        {
            "@type": "cr:FileObject",
            "@id": "files/the%20runs.json",
            "name": "the runs.json",
            "contentUrl": "data/the runs.json",
            "contentSize": f"{len(raw)} B",
            "encodingFormat": "application/json",
            "sha256": hashlib.sha256(raw).hexdigest(),
        }
    ]


def test_every_file_of_a_folder_is_told_by_what_it_holds(tmp_path: Path) -> None:
    records = [trajectory("t1"), trajectory("t2")]
    runs = tmp_path / "runs"
    runs.mkdir()
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    (runs / "a.json").write_bytes(lines)
    (runs / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    pl.DataFrame(records).write_parquet(runs / "c.parquet")
    found = distribution.described(load(str(runs), progress=False), tmp_path)
    assert [(file.path, file.encoding) for file in found] == [
        ("runs/a.json", "application/jsonlines"),
        ("runs/b.jsonl.gz", "application/gzip"),
        ("runs/c.parquet", "application/x-parquet"),
    ]
    assert [file.sha256 for file in found] == [
        hashlib.sha256((runs / name).read_bytes()).hexdigest() for name in ("a.json", "b.jsonl.gz", "c.parquet")
    ]


def test_files_at_an_address_are_told_by_it(tmp_path: Path) -> None:
    fsspec.filesystem("memory").pipe_file("/card/runs.json", json.dumps([trajectory()]).encode())
    (found,) = distribution.described(load("memory://card/runs.json", progress=False), tmp_path)
    assert found.url.startswith("memory://")
    assert found.url.endswith("/card/runs.json")
    assert found.path == ""


def test_files_of_the_hub_are_told_by_their_address_there_at_their_revision(tmp_path: Path) -> None:
    (tmp_path / "runs 1.json").write_text(json.dumps([trajectory()]), encoding="utf-8")
    here = load(str(tmp_path / "runs 1.json"), progress=False)
    files = [file._replace(revision="abc") for file in here.files()]
    there = replace(here, source="hub:acme/bank@abc:runs 1.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tables, "files", lambda data: files)
        (found,) = distribution.described(there, tmp_path)
        assert distribution.elsewhere(there, tmp_path / "card") == []
    assert found.url == "https://huggingface.co/datasets/acme/bank/resolve/abc/runs%201.json"
    assert own_name(there) == "bank"


def test_a_card_is_no_record_of_the_folder_it_stands_in(played: Played) -> None:
    assert [file.name for file in sources.locate(str(played.folder)) if "tables" not in file.name] == [
        "data/the runs.json"
    ]


def test_every_column_of_the_tables_has_its_meaning_and_type(played: Played) -> None:
    found = {records["name"]: records for records in played.croissant["recordSet"]}
    assert list(found) == [table.name for table in schema.RECORD_TABLES]
    for table in schema.RECORD_TABLES:
        columns = {column["name"]: column for column in found[table.name]["field"]}
        assert list(columns) == table.names
        assert found[table.name].get("key", []) == [{"@id": f"{table.name}/{name}"} for name in table.key]
        for column in table:
            assert columns[column.name]["description"].startswith(column.meaning)
            assert (column.unit or "") in columns[column.name]["description"]
            kinds = {"sc:Integer": column.dtype.is_integer(), "sc:Float": column.dtype.is_float()}
            assert kinds.get(columns[column.name]["dataType"], not column.dtype.is_numeric())


def test_what_nobody_said_is_left_out_and_named(played: Played) -> None:
    found = croissant.document("bank", "Runs.", [], [], "", Given(), {})
    assert not {"url", "creator", "datePublished", "inLanguage", "license"} & set(found)
    assert (found["name"], found["description"], found["recordSet"]) == ("bank", "Runs.", [])
    assert played.written.left == ("name", "languages", "url", "creator", "published", "version", "citation")


def test_what_the_author_gives_is_there() -> None:
    given = Given("", "mit", ("en",), "https://example.org/bank", "ACME", "2026-03-31", "1.0.0", "@misc{bank}")
    found = croissant.document('Bank "runs"', "Runs.", [], [], "", given, {})
    assert found["license"] == "mit"
    assert found["inLanguage"] == ["en"]
    assert found["url"] == "https://example.org/bank"
    assert found["creator"] == {"@type": "sc:Organization", "name": "ACME"}
    assert found["datePublished"] == "2026-03-31"
    assert (found["version"], found["citeAs"]) == ("1.0.0", "@misc{bank}")
    assert croissant.missing(found, given) == ("name",)


def test_what_an_author_adds_is_kept_and_what_is_made_is_made_anew() -> None:
    before = {
        "citeAs": "@misc{bank}",
        "creator": {"@type": "sc:Person", "name": "Ann"},
        "distribution": [1],
        "name": "x",
    }
    found = croissant.document("bank", "Runs.", [], [], "", Given(url="https://example.org/new"), before)
    assert (found["citeAs"], found["creator"]["name"]) == ("@misc{bank}", "Ann")
    assert (found["url"], found["distribution"], found["name"]) == ("https://example.org/new", [], "bank")
    assert croissant.document("bank", "Runs.", [], [], "", Given(creator="ACME"), before)["creator"]["name"] == "ACME"
    assert croissant.missing(found, Given()) == ("name", "license", "languages", "published", "version")


def test_a_set_without_a_name_goes_by_that_of_its_file(played: Played) -> None:
    assert played.croissant["name"] == "the runs"


@pytest.mark.parametrize("place", ["elsewhere", "nothing", "others"])
def test_tables_that_a_card_cannot_tell_of_are_refused(place: str, played: Played, tmp_path: Path) -> None:
    source = tmp_path / "bank.json"
    source.write_text(json.dumps([trajectory()]), encoding="utf-8")
    (tmp_path / "nothing").mkdir()
    folders = {
        "elsewhere": played.folder / "tables",
        "others": played.folder / "tables",
        "nothing": tmp_path / "nothing",
    }
    reasons = {"elsewhere": "not below", "others": "tables of other records", "nothing": "no tables"}
    measured = played.source if place == "elsewhere" else source
    with pytest.raises(CardError, match=reasons[place]):
        write(CardRequest(str(measured), tmp_path / "card" / "README.md", tables=str(folders[place]), progress=False))
    assert not (tmp_path / "card").exists()


def test_tables_that_are_the_source_are_told_of_where_a_card_can_refer_to_them(played: Played, tmp_path: Path) -> None:
    data = load(str(played.folder / "tables"), progress=False)
    folder, tables = distribution.tables_from(data, "", played.folder)
    assert folder == "tables"
    assert {table.name for table in schema.RECORD_TABLES} <= set(tables)
    assert distribution.tables_from(data, "", tmp_path) == ("", [])


@pytest.fixture(scope="module")
def mlcroissant(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Python of an environment with mlcroissant: it is no part of this one, whose packages it sees.

    It brings rdflib, networkx, pandas-stubs and an unmaintained parser along, and warns of what it imports itself.
    """
    folder = Path(os.environ.get("INTEROP_ENVS") or tmp_path_factory.mktemp("environments")) / "mlcroissant"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder)
        site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        (site / "project.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--quiet"]
    installed = subprocess.run(
        [*pip, "install", "mlcroissant>=1.1,<2"], capture_output=True, text=True, check=False, timeout=300
    )
    if installed.returncode:
        pytest.skip(f"mlcroissant cannot be installed here: {installed.stderr.strip().splitlines()[-1]}")
    return str(python)


READ = """
import json, sys
import mlcroissant

dataset = mlcroissant.Dataset(sys.argv[1])
issues = dataset.metadata.ctx.issues
shown = {}
for records in dataset.metadata.record_sets:
    rows = list(dataset.records(records.uuid))
    calls = [row["tool_calls/tool_name"].decode() for row in rows] if records.uuid == "tool_calls" else []
    shown[records.uuid] = [len(rows), sorted(calls)]
print(json.dumps({"errors": sorted(issues.errors), "warnings": sorted(map(str, issues.warnings)), "rows": shown}))
"""


@pytest.mark.slow
def test_mlcroissant_validates_the_file_and_reads_the_tables_by_it(
    played: Played, copied: Path, mlcroissant: str
) -> None:
    request = CardRequest(
        str(copied / "data" / "the runs.json"),
        copied / "README.md",
        tables=str(copied / "tables"),
        name="<b>'Bank' runs",
        license="mit",
        languages=("en",),
        url="https://example.org/bank",
        creator="ACME",
        published="2026-03-31",
        version="1.0.0",
        citation="@misc{bank}",
        progress=False,
    )
    write(request)
    path = copied / "croissant.jsonld"
    ran = subprocess.run([mlcroissant, "-c", READ, str(path)], capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["errors"] == []
    assert found["warnings"] == []
    assert {name: rows for name, (rows, _) in found["rows"].items()} == {
        table.name: played.data.table(table.name).select(pl.len()).collect().item() for table in schema.RECORD_TABLES
    }
    names = played.data.tool_calls.select("tool_name").collect().to_series().sort().to_list()
    assert found["rows"]["tool_calls"][1] == names

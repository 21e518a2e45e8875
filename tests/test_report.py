"""The suite runs what it is asked for, refuses what it does not know, and leaves no page that is not true.

Most tests execute with `Paper`, an engine without a kernel: papermill reads, parameterizes and writes as always, and a
cell does what its first line says. The slow tests at the end start kernels.
"""

import errno
import html as markup
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import nbformat
import papermill
import pytest
from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.engines import Engine
from papermill.exceptions import PapermillExecutionError

from analysis.cli.main import main
from analysis.files import file_name
from analysis.parameters import Parameter, ParameterError
from analysis.reference import json_schema
from analysis.report import folder, verdict
from analysis.report.failures import EXIT, Failure, exit_status, explain
from analysis.report.provenance import command
from analysis.report.request import ReportRequest
from analysis.report.run import Result, publish_schemas, run
from analysis.report.suite import (
    HOME,
    coerce,
    parameters_of,
    read_suite,
)
from tests.builders import step, trajectory
from tests.conftest import ROOT, disk
from tests.waiting import is_running, process_id, until

PARAMETERS = 'source: str = "sample"  # what to read; empty = all\ntop: int = 20  # bars'
BY_ENVIRONMENT = PARAMETERS + '\nenv_id: str = ""'
PROVENANCE = {"source": "s", "synthetic": False, "revision": None, "content_hash": "h", "bytes": 1, "dialects": {},
              "records_in": 1, "kept": 1, "rejected": 0, "parameters": {}, "versions": {}, "commit": "", "date": "",
              "command": ""}  # fmt: skip
KERNEL = {"name": "python3", "language": "python", "display_name": "Python 3"}
HOSTILE = "</script><img src=x onerror=alert(1)>"
RAISED: dict[str, Callable[[], BaseException]] = {
    "die": lambda: DeadKernelError("Kernel died"),
    "hang": lambda: CellTimeoutError.error_from_timeout_and_cell("", 1, None),
    "full": lambda: OSError(errno.ENOSPC, "No space left on device", "page.ipynb"),
    "interrupt": KeyboardInterrupt,
}


class Paper(Engine):  # type: ignore[misc]  # papermill is not typed
    """Executes nothing: a cell answers with its own source, or fails as its first line says."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **_: Any) -> None:
        for index, cell in enumerate(nb_man.nb.cells):
            if cell.cell_type != "code":
                continue
            nb_man.cell_start(cell, index)
            word = cell.source.partition("\n")[0]
            if word in RAISED:
                raise RAISED[word]()
            if word == "fail":
                cell.outputs = [nbformat.v4.new_output("error", ename="ZeroDivisionError", evalue="by zero")]
                cell.execution_count = 3
                nb_man.cell_exception(cell, index)
                return
            cell.outputs = [nbformat.v4.new_output("stream", text=cell.source)]
            nb_man.cell_complete(cell, index)


class Page:
    """An exporter that shows the links and texts it was given, and fails where a cell says so."""

    def from_notebook_node(self, nb: Any, resources: Any = None) -> tuple[str, Any]:
        sources = [cell.source for cell in nb.cells]
        if "no page" in sources:
            raise ValueError("cannot export")
        about = nb.metadata["trajectory_report"]
        links = "".join(f'<a href="{other["href"]}">{markup.escape(other["title"])}</a>' for other in about["suite"])
        facts = json.dumps(about["facts"], sort_keys=True)
        return f"<html>{links}<pre>{markup.escape(facts)}</pre>{markup.escape(repr(sources))}</html>", resources


class House:
    """A small suite in a folder of its own, with a source beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.executed = folder / "executed"
        self.suite = folder / "reports" / "suite.toml"
        self.suite.parent.mkdir(parents=True, exist_ok=True)
        self.source = folder / "records.json"
        if not self.source.exists():  # else it is the house of another process
            self.records(trajectory(env_id="bank", steps=[step(tool="get_user")]), trajectory(env_id="shop"))

    def records(self, *records: dict[str, Any]) -> None:
        self.source.write_text(json.dumps(records, indent=4), encoding="utf-8")

    def report(self, name: str, *cells: str, parameters: str | None = PARAMETERS, more: str = "") -> None:
        """Add a report whose notebook has these code cells after its parameters cell."""
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
        if parameters is not None:
            notebook.cells.append(nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
        notebook.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
        nbformat.write(notebook, self.folder / f"{name}.ipynb")
        with self.suite.open("a", encoding="utf-8") as file:
            file.write(f'["{name}"]\nnotebook = "{name}.ipynb"\ntitle = "About {name}"\ndescription = "D."\n{more}\n')

    def run(self, **options: Any) -> Result:
        defaults = {
            "source": str(self.source),
            "out": self.out,
            "executed": self.executed,
            "suite": self.suite,
            "engine": "paper",
            "progress": False,
            "jobs": 1,
        }
        return run(ReportRequest(**{**defaults, **options}), Page())

    def page(self, name: str) -> str:
        return (self.out / f"{name}.html").read_text(encoding="utf-8")

    def pages(self) -> set[str]:
        """Whatever lies there but the lock and the verdict, which tests of their own are about."""
        return {path.name for path in self.out.iterdir() if path.is_file()} - {".lock", "verdict.json"}

    def states(self) -> dict[str, str]:
        manifest = json.loads((self.out / "manifest.json").read_text(encoding="utf-8"))
        return {page["name"]: page["state"] for page in manifest["pages"]}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    papermill.engines.papermill_engines.register("paper", Paper)
    return House(tmp_path)


def injected(house: House, name: str) -> str:
    """The cell papermill put in."""
    notebook = nbformat.read(house.executed / f"{name}.ipynb", as_version=4)
    cells = [str(cell.source) for cell in notebook.cells if "injected-parameters" in cell.metadata.get("tags", [])]
    return "".join(cells)


# Parameters


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"parameters": {"tpo": "3"}}, r"no parameter 'tpo'.*did you mean 'top'"),
        ({"only": ("tool_usaeg",)}, "no report 'tool_usaeg'; did you mean '10_tool_usage'"),
        ({"each": "planet"}, "--each planet: not a column"),
        ({"each": "traj_type"}, "no parameter 'traj_type'"),
    ],
)
def test_what_does_not_exist_is_refused_before_anything_runs_or_goes(
    house: House, asked: dict[str, Any], message: str
) -> None:
    house.report("10_tool_usage", "1", parameters=PARAMETERS + '\nplanet: str = ""')
    house.out.mkdir()
    (house.out / "10_tool_usage.html").write_text("yesterday's")
    with pytest.raises(ParameterError, match=message):
        house.run(**asked)
    assert house.page("10_tool_usage") == "yesterday's"
    assert not house.executed.exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [({"parameters": None}, r"b\.ipynb: no cell is tagged `parameters`"), ({"more": "notes = 1"}, "nothing else")],
)
def test_a_report_without_parameters_or_with_an_unknown_key_is_refused(
    house: House, given: dict[str, Any], message: str
) -> None:
    house.report("a", "1")
    house.report("b", "1", **given)
    with pytest.raises(ParameterError, match=message):
        house.run()
    assert not house.out.exists()


def test_a_parameter_goes_to_the_notebooks_that_know_it_and_to_no_other(house: House) -> None:
    house.report("a", "1")
    house.report("b", "1", parameters='source: str = "sample"\ncutoff: int = 5')
    assert house.run(parameters={"cutoff": "7"}).status == 0
    assert "cutoff = 7" in injected(house, "b")
    assert "cutoff" not in injected(house, "a")


def test_a_value_becomes_what_the_parameters_cell_declares(house: House) -> None:
    declared = "name: str = ''\nflag: bool = True\nshare: float = 1.0\nplain = 3\nmany: list[str] = []\n"
    declared += "maybe: int | None = None"
    house.report("a", "1", parameters=declared)
    given = {"name": "007", "flag": "false", "share": "2", "plain": "4", "many": "['x']", "maybe": "5"}
    house.run(parameters=given)
    values: dict[str, Any] = {}
    exec(injected(house, "a"), values)
    expected = {"name": "007", "flag": False, "share": 2.0, "plain": 4, "many": ["x"], "maybe": 5}
    assert {name: values[name] for name in given} == expected
    assert [type(values[name]) for name in given] == [type(value) for value in expected.values()]


@pytest.mark.parametrize(("kind", "text"), [("int", "3.5"), ("bool", "maybe"), ("float", "x"), ("list", "(1,)")])
def test_a_value_that_does_not_fit_is_refused_and_the_declaration_shown(kind: str, text: str) -> None:
    with pytest.raises(ParameterError, match=rf"top: .* is not {kind}; the default is D \(help\)"):
        coerce(Parameter("top", kind, "D", "help"), text)


def test_a_value_is_never_run_as_code(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        coerce(Parameter("many", "list", "[]", ""), f"__import__('pathlib').Path({str(tmp_path / 'x')!r}).touch()")
    assert not (tmp_path / "x").exists()


def test_a_line_whose_comment_holds_an_equals_sign_is_a_parameter_like_any_other(house: House) -> None:
    house.report("a", parameters='env_id: str = ""  # this one; empty = all')
    assert parameters_of(house.folder / "a.ipynb") == {
        "env_id": Parameter("env_id", "str", "''", "this one; empty = all")
    }


def test_a_report_may_be_named_without_its_number(house: House) -> None:
    house.report("10_tool_usage", "1")
    house.report("20_other", "1")
    house.run(only=("tool_usage",))
    assert house.pages() == {"10_tool_usage.html", "index.html", "manifest.json"}


def test_values_of_the_suite_stand_unless_the_caller_gives_another(house: House) -> None:
    house.report("a", "1", more="parameters = {top = 5}")
    house.report("b", "1", more="parameters = {top = 6}")
    house.run(only=("a",))
    house.run(only=("b",), parameters={"top": "9"})
    assert "top = 5" in injected(house, "a")
    assert "top = 9" in injected(house, "b")


# Failures


def test_a_failing_cell_costs_only_its_own_page_and_is_named(house: House) -> None:
    house.report("a", "1")
    house.report("b", "fail\nmore")
    house.report("c", "1")
    house.out.mkdir()
    (house.out / "b.html").write_text("yesterday's")
    result = house.run()
    assert result.status == 1
    assert result.failures == {"b": Failure("cell", "cell In [3] `fail` raised ZeroDivisionError: by zero")}
    assert house.pages() == {"a.html", "c.html", "index.html", "manifest.json"}
    assert house.states() == {"a": "made", "b": "failed", "c": "made"}
    index = house.page("index")
    assert "raised ZeroDivisionError: by zero" in index
    assert "1 of 3 reports failed" in index
    assert [name for name in ("index", "a", "c") if 'href="b.html"' in house.page(name)] == []
    assert all(f'href="{name}.html"' in house.page("a") for name in ("index", "a", "c"))
    assert (house.executed / "b.ipynb").exists(), "the notebook as far as it came"


@pytest.mark.parametrize(
    ("word", "kind", "message"),
    [
        ("die", "kernel died", "the kernel died in cell In [3] `die`"),
        ("hang", "timeout", "cell In [3] `hang` took longer than 600 s"),
        ("full", "cannot write", "cannot write page.ipynb: No space left on device"),
    ],
)
def test_each_kind_of_failure_has_its_message_and_its_exit_status(
    house: House, word: str, kind: str, message: str
) -> None:
    house.report("a", word)
    house.report("b", "1")
    result = house.run()
    assert result.failures["a"].message.startswith(message)
    assert result.status == EXIT[kind] not in (0, 1)
    assert house.states() == {"a": "failed", "b": "made"}


def test_the_statuses_tell_the_kinds_apart() -> None:
    errors = [
        DeadKernelError("died"),
        CellTimeoutError("late"),
        NoSuchKernel("julia"),
        OSError(errno.EROFS, "Read-only file system"),
        PapermillExecutionError(1, 1, "1/0", "ZeroDivisionError", "", []),
    ]
    statuses = [explain(error).status for error in errors]
    assert len({*statuses, 0, 2, 130}) == len(errors) + 3
    assert [exit_status([explain(error)]) for error in errors] == statuses
    assert exit_status([]) == 0
    assert exit_status([explain(errors[0]), explain(errors[1])]) == 1


def test_an_exporter_that_fails_leaves_no_page_and_no_scrap(house: House) -> None:
    house.report("a", "no page")
    house.report("b", "1")
    result = house.run()
    assert result.failures["a"].message == "ValueError: cannot export"
    assert {path.name for path in house.executed.iterdir()} == {"a.ipynb", "b.ipynb"}, "the notebook, for a look"
    assert house.pages() == {"b.html", "index.html", "manifest.json"}


def test_an_interrupted_run_says_what_is_missing(house: House) -> None:
    house.report("a", "1")
    house.report("b", "interrupt")
    house.report("c", "1")
    with pytest.raises(KeyboardInterrupt):
        house.run()
    assert "This run has not finished" in house.page("index")
    manifest = json.loads((house.out / "manifest.json").read_text())
    assert manifest["state"] == "unfinished"
    assert house.states()["b"] == "pending"
    assert not (house.out / "b.html").exists()


def test_an_output_folder_that_cannot_be_made_is_an_error_that_names_it(house: House) -> None:
    house.report("a", "1")
    (house.folder / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        house.run(out=house.folder / "file" / "out")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disk(tmp_path / "disk", "1m") as place:
        yield place


def test_a_page_that_fills_the_disk_costs_itself_and_says_what_is_missing(house: House, small_disk: Path) -> None:
    house.report("a", "1")
    house.report("b", "# " + "x" * 2_000_000)
    house.report("c", "1")
    result = house.run(out=small_disk / "out")
    assert result.status == EXIT["cannot write"]
    assert re.fullmatch(r"cannot write.*: No space left on device", result.failures["b"].message)
    house.out = small_disk / "out"
    assert house.states() == {"a": "made", "b": "failed", "c": "made"}
    assert house.pages() == {"a.html", "c.html", "index.html", "manifest.json"}
    assert "No space left on device" in house.page("index")
    assert list(house.out.glob(".*.html")) == [], "half a page"


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_a_disk_that_takes_nothing_is_one_sentence_and_an_exit_status_of_its_own(
    house: House, small_disk: Path, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    from analysis.cli.main import main  # noqa: PLC0415

    house.report("a", "1")
    if state == "full":
        (small_disk / "fill").write_bytes(bytes(2**20))
    else:
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    words = ["--out", small_disk / "out", "--executed", house.executed, "--suite", house.suite, "--engine", "paper"]
    assert main(["report", str(house.source), *map(str, words), "--quiet"]) == EXIT["cannot write"]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert re.search("No space left on device|Read-only file system", said[0])


# The folder


def test_the_same_inputs_give_the_same_bytes(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.report("a", "1")
    house.report("b", "fail")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    made = []
    for out in ("one", "two"):
        house.run(out=house.folder / out, jobs=2)
        files = [path for path in (house.folder / out).rglob("*") if path.is_file() and path.name != ".lock"]
        made.append({str(path.relative_to(house.folder / out)): path.read_bytes() for path in files})
    assert made[0] == made[1]
    assert b"1970-01-02 00:00 UTC" in made[0]["index.html"]


def test_the_index_tells_where_the_numbers_come_from(house: House) -> None:
    house.report("a", "1")
    house.run(parameters={"top": "3"})
    index = house.page("index")
    manifest = json.loads((house.out / "manifest.json").read_text())
    for fact in ("content_hash", "source", "date", "commit", "command"):
        assert markup.escape(str(manifest[fact])) in index
    assert "2 records in = 2 kept + 0 rejected" in index
    assert "top = 3" in index
    assert f"{manifest['bytes']:,} bytes" in index
    assert manifest["versions"].items() >= {"papermill": papermill.__version__}.items()


def test_a_page_of_the_sample_says_synthetic(house: House) -> None:
    house.report("a", "1")
    house.run(source="sample")
    index = house.page("index")
    assert index.count("ynthetic") >= 3
    assert '"synthetic": true' in markup.unescape(house.page("a"))
    house.run(out=house.folder / "real")
    real = (house.folder / "real" / "index.html").read_text(encoding="utf-8")
    assert "ynthetic" not in re.sub(r"<style>.*?</style>", "", real, flags=re.DOTALL)


def test_rejected_records_are_counted_on_the_index(house: House) -> None:
    house.report("a", "1")
    house.records(trajectory(), {"messages": "not readable"}, trajectory("t2"))
    house.run()
    assert "3 records in = 2 kept + 1 rejected" in house.page("index")


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ("environments", "has no environments; name the sibling sets with --environments"),
        ("trajectories.total_reward", "trajectories has a total_reward"),
    ],
)
def test_a_report_that_lacks_what_it_needs_is_left_out_with_the_reason(house: House, needs: str, said: str) -> None:
    house.report("a", "1")
    house.report("b", "1", more=f'needs = ["{needs}"]')
    assert house.run().status == 0
    assert house.states() == {"a": "made", "b": "skipped"}
    assert said in house.page("index")
    assert 'href="b.html"' not in house.page("a")


def test_a_report_that_needs_a_column_is_made_where_one_row_has_it(house: House) -> None:
    house.report("b", "1", more='needs = ["trajectories.total_reward"]')
    house.records(trajectory(), trajectory("t2", total_reward=0.5))
    house.run()
    assert house.states() == {"b": "made"}


def test_pages_of_another_run_stay_and_are_told_apart(house: House) -> None:
    house.report("a", "1")
    house.report("b", "1")
    house.run(only=("a",))
    house.records(trajectory("other"))
    house.run(only=("b",))
    assert house.pages() == {"a.html", "b.html", "index.html", "manifest.json"}
    _, _, others = house.page("index").partition("From other runs in this folder")
    assert 'href="a.html"' in others
    assert "other records than above" in others


def test_every_table_has_its_schema_beside_the_pages_and_whatever_else_lies_there(house: House) -> None:
    house.report("a", "1")
    schemas = house.out / "schemas"
    schemas.mkdir(parents=True)
    (schemas / "mine.json").write_text("{}")
    (schemas / f".trajectories.{2**31 - 1}.json").write_text("half of what a run that was killed has written")
    house.run()
    written = {path.name: path.read_text(encoding="utf-8") for path in schemas.iterdir()}
    published = {f"{name}.json": json_schema.text(table) for name, table in json_schema.published().items()}
    assert written == {"mine.json": "{}", **published}


def test_a_schema_that_cannot_be_written_whole_leaves_the_earlier_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_schemas(house.out)
    before = {path.name: path.read_text(encoding="utf-8") for path in house.out.iterdir()}
    monkeypatch.setattr(json_schema, "text", lambda table: f"another {table.name}")
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        publish_schemas(house.out)
    assert {path.name: path.read_text(encoding="utf-8") for path in house.out.iterdir()} == before


def test_a_manifest_that_names_a_file_elsewhere_moves_nobody(house: House) -> None:
    house.report("a", "1")
    house.out.mkdir()
    (house.folder / "precious.html").write_text("mine")
    page = {"name": "x", "title": "x", "description": "", "page": "../precious.html", "state": "made"}
    (house.out / "manifest.json").write_text(json.dumps({"pages": [page]}))
    house.run()
    assert (house.folder / "precious.html").read_text() == "mine"
    assert "precious" not in house.page("index")


def test_hostile_texts_are_shown_as_text(house: House) -> None:
    house.report("a", "1", more=f"parameters = {{source = {HOSTILE!r}}}")
    house.records(trajectory(env_id=HOSTILE))
    source = house.folder / "<img src=x onerror=alert(1)>.json"
    house.source.rename(source)
    house.run(source=str(source))
    index = house.page("index")
    assert "<img" not in index
    assert "&lt;img src=x onerror=alert(1)&gt;" in index
    # The switches' rows and our own words: nothing else is a script.
    assert re.findall("<script[^>]*>", index) == ['<script type="application/json" id="rows">', "<script>"]
    house.report("b", "1", parameters=BY_ENVIRONMENT)
    house.run(source=str(source), only=("b",), each="env_id")
    assert "<img" not in house.page("index")
    assert house.page("index").count("<script>") == 1, "the one that sorts"


def test_the_index_opens_with_the_verdict_that_machines_read(house: House) -> None:
    gate = house.folder / "gate.toml"
    gate.write_text('[[finding]]\nrule = "unanswered_call"\nat_most = 0\n', encoding="utf-8")
    house.records(*(trajectory(f"t{n}", steps=[step(tool="f", answered=n != 7)]) for n in range(30)))
    house.report("a", "1")
    house.run(gate=gate)
    told = json.loads((house.out / "verdict.json").read_text("utf-8"))["verdict"]
    assert (told["answer"], told["steps"][0]["left_out"]) == ("ready after these steps", 1)
    index = markup.unescape((house.out / "index.html").read_text("utf-8")).replace("\u00a0", " ")
    assert "After these steps" in index
    assert told["command"] in index
    assert "1 of 30" in index
    house.run(only=("a",))
    assert not (house.out / "verdict.json").exists()
    assert "Ready to train on" not in (house.out / "index.html").read_text("utf-8")


def test_a_verdict_that_fails_costs_no_page(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.report("a", "1")
    monkeypatch.setattr(verdict, "judge", Mock(side_effect=ValueError(HOSTILE)))
    assert house.run().status == 0
    index = (house.out / "index.html").read_text("utf-8")
    assert "The source could not be judged" in index
    assert HOSTILE not in index


def test_a_gate_that_cannot_be_read_is_refused_before_anything_runs(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    house.report("a", "1")
    words = ["report", str(house.source), "--suite", str(house.suite), "--out", str(house.out), "--gate", "none.toml"]
    assert main(words) == 2
    assert capsys.readouterr().err == "analysis: none.toml: No such file or directory\n"
    assert not house.out.exists()


def test_braces_in_paths_are_just_braces(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "{source}{0}"
    inner = House(folder)
    inner.report("a", "1")
    assert inner.run().status == 0
    assert inner.pages() == {"a.html", "index.html", "manifest.json"}


# A page per environment


def test_each_makes_a_page_per_value_in_natural_order_with_an_overview(house: House) -> None:
    house.report("a", "1", parameters=BY_ENVIRONMENT)
    house.report("b", "1")
    names = ["env_10", "env_2", HOSTILE]
    house.records(*(trajectory(f"t{n}", env_id=name, steps=[step(tool="x")]) for n, name in enumerate(names)))
    result = house.run(each="env_id")
    assert [entry.group for entry in result.entries] == [HOSTILE, "env_2", "env_10"]
    assert house.pages() == {
        f"a--{file_name(HOSTILE)}.html",
        "a--env_2.html",
        "a--env_10.html",
        "index.html",
        "manifest.json",
    }
    assert 'env_id = "env_2"' in injected(house, "a--env_2")
    index = house.page("index")
    assert index.index(">env_2<") < index.index(">env_10<")
    assert index.count('<svg class="spark"') == 3
    assert "<img" not in index


def test_the_overview_tells_of_each_value_what_it_is_worth(house: House) -> None:
    """Counts, findings, the error rate with its n and none over too few, and the spread of the steps in words."""
    house.report("a", "1", parameters=BY_ENVIRONMENT)
    fails = step(tool="x", error="no funds")
    busy = [trajectory(f"b{n}", env_id="busy", steps=[fails, *[step(tool="x")] * 4][: n + 1]) for n in range(5)] * 2
    house.records(*busy, trajectory("q", env_id="quiet", steps=[step(tool="x")]))
    house.run(each="env_id")
    _, busy_row, quiet_row = re.split(r'<tr><th scope="row" dir="auto">', house.page("index").split("</tbody>")[0])
    values = re.findall(r'data-value="([^"]*)"', busy_row)
    calls, errors = 2 * (1 + 2 + 3 + 4 + 5), 2 * 5
    assert values[0] == "10"
    assert values[2] == str(calls)
    assert float(values[3]) == errors / calls
    assert f"33.3 % <small>of {calls}</small>" in busy_row
    assert "– <small>of 1</small>" in quiet_row
    assert 'data-value=""' in quiet_row, "nothing is sorted as nothing"
    (said,) = re.findall(r'role="img" aria-label="([^"]*)"', busy_row)
    assert re.fullmatch(r"\d+ to \d+ steps, median [\d.]+, the middle half [\d.]+ to [\d.]+", said)


def test_failures_of_many_pages_are_listed_before_the_table(house: House) -> None:
    house.report("a", "1", parameters=BY_ENVIRONMENT)
    house.report("b", "fail", parameters=BY_ENVIRONMENT)
    house.run(each="env_id")
    before, table = house.page("index").split("<table", 1)
    assert "2 of 4 reports failed" in before
    assert "<strong>About b: bank</strong>: cell In [3] `fail` raised ZeroDivisionError: by zero" in before
    assert table.count("<strong>failed</strong>") == 2


def test_two_hundred_pages_cost_their_index_no_two_hundred_drawings(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Mock(side_effect=folder.render)
    monkeypatch.setattr(folder, "render", drawn)
    entries = [folder.Entry(str(n), f"Page {n}", "", f"{n}.html") for n in range(200)]
    kept = folder.Folder(house.out, PROVENANCE, entries)
    kept.begin()
    for entry in entries:
        kept.make(entry.name, "<html></html>")
    kept.end()
    assert drawn.call_count < 100
    assert kept.index.read_text(encoding="utf-8").count("<a href=") == 200


def test_each_goes_on_where_it_stopped_and_makes_anew_what_has_changed(house: House) -> None:
    house.report("a", "1", parameters=BY_ENVIRONMENT)
    house.run(each="env_id")
    (house.out / "a--shop.html").unlink()
    (house.out / "a--bank.html").write_text("kept")
    house.run(each="env_id")
    assert house.page("a--bank") == "kept"
    assert "shop" in house.page("a--shop")
    house.run(each="env_id", parameters={"top": "4"})
    assert house.page("a--bank") != "kept"


def test_the_command_of_a_page_is_one_the_command_line_takes(house: House) -> None:
    from analysis.cli.main import parse  # noqa: PLC0415  the command line's own reading of it

    request = ReportRequest(source="my file.json", parameters={"top": "3"}, environments="hub:a/b", only=("x",))
    words = shlex.split(command(request))
    assert words[:3] == ["python", "-m", "analysis"]
    options = parse(words[3:])
    assert (options.source, options.parameters, options.environments) == ("my file.json", {"top": "3"}, "hub:a/b")


# The suite that ships


def test_the_suite_declares_every_notebook_but_those_for_exploring() -> None:
    declared = [report.notebook for report in read_suite()]
    there = set((HOME / "notebooks").glob("[0-9]*.ipynb"))
    assert set(declared) == there
    assert declared == sorted(declared)


@pytest.mark.parametrize("report", read_suite(), ids=lambda report: report.name)
def test_every_notebook_of_the_suite_declares_commented_parameters(report: Any) -> None:
    parameters = parameters_of(report.notebook)
    assert "source" in parameters
    assert all(parameter.kind and parameter.help for parameter in parameters.values())


# With kernels


@pytest.mark.slow
def test_kernels_that_die_hang_or_are_missing_cost_their_own_report(house: House) -> None:
    house.report("dies", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    house.report("hangs", "import time\ntime.sleep(600)")
    house.report("fails", "1 / 0")
    house.report("finishes", "print(source, top)")
    house.report("missing", "1")
    notebook = nbformat.read(house.folder / "missing.ipynb", as_version=4)
    notebook.metadata.kernelspec.name = "no-such-kernel"
    nbformat.write(notebook, house.folder / "missing.ipynb")
    result = house.run(engine="warm_kernel", timeout=8, jobs=2)
    kinds = {name: failure.kind for name, failure in result.failures.items()}
    assert kinds == {"dies": "kernel died", "hangs": "timeout", "fails": "cell", "missing": "no kernel"}
    assert "In [3] `import os, signal`" in result.failures["dies"].message
    assert "`1 / 0` raised ZeroDivisionError: division by zero" in result.failures["fails"].message
    assert result.status == 1
    assert house.pages() == {"finishes.html", "index.html", "manifest.json"}
    executed = nbformat.read(house.executed / "finishes.ipynb", as_version=4)
    assert executed.cells[-1].outputs[0].text == f"{house.source} 20\n"


@pytest.mark.slow
def test_nbconvert_makes_the_suites_page_of_the_suites_notebook_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links to the other pages, provenance and all: the executed notebook carries what the suite knows."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.setattr("analysis.report.provenance._commit", lambda: "0123456789ab")  # whatever is committed meanwhile
    options = ReportRequest(
        only=("75_duplicates",), out=tmp_path / "html", executed=tmp_path / "executed", progress=False
    )
    assert run(options).status == 0
    notebook = tmp_path / "executed" / "75_duplicates.ipynb"
    jupyter = str(Path(sys.executable).parent / "jupyter")
    command = [jupyter, "nbconvert", "--to", "trajectory_report", str(notebook)]
    subprocess.run([*command, "--output-dir", str(tmp_path / "again")], check=True, capture_output=True)
    page = (tmp_path / "html" / "75_duplicates.html").read_bytes()
    assert (tmp_path / "again" / "75_duplicates.html").read_bytes() == page
    for fact in (b'href="index.html"', b"1970-01-02 00:00 UTC", b"--only 75_duplicates", b"papermill"):
        assert fact in page
    told = re.findall(r"<dt>(.*?)</dt>", page.decode().split("Where this comes from", 1)[-1])
    wanted = "source, content hash, records in = kept + rejected, parameters, command, date, commit, versions"
    assert {*wanted.split(", ")} <= {*told}
    assert run(replace(options, out=tmp_path / "twice")).status == 0
    assert (tmp_path / "twice" / "75_duplicates.html").read_bytes() == page, "executed again, made of the same"


@pytest.mark.slow
def test_ctrl_c_stops_the_kernels_and_says_so(house: House) -> None:
    told = house.folder / "pid"
    house.report("hangs", f"import os, time\nopen({str(told)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)")
    options = ["--out", house.out, "--executed", house.executed, "--suite", house.suite]
    # Whoever starts the tests in the background has Ctrl-C ignored, and a child would inherit that.
    start = "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start += "runpy.run_module('analysis', run_name='__main__')"
    process = subprocess.Popen(
        [sys.executable, "-c", start, "report", str(house.source), *map(str, options)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pid = process_id(told, process)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "analysis: interrupted"
    until(lambda: not is_running(pid))
    assert "This run has not finished" in house.page("index")


def test_a_file_of_the_source_that_cannot_be_read_is_no_clean_exit(house: House) -> None:
    whole = Result([], {}, house.out / "index.html", {"damage": []})
    lost = Result([], {}, house.out / "index.html", {"damage": [{"origin": "a.json", "reason": "empty"}]})
    assert (whole.status, lost.status) == (0, 1)

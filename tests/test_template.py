"""`make notebook`: what it makes passes everything at once; what cannot be made is refused and nothing written."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from tests.conftest import ROOT
from tests.notebooks.run import charts, text

LISTS = ("README.md", "notebooks/README.md", "reports/suite.toml")
CODE = ("measures", "brief", "charts")
LAYERS = (*(f"{side}/{layer}" for side in ("analysis", "tests") for layer in CODE), "notebooks", "reports")


@pytest.fixture(scope="module")
def template() -> ModuleType:
    spec = importlib.util.spec_from_file_location("template_main", ROOT / "template" / "__main__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A project with lists of one question."""
    for layer in LAYERS:
        (tmp_path / layer).mkdir(parents=True)
    (tmp_path / "README.md").write_text("| `old` | what? | [10](notebooks/10_old.ipynb) |\n\nThe end.\n", "utf-8")
    (tmp_path / "notebooks/README.md").write_text("| [10_old](10_old.ipynb) | What? |\n", "utf-8")
    (tmp_path / "notebooks/10_old.ipynb").write_text("{}", "utf-8")
    (tmp_path / "reports/suite.toml").write_text('[10_old]\nnotebook = "notebooks/10_old.ipynb"\n', "utf-8")
    (tmp_path / "analysis/charts/rates.py").touch()
    return tmp_path


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_question_is_one_name_in_every_layer_and_a_row_in_every_list(template: ModuleType, house: Path) -> None:
    made = template.make(house, "waiting", "How long is the  wait?\n")
    assert {str(path.relative_to(house)) for path in made} == {
        *(f"analysis/{layer}/waiting.py" for layer in CODE),
        *(f"tests/{layer}/test_waiting.py" for layer in CODE),
        "notebooks/11_waiting.ipynb",
    }
    assert not [path for path in made if "new_question" in path.read_text("utf-8") or "NN" in path.read_text("utf-8")]
    assert made[0].read_text("utf-8").startswith('"""Waiting in brief."""')
    readme, tour, suite = ((house / name).read_text("utf-8") for name in LISTS)
    assert readme.splitlines()[1] == "| `waiting` | How long is the wait? | [11](notebooks/11_waiting.ipynb) |"
    assert readme.endswith("\nThe end.\n")
    assert tour.splitlines()[1] == "| [11_waiting](11_waiting.ipynb) | How long is the wait? |"
    assert 'notebook = "notebooks/11_waiting.ipynb"\ntitle = "Waiting"\ndescription = "How long is the wait?"' in suite


def test_a_name_as_long_as_may_be_and_a_long_question_still_keep_the_format(template: ModuleType, house: Path) -> None:
    made = template.make(house, "n" * 40, "How long, and how often, " * 9 + "does it wait?", "42")
    files = [str(path) for path in made]
    for verb in (["format", "--check"], ["check"]):
        command = [sys.executable, "-m", "ruff", *verb, "--config", str(ROOT / "pyproject.toml"), *files]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    ("name", "question", "number", "message"),
    [
        ("", "", "", "is no name for a question"),
        ("two words", "", "", "'two words' is no name"),
        ("Waiting", "", "", "small letters"),
        ("1st", "", "", "a letter first"),
        ("../x", "", "", "is no name"),
        ("class", "", "", "'class' is no name"),
        ("n" * 41, "", "", "is no name"),
        ("old", "", "", "'old' is taken: notebooks/10_old.ipynb"),
        ("rates", "", "", "'rates' is taken: analysis/charts/rates.py"),
        ("waiting", 'Is it "long"?', "", 'QUESTION may not hold "'),
        ("waiting", "a | b", "", r"QUESTION may not hold \|"),
        ("waiting", "", "10", "number 10 is taken by 10_old.ipynb"),
        ("waiting", "", "7", "NUMBER=7 is not two digits"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_written(
    template: ModuleType, house: Path, name: str, question: str, number: str, message: str
) -> None:
    before = snapshot(house)
    with pytest.raises(template.RefusedError, match=message):
        template.make(house, name, question, number)
    assert snapshot(house) == before


def test_after_the_last_number_a_free_one_must_be_named(template: ModuleType, house: Path) -> None:
    (house / "notebooks/99_last.ipynb").touch()
    with pytest.raises(template.RefusedError, match="name a free one: NUMBER=15"):
        template.make(house, "waiting")
    assert template.make(house, "waiting", number="15")


def test_make_says_why_it_refuses() -> None:
    ran = subprocess.run(
        ["make", "notebook", f"VENV={sys.prefix}", "READY=", "NAME=tool_usage"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode
    assert "make notebook: 'tool_usage' is taken: notebooks/10_tool_usage.ipynb" in ran.stderr


@pytest.mark.slow
def test_what_is_made_passes_format_lint_types_tests_and_runs_as_it_is(tmp_path: Path) -> None:
    project = tmp_path / "project"
    left_out = shutil.ignore_patterns(
        ".git", ".venv*", "executed", "html", "__pycache__", ".hypothesis", ".[pr]*_cache"
    )
    shutil.copytree(ROOT, project, ignore=left_out)
    environment = {**os.environ, "PYTHONPATH": str(project)}

    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    question = "QUESTION=How long does an agent's user wait, and $HOME?"
    made = run("make", "notebook", f"VENV={sys.prefix}", "READY=", "NAME=user_waits", question, "NUMBER=11")
    assert made.returncode == 0, made.stderr
    files = [f"analysis/{layer}/user_waits.py" for layer in CODE]
    tests = [f"tests/{layer}/test_user_waits.py" for layer in CODE]
    notebook = "notebooks/11_user_waits.ipynb"
    module = (sys.executable, "-m")
    asked = "user_waits or grid or tours or the_tour or tree"
    for command in (
        (*module, "ruff", "format", "--check", *files, *tests, notebook),
        (*module, "ruff", "check", *files, *tests, notebook),
        (*module, "pytest", "-q", *tests),
        (*module, "pytest", "-q", "tests/charts/test_every_chart.py", "-k", "user_waits"),
        (
            *module,
            "pytest",
            "-q",
            "tests/test_ground.py",
            "tests/test_tour.py",
            "tests/test_parameters.py",
            "-k",
            asked,
        ),
        (*module, "papermill", notebook, str(tmp_path / "executed.ipynb"), "-p", "top", "3", "--no-progress-bar"),
    ):
        ran = run(*command)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    # Of types only these files' own: what else the project may say is said by `make types`.
    said = run(*module, "mypy", *files, *tests).stdout
    assert not [line for line in said.splitlines() if "user_waits" in line], said
    executed = nbformat.read(tmp_path / "executed.ipynb", as_version=4)
    assert len(charts(executed)) == 1
    assert "Calls per environment and mode" in text(executed)
    assert json.loads((project / notebook).read_text("utf-8"))["cells"][0]["source"][2].startswith("**How long does")
    assert "and $HOME?" in (project / "README.md").read_text("utf-8")

"""Parameters of notebooks: what papermill's command line makes of them is refused where it is not what was meant."""

import math
import re
from typing import Any

import nbformat
import papermill
import pytest
from papermill.cli import _resolve_type
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from analysis.parameters import Parameter, ParameterError, check, declared, problem
from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[!.]*.ipynb"))
CELL = """source: str = "sample"  # what to read
traj_type: str = ""  # only this mode
top: int = 20  # bars per chart
threshold: float = 0.8  # smallest similarity
folded: bool = False  # whether to fold
names: list[str] = []  # only these
limit: int | None = None  # most of them"""
DECLARED = {parameter.name: parameter for parameter in declared(CELL)}


def namespace(injected: str = "") -> dict[str, Any]:
    """A notebook's globals after its parameters cell and the cell papermill puts behind it."""
    cells = ["", CELL, *([f"# Parameters\n{injected}"] if injected else [])]
    found: dict[str, Any] = {"In": cells}
    for cell in cells:
        exec(cell, found)
    return found


@pytest.mark.parametrize(
    "injected",
    [
        "",
        'source = "/data/a b.json"\ntraj_type = "conversation"\ntop = 1',
        "threshold = 1\nfolded = True\nnames = ['a']\nlimit = 3",
        "threshold = 0.0\nlimit = None\ntraj_type = ''",
    ],
)
def test_what_is_declared_and_fits_passes(injected: str) -> None:
    check(namespace(injected))


@pytest.mark.parametrize(
    ("injected", "message"),
    [
        (
            "top = 1000.0",
            r"top: 1000\.0 is a number with a point, not a whole number \(bars per chart; default 20\).*-p",
        ),
        ("top = '5'", r"top: '5' is text, not a whole number .* -p top 5"),
        ("top = True", r"top: True, not a whole number"),
        ("top = None", r"top: None, not a whole number"),
        ("top = -5", r"top: -5 is below 1"),
        ("top = 0", r"top: 0 is below 1"),
        ("traj_type = None", r"traj_type: None, not text .*-r traj_type VALUE"),
        ("traj_type = False", r"traj_type: False, not text"),
        ("traj_type = 'conversatoin'", r"traj_type: there is no 'conversatoin'; nearest: conversation"),
        ("traj_type = 'chat'", r"traj_type: there is no 'chat'; there are conversation, non_conversation"),
        ("source = 7", r"source: 7 is a number, not text .*-r source VALUE"),
        ("threshold = float('nan')", r"threshold: nan .*not a finite number"),
        ("threshold = 1.5", r"threshold: 1\.5 is not within 0 to 1"),
        ("threshold = -0.5", r"threshold: -0\.5 is below 0"),
        ("folded = 'false'", r"folded: 'false' is text, not True or False .*-p folded True"),
        ("names = 'a'", r"names: 'a' is text, not a list\[str\] .*-y 'names: …'"),
        ("limit = 'None'", r"limit: 'None' is text, not a whole number or None"),
        ("tpo = 30", r"tpo: no such parameter; nearest: top"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_write_instead(injected: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        check(namespace(injected))


def test_one_message_names_everything_that_is_wrong() -> None:
    with pytest.raises(ParameterError) as caught:
        check(namespace("top = '5'\ntarj_type = 'conversation'\nfolded = 'no'"))
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == ["tarj_type", "top", "folded"]


def test_a_cell_that_was_run_again_with_another_value_is_looked_at_as_it_stands_now() -> None:
    found = namespace("top = '5'")
    found["In"].append("top = 5")
    found["top"] = 5
    check(found)


def test_names_of_other_cells_and_cells_that_are_no_python_are_nobodys_parameters() -> None:
    found = namespace()
    found["In"] += ["get_ipython().system('ls')", "top =", "tpo = 3"]
    check(found)


@pytest.mark.parametrize("default", ["20", "-3", "0.5", "True", "None", "'text'", "[]"])
def test_without_an_annotation_the_type_is_the_defaults(default: str) -> None:
    assert problem(Parameter("plain", "", default, ""), eval(default)) == ""
    assert problem(Parameter("plain", "", default, ""), {"no": "such"})


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_papermills_help_names_every_parameter_with_its_type_default_and_meaning(notebook: Any) -> None:
    told = papermill.inspect_notebook(str(notebook))
    cell = next(c for c in _cells(notebook) if "parameters" in c.metadata.get("tags", []))
    assert list(told) == [parameter.name for parameter in declared(cell.source)]
    for parameter in told.values():
        assert re.fullmatch(r"(str|int|float|bool)", parameter["inferred_type_name"])
        assert len(parameter["help"]) > 10, f"{parameter['name']} has no comment that tells what it is"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_every_notebook_checks_its_parameters_before_it_reads_anything(notebook: Any) -> None:
    code = "\n".join(cell.source for cell in _cells(notebook) if cell.cell_type == "code")
    assert "\nparameters.check(globals())\n" in code
    assert code.index("parameters.check(globals())") < code.index("load(source")


def test_what_papermill_writes_is_known_as_its_cell() -> None:
    notebook = load_notebook_node(str(NOTEBOOKS[0]))
    given = {"traj_type": _resolve_type("None"), "topp": _resolve_type("1e3"), "source": _resolve_type("007")}
    cells = parameterize_notebook(notebook, given).cells
    first = next(i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", []))
    found: dict[str, Any] = {"In": ["", *(cell.source for cell in cells[first : first + 2])]}
    for cell in found["In"]:
        exec(cell, found)
    assert math.isclose(found["topp"], 1000)
    with pytest.raises(
        ParameterError, match=r"topp: no such parameter(.|\n)*source: 7 is a(.|\n)*traj_type: None, not"
    ):
        check(found)


def _cells(notebook: Any) -> list[Any]:
    return list(nbformat.read(notebook, as_version=4).cells)

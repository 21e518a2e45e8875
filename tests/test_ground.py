"""The ground holds: lists of dependencies agree, layers import downwards, the README tells the truth."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Container, Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

EXTRAS = PROJECT["project"]["optional-dependencies"]
BUILD = PROJECT["dependency-groups"]["build"]

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[!.]*.ipynb"))

# conda-forge's name where it is not PyPI's.
CONDA_NAMES = {"playwright-python": "playwright", "python-duckdb": "duckdb"}

# DESIGN's directions. A room (a module or folder of analysis/) may import itself and the rooms named here; from outside
# the project, the standard library and the packages after them.
DIRECTIONS: dict[str, tuple[set[str], set[str]]] = {
    "schema": (set(), {"polars"}),
    "wording": ({"schema"}, {"polars"}),
    "files": ({"interrupts"}, set()),
    "canonical": (set(), {"msgspec"}),
    "natural": (set(), {"polars"}),
    "nearest": (set(), {"rapidfuzz"}),
    "parameters": ({"nearest", "schema"}, set()),
    "imports": (set(), set()),
    "interrupts": (set(), set()),
    "processes": ({"interrupts"}, set()),
    "sample": ({"files"}, {"msgspec"}),
    "sources": (
        {"files", "interrupts", "natural", "nearest", "visible"},
        {"datasets", "fsspec", "httpx2", "huggingface_hub", "msgspec", "polars", "pyarrow", "tqdm"},
    ),
    "records": ({"canonical", "visible"}, {"jsonschema_rs", "msgspec", "quicktok", "tokenizers"}),
    # Up to the replay where a load asks for one; the replay itself is made of tables.
    "tables": (
        {
            *("files", "markup", "nearest", "processes", "records", "replay", "sample", "schema", "sources", "visible"),
            "wording",
        },
        {"blake3", "datasets", "distributed", "filelock", "msgspec", "polars", "tqdm"},
    ),
    "measures": ({"canonical", "natural", "schema"}, {"msgspec", "numpy", "polars", "rapidfuzz", "rensa"}),
    "brief": ({"measures", "schema", "wording"}, {"polars"}),
    "charts": ({"measures", "schema", "wording"}, {"altair", "polars"}),
    "markup": ({"wording"}, {"polars"}),
    "transcripts": ({"markup", "records", "wording"}, set()),
    "export": (
        {"files", "measures", "nearest", "records", "schema", "sources", "tables"},
        {"msgspec", "polars", "tqdm"},
    ),
    "gate": ({"measures", "nearest", "records", "schema", "sources", "tables", "wording"}, {"msgspec", "polars"}),
    "verdict": ({"export", "gate", "measures", "schema", "tables", "wording"}, {"msgspec", "polars"}),
    "card": (
        {"charts", "gate", "markup", "measures", "records", "schema", "sources", "tables", "verdict", "wording"},
        {"msgspec", "polars", "vl_convert", "yaml"},
    ),
    "replay": (
        {"canonical", "files", "records", "schema", "sources", "tables"},
        {"msgspec", "polars", "pydantic_monty", "tqdm"},
    ),
    "show": (
        {"brief", "charts", "imports", "markup", "records", "schema", "tables", "transcripts", "wording"},
        {"IPython", "altair", "polars"},
    ),
    "explore": (
        {
            "charts",
            "imports",
            "markup",
            "natural",
            "nearest",
            "records",
            "schema",
            "sources",
            "tables",
            "transcripts",
            "wording",
        },
        {"altair", "ipywidgets", "itables", "polars", "traitlets"},
    ),
    "report": (
        {
            "files",
            "imports",
            "interrupts",
            "markup",
            "natural",
            "nearest",
            "parameters",
            "processes",
            "reference",
            "schema",
            "sources",
            "tables",
            "gate",
            "verdict",
            "wording",
        },
        {
            "filelock",
            "fsspec",
            "ipykernel",
            "jinja2",
            "jupyter_client",
            "jupyter_core",
            "markupsafe",
            "msgspec",
            "nbclient",
            "nbconvert",
            "nbformat",
            "papermill",
            "polars",
            "tqdm",
            "traitlets",
            "vl_convert",
        },
    ),
    "reference": ({"charts", "measures", "records", "schema", "wording"}, {"papermill", "pdoc", "polars"}),
    "__init__": ({"tables"}, set()),
    # The help pages import the standard library alone; what a subcommand needs, it imports when it runs.
    "cli": (
        {
            "card",
            "export",
            "files",
            "interrupts",
            "gate",
            "nearest",
            "parameters",
            "processes",
            "records",
            "reference",
            "replay",
            "report",
            "sample",
            "schema",
            "sources",
            "tables",
            "visible",
        },
        {"msgspec"},
    ),
    "__main__": ({"cli", "interrupts"}, set()),
    "visible": (set(), set()),
}
# Imported in one place only, and there inside functions: they take seconds, and a kernel never needs them.
LATE: dict[str, str | tuple[str, ...]] = dict.fromkeys(("httpx2", "huggingface_hub"), "sources/hub/")
LATE |= {"datasets": ("sources/hub/splits.py", "tables/huggingface.py")}
LATE |= {"quicktok": "records/vocabulary.py", "tokenizers": "records/vocabulary.py"}
# Installed and imported by no module: the file that needs it, and the words there.
UNIMPORTED = {
    "anywidget": ("analysis/explore/widgets.py", "from itables.widget import"),  # which imports it
    "jupyterlab": ("Makefile", "jupyter lab"),
}
STARTED = {
    "axe-playwright-python": ("tests/browser/opening.py", 'files("axe_playwright_python")'),
    "mypy": ("Makefile", "$(BIN)/mypy"),
    "pre-commit": (".pre-commit-config.yaml", "repo: local"),
    "pytest-xdist": ("Makefile", "-n $(WORKERS)"),
    "ruff": ("Makefile", "$(BIN)/ruff"),
    "tiktoken": ("tests/records/test_tokens.py", 'importorskip("tiktoken")'),
}
INSTALLED = packages_distributions()
# A distribution of no code of its own, named in pyproject.toml for what it brings.
BRINGS = {"pydantic-monty-client": "pydantic-monty"}


def modules() -> list[Path]:
    return sorted((ROOT / "analysis").rglob("*.py"))


def room(module: Path) -> str:
    return module.relative_to(ROOT / "analysis").parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names a module imports, anywhere in it; `from analysis import tables` counts as analysis.tables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import; the project writes imports in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_rooms(module: Path) -> set[str]:
    inside = {name.split(".")[1] for name in imports(parsed(module)) if name.startswith("analysis.")}
    rooms = {room(other) for other in modules()}
    return {name if name in rooms else "__init__" for name in inside}


def imported_modules(module: Path, names: Container[str]) -> Iterator[str]:
    """Modules of the project that a module imports, but for those it imports inside functions."""
    inside = (
        node
        for function in ast.walk(parsed(module))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    )
    late = {id(node) for node in inside}
    tree = ast.Module(
        body=[n for n in ast.walk(parsed(module)) if isinstance(n, ast.Import | ast.ImportFrom)], type_ignores=[]
    )
    tree.body = [node for node in tree.body if id(node) not in late]
    for name in imports(tree):
        yield from (known for known in (name, name.rpartition(".")[0]) if known in names)


def imported_packages(module: Path) -> set[str]:
    top_level = {name.split(".")[0] for name in imports(parsed(module))}
    return top_level - set(sys.stdlib_module_names) - {"analysis"}


@cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"), filename=str(module))


@cache
def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout: which files are tracked is unknown")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def declared() -> dict[str, SpecifierSet]:
    """Every dependency of pyproject.toml, extras included, without the project's own name."""
    lists = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    requirements = [Requirement(text) for texts in lists for text in texts]
    return {canonicalize_name(r.name): r.specifier for r in requirements if r.name != PROJECT["project"]["name"]}


def pip_entries(environment: dict[str, Any]) -> list[str]:
    return [text for entry in environment["dependencies"] if isinstance(entry, dict) for text in entry["pip"]]


def test_environment_yml_lists_what_pyproject_lists() -> None:
    environment: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    entries = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (python,) = [entry for entry in entries if entry.startswith("python=")]
    entries.remove(python)
    listed = [Requirement(entry) for entry in entries + pip_entries(environment) if entry != "-e ."]
    conda = {CONDA_NAMES.get(r.name, canonicalize_name(r.name)): r.specifier for r in listed}
    assert python.removeprefix("python=") in SpecifierSet(PROJECT["project"]["requires-python"])
    conda.pop("pip")
    assert conda == declared()


def test_environment_yml_installs_the_project_itself() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["name"] == PROJECT["project"]["name"]
    assert "-e ." in pip_entries(environment)


def test_environment_yml_is_read_by_repo2docker_as_it_is_meant() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert set(environment) == {"name", "channels", "dependencies"}, "conda knows more keys, its helpers do not"
    # The first entry that repo2docker's own pattern matches decides the Python of the image.
    found = (
        re.match(r"python\s*=+\s*([\d.]*)", entry) for entry in environment["dependencies"] if isinstance(entry, str)
    )
    (version,) = [match.group(1) for match in found if match]
    assert version == "3.11"
    # It looks for local requirements in one list of pip's, and then copies the project before it installs.
    assert len([entry for entry in environment["dependencies"] if isinstance(entry, dict)]) == 1
    assert "pip" in environment["dependencies"]
    assert not [name for name in ("binder", ".binder") if (ROOT / name).exists()], "it would look there instead"


LOCKS = {
    "report": (PROJECT["project"]["dependencies"], EXTRAS["tokens"], EXTRAS["replay"], BUILD),
    "test": (
        PROJECT["project"]["dependencies"],
        EXTRAS["tokens"],
        EXTRAS["replay"],
        BUILD,
        EXTRAS["test"],
        EXTRAS["docs"],
        EXTRAS["dask"],
    ),
    "installer": (["uv"],),
}


def locked(name: str) -> dict[str, list[str]]:
    pins = re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", lock(name), flags=re.MULTILINE)
    return {package: [version for other, version in pins if other == package] for package, _ in pins}


def lock(name: str) -> str:
    return (ROOT / f"requirements/{name}.lock").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_what_is_installed_from_it_within_its_range(name: str) -> None:
    pins = locked(name)
    for requirement in (Requirement(text) for texts in LOCKS[name] for text in texts):
        versions = pins.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement.name} is not in requirements/{name}.lock; run `make lock`"
        outside = [version for version in versions if version not in requirement.specifier]
        assert not outside, f"{requirement.name}: {outside} outside {requirement.specifier}; run `make lock`"


def test_tests_run_on_the_versions_that_reports_run_on() -> None:
    test = locked("test")
    assert not {name: versions for name, versions in locked("report").items() if test.get(name) != versions}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_versions_and_hashes_and_no_address(name: str) -> None:
    text = lock(name)
    assert "://" not in text
    assert not re.findall(r"^\s*--(?!hash=sha256:[0-9a-f]{64}\b).*", text, flags=re.MULTILINE)
    pins = re.split(r"\n(?=[a-z0-9])", text)
    assert all("--hash=sha256:" in pin for pin in pins)


@pytest.mark.parametrize("name", sorted({room(module) for module in modules()}))
def test_a_room_imports_what_it_may_and_may_import_no_more(name: str) -> None:
    assert name in DIRECTIONS, f"{name} is a new room: say in DIRECTIONS what it may import"
    own = [module for module in modules() if room(module) == name]
    rooms = {other for module in own for other in imported_rooms(module)} - {name}
    packages = {package for module in own for package in imported_packages(module)}
    assert (rooms, packages) == DIRECTIONS[name]


def test_no_two_modules_import_each_other_however_far_apart() -> None:
    names = {".".join(module.relative_to(ROOT).with_suffix("").parts): module for module in modules()}
    tied = {name: set(imported_modules(module, names)) - {name} for name, module in names.items()}
    while free := [name for name, others in tied.items() if not others & tied.keys()]:
        for name in free:
            del tied[name]
    assert not tied


def distributions(files: Iterable[Path]) -> set[str]:
    """What to install for all that these files import, by its name in pyproject.toml."""
    packages = {package for file in files for package in imported_packages(file)}
    names = {canonicalize_name(INSTALLED.get(package, [package])[0]) for package in packages}
    return {BRINGS.get(name, name) for name in names}


def requirements(*extras: str) -> set[str]:
    """Names of the dependencies, or of those of some extras."""
    project = PROJECT["project"]
    lists = [project["optional-dependencies"][extra] for extra in extras] or [project["dependencies"]]
    return {canonicalize_name(Requirement(text).name) for texts in lists for text in texts}


def test_what_a_module_imports_is_a_dependency_and_not_one_of_the_tests() -> None:
    assert distributions(modules()) <= requirements() | requirements("dask", "docs", "replay", "tokens")


def test_what_is_installed_is_imported_or_started() -> None:
    installed = requirements() | requirements("dask", "docs", "replay", "tokens")
    assert installed == distributions(modules()) | UNIMPORTED.keys()
    for file, words in UNIMPORTED.values():
        assert words in (ROOT / file).read_text(encoding="utf-8")


def test_what_the_tests_install_is_imported_or_started_by_them() -> None:
    files = [path for path in tracked_files() if path.suffix == ".py" and not path.is_relative_to(ROOT / "analysis")]
    started = {name for name, (file, words) in STARTED.items() if words in (ROOT / file).read_text(encoding="utf-8")}
    assert requirements("test") <= distributions(files) | started
    assert started == STARTED.keys()


@pytest.mark.parametrize("question", sorted((ROOT / "analysis/charts").glob("[!_]*.py")), ids=lambda m: m.stem)
def test_a_chart_module_takes_no_other_questions_results(question: Path) -> None:
    others = {path.stem for path in (ROOT / "analysis/charts").glob("*.py")} - {question.stem}
    measures = {name.split(".")[2] for name in imports(parsed(question)) if name.startswith("analysis.measures.")}
    assert not measures & others


@pytest.mark.parametrize("package", sorted(LATE))
def test_slow_packages_are_imported_late_and_in_one_place(package: str) -> None:
    users = {str(m.relative_to(ROOT / "analysis")) for m in modules() if package in imported_packages(m)}
    assert all(user.startswith(LATE[package]) for user in users)
    for user in users:
        at_import = ast.Module(body=parsed(ROOT / "analysis" / user).body, type_ignores=[])
        at_import.body = [node for node in at_import.body if isinstance(node, ast.Import | ast.ImportFrom)]
        assert package not in {name.split(".")[0] for name in imports(at_import)}


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def tree_of_readme() -> list[str]:
    """Paths that the README's tree names, read off its indentation of two spaces a level."""
    (block,) = re.findall(r"^## The tree\n+```\n(.*?)^```", readme(), flags=re.MULTILINE | re.DOTALL)
    parents: list[str] = []
    paths = []
    for line in block.splitlines():
        indent, name = re.match(r"( *)(\S+)", line).groups()  # type: ignore[union-attr]
        parents[len(indent) // 2 :] = [name]
        paths.append("".join(parents))
    return paths


def test_the_readmes_tree_names_files_that_exist() -> None:
    missing = [path for path in tree_of_readme() if not (ROOT / path).exists()]
    assert not missing


def test_the_readmes_tree_leaves_out_no_room() -> None:
    named = {path.rstrip("/") for path in tree_of_readme()}
    top = {p.relative_to(ROOT).parts[0] for p in tracked_files()}
    rooms = {f"analysis/{p.relative_to(ROOT).parts[1]}" for p in tracked_files() if p.is_relative_to(ROOT / "analysis")}
    assert {name for name in top | rooms if not name.startswith(".")} <= named


def notebooks_of_questions() -> dict[str, set[str]]:
    """Questions (a measure and a chart of one name) and the notebooks that draw them."""
    questions = {p.stem for p in (ROOT / "analysis/charts").glob("[!_]*.py")}
    questions &= {p.stem for p in (ROOT / "analysis/measures").glob("[!_]*.py")}
    drawn: dict[str, set[str]] = {question: set() for question in questions}
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        for name in imports(ast.parse(source)):
            if name.startswith("analysis.charts.") and (question := name.split(".")[2]) in drawn:
                drawn[question].add(notebook.name)
    return drawn


def test_the_readmes_grid_names_every_question_and_its_notebooks() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", readme(), flags=re.MULTILINE)
    grid = {question: set(re.findall(r"\(notebooks/([^)]+)\)", cell)) for question, cell in rows}
    assert grid == notebooks_of_questions()


def test_the_tour_names_every_notebook() -> None:
    tour = (ROOT / "notebooks/README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([^()\s]+\.ipynb)\)", tour)) == {notebook.name for notebook in NOTEBOOKS}


def test_the_readmes_python_runs_as_it_stands_from_any_folder(tmp_path: Path) -> None:
    block = "".join(re.findall(r"^```python\n(.*?)^```", readme(), flags=re.MULTILINE | re.DOTALL))
    ran = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "tool_name" in ran.stdout


def test_the_readmes_make_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    used = set(re.findall(r"^make ([a-z-]+)", readme(), flags=re.MULTILINE)) | set(
        re.findall(r"`make ([a-z-]+)", readme())
    )
    assert used
    assert used <= targets


def test_the_readmes_local_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#\s]+)", readme())
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert not missing


def test_make_help_lists_every_target_a_reader_may_want() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("setup", "report", "test", "lab", "bench", "lock"):
        assert f"make {target} " in listed


def registry_hosts() -> set[str]:
    """Hosts of the package indexes that pip knows here, asked of pip so that no address need stand in this file."""
    asked = (
        "from pip._internal.models.index import PyPI as index; "
        "from pip._internal.configuration import Configuration; "
        "known = Configuration(isolated=False); known.load(); "
        "print(index.url, 'https://' + index.file_storage_domain, *(value for _, value in known.items()))"
    )
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    text = " ".join([answer, *(value for name, value in os.environ.items() if "INDEX" in name.upper())])
    return set(re.findall(r"https?://(?:[^@/\s'\"]*@)?([^:/\s'\"]+)", text))


def test_no_registry_address_and_no_path_of_this_machine_stands_in_a_tracked_file() -> None:
    hosts = registry_hosts()
    assert hosts
    needles = [needle.encode() for needle in (*hosts, f"{ROOT}/")]
    found = [
        f"{path.relative_to(ROOT)}: {needle.decode()}"
        for path in tracked_files()
        for needle in needles
        if needle in path.read_bytes()
    ]
    assert not found


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_a_notebook_is_kept_without_outputs(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert not [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")]


def test_a_measure_is_short_and_its_module_fits_in_the_head() -> None:
    lengths = []
    for path in (ROOT / "analysis" / "measures").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= 400, path.name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                first, *rest = node.body
                is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and rest
                start = rest[0].lineno if is_docstring else first.lineno
                lengths.append((node.end_lineno or start) - start + 1)
    assert median(lengths) <= 8

"""What importing costs: a grammar that no chart needs is built when somebody asks for it, not before."""

import subprocess
import sys

import altair  # noqa: F401  imports jsonschema

from analysis.imports import GRAMMAR, put_off_the_grammar


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_notebooks_imports_build_no_grammar_of_addresses() -> None:
    modules = run("import sys; from analysis import load, parameters, show; print(*sys.modules)").split()
    assert "altair" in modules
    assert "jsonschema" in modules
    assert not {"lark", "rfc3987_syntax"} & set(modules)


def test_whoever_asks_for_it_gets_it() -> None:
    code = """if True:
        from analysis import show
        from jsonschema import Draft202012Validator as draft
        check = draft({"format": "iri"}, format_checker=draft.FORMAT_CHECKER).is_valid
        print(check("https://exämple.org/ü"), check("no address"))
        import rfc3987_syntax
        print(rfc3987_syntax.is_valid_syntax("iri", "https://example.org"), rfc3987_syntax.parse.__name__)
    """
    assert run(code).split() == ["True", "False", "True", "parse"]


def test_a_jsonschema_that_is_there_already_is_left_alone() -> None:
    assert "jsonschema" in sys.modules
    before = sys.modules.get(GRAMMAR)
    put_off_the_grammar()
    assert sys.modules.get(GRAMMAR) is before

"""Altair in half a second instead of two: what its import does for others' sake is put off until somebody asks for it.

Altair imports jsonschema, and jsonschema, where JupyterLab has brought `rfc3987_syntax` along, builds a grammar of
internationalised addresses on import: over a second, with which no chart ever checks anything. Here jsonschema gets a
check that builds the grammar when it is first called. Whoever imports `rfc3987_syntax` gets the real one; nothing of it
is changed.
"""

import importlib.util
import sys
from types import ModuleType

GRAMMAR = "rfc3987_syntax"


def put_off_the_grammar() -> None:
    """Import jsonschema without the grammar; nothing where jsonschema is imported already."""
    if "jsonschema" in sys.modules or GRAMMAR in sys.modules:
        return
    if importlib.util.find_spec(GRAMMAR) is None or importlib.util.find_spec("jsonschema") is None:
        return
    stand_in = ModuleType(GRAMMAR)
    stand_in.is_valid_syntax = _is_valid_syntax  # type: ignore[attr-defined]
    sys.modules[GRAMMAR] = stand_in
    try:
        importlib.import_module("jsonschema")
    finally:
        del sys.modules[GRAMMAR]


def _is_valid_syntax(term: str, value: str) -> bool:
    return bool(importlib.import_module(GRAMMAR).is_valid_syntax(term, value))


put_off_the_grammar()

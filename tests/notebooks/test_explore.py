"""The notebook to explore with, executed where nobody looks: it ends without an error and says what it would show."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.explore.people import HOSTILE, records
from tests.notebooks.run import execute, outputs

NOTEBOOK = "explore.ipynb"
pytestmark = pytest.mark.slow


def views(notebook: Any) -> list[Any]:
    return [o.data for o in outputs(notebook) if "application/vnd.jupyter.widget-view+json" in o.get("data", {})]


def test_it_ends_headless_on_the_sample_and_on_nothing(tmp_path: Path) -> None:
    (view,) = views(execute(NOTEBOOK, tmp_path))
    assert view["text/plain"].startswith("420 of 420 trajectories. Run this notebook in JupyterLab")
    (view,) = views(execute(NOTEBOOK, tmp_path, traj_type="conversation", env_id="env_8_sft"))
    assert " of " in view["text/plain"]


def test_what_strings_of_the_source_leave_behind_is_text(tmp_path: Path) -> None:
    source = tmp_path / "hostile.json"
    source.write_text(json.dumps(records()), encoding="utf-8")
    (view,) = views(execute(NOTEBOOK, tmp_path, source=str(source), env_id=HOSTILE))
    assert view["text/plain"].startswith("1 of 1 trajectory")
    assert "<img" not in view["text/html"]

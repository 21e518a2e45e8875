"""The tour shows pictures that a command draws, and teaches what exists."""

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

NOTEBOOKS = ROOT / "notebooks"
TOUR = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")


def test_every_picture_of_the_tour_is_drawn_by_the_command_and_leads_to_its_notebook() -> None:
    shown = re.findall(r"\[!\[[^]]{10,}\]\((pictures/(\w+)\.svg)\)\]\((\w+)\.ipynb\)", TOUR)
    assert len(shown) == TOUR.count("![")
    command = (NOTEBOOKS / "pictures/make.py").read_text(encoding="utf-8")
    for path, name, notebook in shown:
        assert name == notebook
        assert f'"{name}": (' in command
        picture = (NOTEBOOKS / path).read_bytes()
        assert picture.startswith(b"<svg")
        assert b"currentColor" not in picture, "an image knows no theme: it has ink and paper of its own"
        assert len(picture) < 30_000


def test_the_tours_local_links_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", TOUR) if "://" not in link]
    assert not [link for link in links if not (NOTEBOOKS / link).exists()]


def test_the_tours_python_runs_as_it_stands_from_any_folder(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", TOUR, flags=re.MULTILINE | re.DOTALL)
    ran = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_how_to_ask_a_new_question_fits_on_a_screen_and_names_every_file_that_is_made() -> None:
    part = TOUR[TOUR.index("## A new question") :]
    assert len(part.splitlines()) <= 24
    for template in (ROOT / "template").rglob("*new_question*"):
        where = template.relative_to(ROOT / "template")
        if where.suffix in (".py", ".ipynb"):
            name = re.sub("NN", r"\\d\\d", str(where).replace("new_question", "waiting"))
            assert re.search(f"`{name}`", part), f"{where} is not told of"

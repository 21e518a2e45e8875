"""What pip installs is whole: the command, the notebooks and the suite, without the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_the_wheel_works_without_the_checkout(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
        (points,) = [name for name in packed.namelist() if name.endswith("entry_points.txt")]
        assert "trajectories = analysis.__main__:console" in packed.read(points).decode()
    # What a wheel holds comes before the checkout, which is installed as well.
    text = "import analysis; from analysis.report.suite import read_suite; from analysis.__main__ import console; "
    text += "print(analysis.__file__, len(read_suite()), flush=True); console()"
    done = subprocess.run(
        [sys.executable, "-c", text, "report", "--only", "96_dictionary", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed"), "TRAJECTORY_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told, made = done.stdout.splitlines()
    assert told.split() == [
        str(tmp_path / "installed/analysis/__init__.py"),
        str(len([*(ROOT / "notebooks").glob("[0-9]*.ipynb")])),
    ]
    assert made == f"1 of 1 reports made: {Path('reports/html/index.html')}"
    assert (tmp_path / "reports/html/96_dictionary.html").exists()

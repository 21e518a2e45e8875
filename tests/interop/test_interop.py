"""TRL and LlamaFactory take what is exported: their own loaders and templates, a step of training, on the CPU.

They bring PyTorch along, gigabytes of it: only when asked (`make interop`, or INTEROP=1), each in an environment of its
own, made anew or kept in $INTEROP_ENVS. Where a package cannot be installed its tests are skipped and say so.
"""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from analysis import sample
from analysis.export import ExportRequest, export
from analysis.records import chat_template
from analysis.records.model import Trajectory
from analysis.tables import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("INTEROP") != "1",
        reason="INTEROP=1 is not set: TRL and LlamaFactory were not asked (make interop)",
    ),
]

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = os.environ.get("INTEROP_ENVS")
    return Path(kept) if kept else tmp_path_factory.mktemp("environments")


def taken(environments: Path, package: str, script: str, folder: Path, *words: str) -> dict[str, Any]:
    """What the package makes of an exported folder; the script prints it as its last line."""
    python = str(environments / package / "bin" / "python")
    if not Path(python).exists():
        venv.create(environments / package, with_pip=True)
    ask = subprocess.run([python, "-c", f"import importlib.metadata as m; m.version('{package}')"], check=False)
    if ask.returncode:
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", package]
        installed = subprocess.run(pip, capture_output=True, text=True, check=False)
        if installed.returncode:
            pytest.skip(f"{package} cannot be installed here: {installed.stderr.strip().splitlines()[-1]}")
    work = folder.parent / f"{folder.name}-{package}"
    work.mkdir(exist_ok=True)
    offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HOME": str(work / "hub")}
    command = [python, str(HERE / script), str(folder), str(work), *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **offline}, cwd=work)
    assert ran.returncode == 0, ran.stderr[-3000:]
    made: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    print(f"{package} {made['version']}: {len(made['rows'])} rows of {folder.name}", file=sys.stderr)
    return made


def exported(shape: str, where: str, base: Path) -> tuple[Path, dict[str, Any], list[Trajectory]]:
    """(folder, manifest, the runs of its train split as our own readers read them; none of Alpaca's rows)."""
    source = base / "played.json"
    sample.write(source, trajectories=60, environments=5, seed=8)
    manifest = export(ExportRequest(str(source), base / shape, shape, where, validation=0.2, progress=False))
    (file,) = manifest["splits"]["train"]["files"]
    data = load(str(base / shape / file), progress=False)
    ids = data.trajectories.select("trajectory_id").collect().to_series()
    return base / shape, manifest, data.read(ids) if shape != "alpaca-mask-history" else []


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("shape", ["messages", "parquet"])
def test_trl_renders_chat_rows_as_qwens_template_and_trains_on_them(
    shape: str, environments: Path, tmp_path: Path
) -> None:
    # In a conversation the template drops the thoughts before the last user turn; here nothing is to be dropped.
    folder, manifest, runs = exported(shape, "traj_type = 'non_conversation' AND steps <= 12", tmp_path)
    made = taken(environments, "trl", "trl_takes.py", folder)
    assert [row["text"] for row in made["rows"]] == [chat_template.render(run) for run in runs]
    assert made["validation"] == manifest["splits"]["validation"]["rows"]
    for row, run in zip(made["rows"], runs, strict=True):
        spoken = [message for message in run.messages if message.role == "assistant"]
        assert row["taught"].count("<|im_end|>") == len(spoken)
        assert all((call.arguments or "") in row["taught"] for call in run.calls)
    assert made["loss"] > 0


def test_llamafactory_renders_sharegpt_rows_as_qwens_template(environments: Path, tmp_path: Path) -> None:
    folder, manifest, runs = exported("sharegpt", "steps <= 14", tmp_path)
    made = taken(environments, "llamafactory", "llamafactory_takes.py", folder, "false")
    assert [row["text"] for row in made["rows"]] == [chat_template.render(run) for run in runs]
    assert made["validation"] == manifest["splits"]["validation"]["rows"]


def test_llamafactory_trains_each_alpaca_row_on_its_output_alone(environments: Path, tmp_path: Path) -> None:
    folder, manifest, _ = exported("alpaca-mask-history", "steps <= 11", tmp_path)
    made = taken(environments, "llamafactory", "llamafactory_takes.py", folder, "true")
    rows = [json.loads(line) for line in (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["taught"] for row in made["rows"]] == [f"{row['output']}<|im_end|>\n" for row in rows]
    assert [row["text"] for row in made["rows"]] == [rendered(row) for row in rows]
    assert made["validation"] == manifest["splits"]["validation"]["rows"]


def rendered(row: dict[str, Any]) -> str:
    turns = [("system", row["system"])]
    for asked, answered in [*row["history"], (row["instruction"], row["output"])]:
        turns += [("user", asked), ("assistant", answered)]
    return "".join(f"<|im_start|>{speaker}\n{text}<|im_end|>\n" for speaker, text in turns)

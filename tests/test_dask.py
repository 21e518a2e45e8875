"""Units run on a Dask cluster of separate processes; a worker that is killed costs nothing."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from analysis import sample, sources
from analysis.replay import run
from analysis.sources.containers import plan
from analysis.tables import load, write_tables
from analysis.tables.crew import Crew
from analysis.tables.units import decode_units
from tests.waiting import is_running, until

pytestmark = pytest.mark.slow
distributed = pytest.importorskip("distributed", reason="no Dask: install the extra `dask` to run on a cluster")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(plan, "UNIT_BYTES", 100_000)
    sample.write(tmp_path / "sample.json", trajectories=80, environments=14, seed=5)
    return str(tmp_path / "sample.json")


def _rows(folder: Path) -> dict[str, Any]:
    import polars as pl  # noqa: PLC0415

    names = ("trajectories", "messages", "tool_calls", "findings")
    return {name: pl.read_parquet(folder / name / "part-*.parquet").sort(pl.all()) for name in names}


def test_a_killed_worker_s_units_are_decoded_by_another(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = sources.plan(sources.locate(source))
    assert len(units) >= 20
    here = decode_units(units, str(tmp_path / "here"), Crew(jobs=1, progress=False))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        victims = [worker.pid for worker in cluster.workers.values()]
        target = tmp_path / "there"
        killer = threading.Thread(target=_kill_after_first_receipt, args=(target, victims[0]))
        killer.start()
        there = decode_units(units, str(target), Crew(dask=cluster.scheduler_address, progress=False))
        killer.join()
    assert not is_running(victims[0])
    counts = [(receipt.shard, receipt.records_in, receipt.kept, receipt.rejected) for receipt in there]
    assert counts == [(receipt.shard, receipt.records_in, receipt.kept, receipt.rejected) for receipt in here]
    for name, frame in _rows(tmp_path / "there").items():
        assert frame.equals(_rows(tmp_path / "here")[name])


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def test_the_public_door_takes_a_scheduler(
    tmp_path: Path, source: str, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    data = load(source, dask=scheduler, progress=False)
    assert data.manifest["kept"] == len(json.loads(Path(source).read_text(encoding="utf-8"))) == 80


def test_tables_written_by_a_cluster_land_in_the_place_named_and_not_in_this_machine_s_cache(
    tmp_path: Path, source: str, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    manifest = write_tables(source, "out", dask=scheduler, progress=False)
    assert load(str(tmp_path / "out")).trajectories.collect().height == manifest["kept"] == 80
    assert not list((tmp_path / "cache").rglob("*.parquet"))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def _kill_after_first_receipt(target: Path, pid: int) -> None:
    until(lambda: list(target.glob("units/*.json")), pause=0.005)
    os.kill(pid, signal.SIGKILL)


def test_calls_are_played_again_on_a_cluster_as_here(
    tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "CHUNK", 10)
    sample.write(tmp_path / "sample.json", trajectories=30, environments=3, seed=4)
    sample.write_siblings(tmp_path, trajectories=30, environments=3, seed=4)
    sets = [str(tmp_path / f"{name}.json") for name in ("environments", "scenarios")]
    replays = partial(run.write_replays, str(tmp_path / "sample.json"), environments=sets[0], scenarios=sets[1])
    there = replays(out=tmp_path / "there", dask=scheduler, progress=False)
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "another"))
    here = replays(out=tmp_path / "here", jobs=1, progress=False)
    assert there == here
    assert there["reproduced"] > 0

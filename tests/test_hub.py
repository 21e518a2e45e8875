"""Hub sources, against a hub on this machine."""

import fcntl
import json
import logging
import os
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest

from analysis.sources import hub
from analysis.sources.hub import snapshot
from analysis.sources.hub.download import DOWNLOAD_ATTEMPTS
from analysis.tables import load
from tests.builders import step, trajectory
from tests.loopback_hub import COMMIT, LoopbackHub, Repository, git_hash, serve, sha256

MEBIBYTE = 1024 * 1024
LARGE = bytes(range(256)) * (24 * MEBIBYTE // 256)
RECORDS = json.dumps([{"traj_type": "conversation", "steps": n} for n in range(20_000)], indent=4).encode()
TRAJECTORIES = "XXHStudyHard/EnvScaler-SFT-Traj-9K"
METADATA = "envscaler_sft_traj_9k_metadata.json"
TEMPLATED = "mask_history_all_traj-9K_apply_qwen3_template.json"

Fetch = Callable[[str], hub.Snapshot]


@pytest.fixture
def server() -> Iterator[LoopbackHub]:
    with serve() as running:
        running.repositories[TRAJECTORIES] = Repository(
            {METADATA: RECORDS, TEMPLATED: b"[" + b" " * 10_000 + b"]", "README.md": b"# card"}
        )
        running.repositories["lab/rollouts"] = Repository({"rollouts.jsonl": b'{"steps": 1}\n', "README.md": b"# card"})
        yield running


@pytest.fixture
def fetch(server: LoopbackHub, tmp_path: Path) -> Fetch:
    def fetch_here(name: str) -> hub.Snapshot:
        return hub.fetch(name, progress=False, endpoint=server.endpoint, cache_dir=tmp_path / "cache")

    return fetch_here


@pytest.mark.parametrize(
    ("name", "repository", "revision", "file"),
    [
        ("hub:lab/rollouts", "lab/rollouts", None, None),
        ("lab/rollouts", "lab/rollouts", None, None),
        ("hub:lab/rollouts@v1.0", "lab/rollouts", "v1.0", None),
        ("hub:lab/rollouts@refs/convert/parquet:default/train/0000.parquet", "lab/rollouts", "refs/convert/parquet",
         "default/train/0000.parquet"),
        ("hub:lab/rollouts:data/a b.json", "lab/rollouts", None, "data/a b.json"),
    ],
)  # fmt: skip
def test_a_source_is_taken_apart_into_repository_revision_and_file(
    name: str, repository: str, revision: str | None, file: str | None
) -> None:
    assert hub.parse(name) == hub.HubName(repository, revision, file)
    assert hub.parse(str(hub.parse(name))) == hub.parse(name)


@pytest.mark.parametrize("name", ["hub:", "hub:rollouts", "hub:lab/", "hub:a/b/c", "hub:lab/rollouts@", "hub:lab/x:"])
def test_what_is_no_hub_source_is_refused_with_the_form_it_should_have(name: str) -> None:
    with pytest.raises(hub.HubError, match="hub:OWNER/NAME"):
        hub.parse(name)


def test_the_9k_set_means_its_metadata_file_and_never_the_large_one(server: LoopbackHub, fetch: Fetch) -> None:
    fetched = fetch(f"hub:{TRAJECTORIES}")
    assert [file.name for file in fetched.files] == [METADATA]
    assert fetched.paths[0].read_bytes() == RECORDS
    assert server.transfers() == [f"GET /storage/{sha256(RECORDS)}"]


@pytest.mark.parametrize(
    ("repository", "file"),
    [
        ("XXHStudyHard/EnvScaler-191-Env", "191_env_metadata_processed.json"),
        ("XXHStudyHard/EnvScaler-SFT-Scenario", "envscaler_sft_scenario_metadata.json"),
        ("XXHStudyHard/EnvScaler-RL-Scenario", "envscaler_rl_scenario_metadata.json"),
    ],
)
def test_the_sibling_sets_mean_their_metadata_files(
    server: LoopbackHub, fetch: Fetch, repository: str, file: str
) -> None:
    server.repositories[repository] = Repository({"extra.json": b"[]", file: b'[{"env_id": "env_1"}]'})
    assert [f.name for f in fetch(f"hub:{repository}").files] == [file]


def test_what_was_fetched_is_pinned_to_a_commit_and_described_for_the_manifest(fetch: Fetch) -> None:
    fetched = fetch(f"hub:{TRAJECTORIES}@main")
    assert fetched.repository == TRAJECTORIES
    assert fetched.revision == COMMIT
    (file,) = fetched.files
    assert (file.bytes, file.sha256) == (len(RECORDS), sha256(RECORDS))
    assert fetched.notice == ""


def test_a_file_is_transferred_once_for_all_runs(server: LoopbackHub, fetch: Fetch) -> None:
    first = fetch(f"hub:{TRAJECTORIES}")
    assert fetch(f"hub:{TRAJECTORIES}") == first
    assert len(server.transfers()) == 1


def test_a_full_commit_that_is_here_already_needs_no_question_to_the_hub(server: LoopbackHub, fetch: Fetch) -> None:
    fetch(f"hub:{TRAJECTORIES}@{COMMIT}")
    server.asked.clear()
    assert fetch(f"hub:{TRAJECTORIES}@{COMMIT}").revision == COMMIT
    assert server.asked == []


def test_a_branch_that_moved_is_fetched_anew(server: LoopbackHub, fetch: Fetch) -> None:
    fetch("hub:lab/rollouts")
    server.repositories["lab/rollouts"].files["rollouts.jsonl"] = b'{"steps": 2}\n'
    server.repositories["lab/rollouts"].revisions["main"] = "f" * 40
    fetched = fetch("hub:lab/rollouts")
    assert fetched.revision == "f" * 40
    assert fetched.paths[0].read_bytes() == b'{"steps": 2}\n'


def test_the_only_data_file_needs_no_name(fetch: Fetch) -> None:
    assert [file.name for file in fetch("hub:lab/rollouts").files] == ["rollouts.jsonl"]


def test_among_several_data_files_one_must_be_named_and_all_are_listed(server: LoopbackHub, fetch: Fetch) -> None:
    server.repositories["lab/many"] = Repository({"train.json": b"[]", "test.json": b"[]", "README.md": b""})
    with pytest.raises(hub.HubError, match=r"2 data files; say which: .*test\.json, train\.json"):
        fetch("hub:lab/many")
    assert server.transfers() == []


def test_a_pattern_names_the_parts_of_one_set(server: LoopbackHub, fetch: Fetch) -> None:
    parts = {f"data/train-{n}.parquet": bytes([n]) * 10 for n in range(3)}
    server.repositories["lab/parts"] = Repository({**parts, "data/test-0.parquet": b"test"})
    fetched = fetch("hub:lab/parts:data/train-*.parquet")
    assert {file.name: file.path.read_bytes() for file in fetched.files} == parts


CARD = b"""---
configs:
- config_name: hard
  data_files: hard/*.jsonl
- config_name: easy
  data_files:
  - {split: train, path: easy/a.jsonl}
  - {split: test, path: easy/b.jsonl}
---
"""
PARTS: dict[str, list[str] | str] = {
    "lab/plain:train": ["data/train-0.jsonl", "data/train-1.jsonl"],
    "lab/plain:default/test": ["data/test.jsonl"],
    "lab/card:hard": ["hard/1.jsonl", "hard/2.jsonl"],
    "lab/card:easy": ["easy/a.jsonl", "easy/b.jsonl"],
    "lab/card:easy/test": ["easy/b.jsonl"],
    "lab/card:easy/*.jsonl": ["easy/a.jsonl", "easy/b.jsonl"],
    "lab/card:easy/tset": "no file, configuration or split 'easy/tset'. Nearest: easy",
    "lab/card:train": "no file, configuration or split 'train'. Nearest: easy/train, hard/train",
}


def test_a_configuration_or_split_means_the_files_that_its_card_names(server: LoopbackHub, tmp_path: Path) -> None:
    for name in ("plain", "card"):
        files = {
            file for part, found in PARTS.items() if f"/{name}:" in part and isinstance(found, list) for file in found
        }
        card = {"README.md": CARD if name == "card" else b"# card"}
        server.repositories[f"lab/{name}"] = Repository(card | {file: f"{{{file!r}: 1}}".encode() for file in files})
    code = """import sys
from analysis.sources import hub
for name in sys.argv[1:]:
    try: print([file.name for file in hub.fetch("hub:" + name, progress=False).files])
    except hub.HubError as error: print(error)"""
    # The library that knows splits takes the hub's address from the environment, when it is imported.
    ran = subprocess.run(
        [sys.executable, "-c", code, *PARTS],
        env={**os.environ, "HF_ENDPOINT": server.endpoint, "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    for (name, found), said in zip(PARTS.items(), ran.stdout.splitlines(), strict=True):
        assert said == str(found) if isinstance(found, list) else found in said, name
    assert not ran.stderr


def test_a_small_file_kept_in_git_is_checked_by_its_git_hash(server: LoopbackHub, fetch: Fetch) -> None:
    server.repositories["lab/small"] = Repository({"few.json": b"[1]"}, small={"few.json"})
    (file,) = fetch("hub:lab/small").files
    assert file.path.resolve().name == git_hash(b"[1]")
    assert file.sha256 == sha256(b"[1]")


def test_a_broken_connection_is_resumed_from_the_last_whole_chunk(server: LoopbackHub, fetch: Fetch) -> None:
    server.repositories["lab/large"] = Repository({"large.jsonl": LARGE})
    server.break_after = [12 * MEBIBYTE, 11 * MEBIBYTE]
    fetched = fetch("hub:lab/large")
    assert fetched.paths[0].read_bytes() == LARGE
    storage = f"GET /storage/{sha256(LARGE)}"
    # The client writes chunks of 10 MiB: 12 arrive and 10 are kept, 11 more arrive and 10 are kept.
    assert server.transfers() == [storage, f"{storage} from {10 * MEBIBYTE}", f"{storage} from {20 * MEBIBYTE}"]


def test_a_reset_connection_is_taken_up_again_and_said(
    server: LoopbackHub, fetch: Fetch, caplog: pytest.LogCaptureFixture
) -> None:
    server.repositories["lab/large"] = Repository({"large.jsonl": LARGE})
    server.break_after, server.resets = [12 * MEBIBYTE], True
    with caplog.at_level(logging.WARNING, logger="analysis.sources.hub"):
        assert fetch("hub:lab/large").paths[0].read_bytes() == LARGE
    assert "the connection was reset; large.jsonl goes on" in caplog.text
    first, second = server.transfers()
    assert first == f"GET /storage/{sha256(LARGE)}"
    assert second in (first, f"{first} from {10 * MEBIBYTE}")  # a reset may throw away what has not been read


def test_a_run_that_was_killed_is_continued_by_the_next_from_what_is_on_disk(
    server: LoopbackHub, fetch: Fetch, tmp_path: Path
) -> None:
    server.repositories["lab/large"] = Repository({"large.jsonl": LARGE})
    server.stall_after = [12 * MEBIBYTE]
    code = f"from analysis.sources import hub; hub.fetch('hub:lab/large', cache_dir={str(tmp_path / 'cache')!r})"
    with subprocess.Popen(
        [sys.executable, "-c", code], env=os.environ | {"HF_ENDPOINT": server.endpoint}, stderr=subprocess.DEVNULL
    ) as victim:
        assert server.stalled.wait(60)
        _until(lambda: any(p.stat().st_size == 10 * MEBIBYTE for p in (tmp_path / "cache").rglob("*.incomplete")))
        victim.kill()
    (file,) = fetch("hub:lab/large").files
    assert file.path.read_bytes() == LARGE
    storage = f"GET /storage/{sha256(LARGE)}"
    assert server.transfers() == [storage, f"{storage} from {10 * MEBIBYTE}"]
    assert not list((tmp_path / "cache").rglob("*.incomplete"))


def test_what_an_earlier_run_left_is_not_trusted_before_its_checksum(
    server: LoopbackHub, fetch: Fetch, tmp_path: Path
) -> None:
    left = tmp_path / "cache" / f"datasets--{TRAJECTORIES.replace('/', '--')}" / "blobs"
    left.mkdir(parents=True)
    (left / f"{sha256(RECORDS)}.incomplete").write_bytes(b"x" * 1000)
    with pytest.raises(hub.HubError, match="checksum mismatch"):
        fetch(f"hub:{TRAJECTORIES}")
    assert fetch(f"hub:{TRAJECTORIES}").paths[0].read_bytes() == RECORDS
    assert [request.partition(" from ")[2] for request in server.transfers()] == ["1000", ""]


def _until(holds: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_checksum_mismatch_is_refused_and_nothing_of_it_stays(
    server: LoopbackHub, fetch: Fetch, tmp_path: Path
) -> None:
    server.served[sha256(RECORDS)] = RECORDS.replace(b"19999", b"19998")
    with pytest.raises(hub.HubError, match="checksum mismatch"):
        fetch(f"hub:{TRAJECTORIES}")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.stat().st_size > 1_000]
    del server.served[sha256(RECORDS)]
    assert fetch(f"hub:{TRAJECTORIES}").paths[0].read_bytes() == RECORDS


def test_without_a_network_the_earlier_copy_is_used_and_said_out_loud(
    server: LoopbackHub, fetch: Fetch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = fetch(f"hub:{TRAJECTORIES}")
    with caplog.at_level(logging.WARNING, logger="analysis.sources.hub"):
        again = hub.fetch(f"hub:{TRAJECTORIES}", endpoint="http://127.0.0.1:9", cache_dir=tmp_path / "cache")
    assert (again.revision, again.files) == (first.revision, first.files)
    assert "using the copy fetched earlier" in again.notice
    assert COMMIT in again.notice
    assert again.notice in caplog.messages


def test_without_a_network_and_without_a_copy_the_message_says_both(tmp_path: Path) -> None:
    with pytest.raises(hub.HubError, match=r"cannot be reached.*no earlier copy"):
        hub.fetch(f"hub:{TRAJECTORIES}", endpoint="http://127.0.0.1:9", cache_dir=tmp_path)


def test_a_hub_that_does_not_answer_is_waited_for_once_and_asked_again_later(
    server: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_silent", {})
    server.break_after, server.resets = [0] * DOWNLOAD_ATTEMPTS, True
    server.repositories["lab/other"] = Repository({"other.jsonl": b'{"steps": 2}\n'})

    def ask(name: str) -> hub.Snapshot:
        return hub.fetch(name, progress=False, endpoint=server.endpoint, cache_dir=tmp_path / "cache")

    for name in ("hub:lab/rollouts", "hub:lab/other"):
        with pytest.raises(hub.HubError, match="cannot be reached"):
            ask(name)
    assert not [request for request in server.asked if "lab/other" in request]
    monkeypatch.setattr(snapshot, "SILENT_S", 0.0)
    assert ask("hub:lab/other").paths[0].read_bytes() == b'{"steps": 2}\n'


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((503, {}), r"out of order \(503\)"),
        ((500, {}), r"out of order \(500\)"),
        ((429, {"Retry-After": "37"}), r"asks for a pause \(429, too many requests; try again in 37 s\)"),
    ],
)
def test_a_hub_in_trouble_is_named_and_an_earlier_copy_stands_in(
    server: LoopbackHub, fetch: Fetch, answer: tuple[int, dict[str, str]], message: str
) -> None:
    server.faults["GET /api/datasets/"] = [answer]
    with pytest.raises(hub.HubError, match=message + ".*no earlier copy"):
        fetch("hub:lab/rollouts")
    first = fetch("hub:lab/rollouts")
    server.faults["GET /api/datasets/"] = [answer]
    again = fetch("hub:lab/rollouts")
    assert again.files == first.files
    assert "using the copy" in again.notice


def test_a_misspelt_data_set_is_answered_with_the_nearest_names_of_its_owner(fetch: Fetch) -> None:
    with pytest.raises(hub.HubError, match=r"no public data set of this name \(401\)\. Nearest: EnvScaler-SFT-Traj-9K"):
        fetch("hub:XXHStudyHard/EnvScaler-SFT-Traj9K")


def test_an_unknown_revision_is_answered_with_those_there_are(server: LoopbackHub, fetch: Fetch) -> None:
    server.repositories["lab/rollouts"].revisions["v1.0"] = "a" * 40
    with pytest.raises(hub.HubError, match=r"no revision 'v2' \(404\)\. There are: main, v1\.0"):
        fetch("hub:lab/rollouts@v2")


def test_an_unknown_file_is_answered_with_the_nearest_and_all_data_files(fetch: Fetch) -> None:
    with pytest.raises(hub.HubError, match=rf"no file 'envscaler_metadata\.json'\. Nearest: {METADATA}.*{TEMPLATED}"):
        fetch(f"hub:{TRAJECTORIES}:envscaler_metadata.json")


def test_a_gated_data_set_says_whom_to_ask(server: LoopbackHub, fetch: Fetch) -> None:
    server.repositories["lab/rollouts"].denial = (403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "restricted"})
    with pytest.raises(hub.HubError, match=r"gated \(403\).*owner grants access.*hf auth login"):
        fetch("hub:lab/rollouts")


def test_a_token_that_is_refused_is_told_from_a_missing_data_set(
    server: LoopbackHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    server.faults["GET /api/datasets/"] = [
        (401, {"X-Error-Message": "Invalid credentials in Authorization header"})
    ]  # fmt: skip
    with pytest.raises(hub.HubError, match=r"refused the token \(401\)"):
        fetch("hub:lab/rollouts")


def test_a_token_goes_to_the_hub_and_not_on_to_the_storage_it_redirects_to(
    server: LoopbackHub, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch("hub:lab/rollouts")
    assert any("/resolve/" in path for path in server.with_token)
    assert len(server.transfers()) == 1
    assert not [path for path in server.with_token if path.startswith("/storage/")]


def test_forbidden_says_that_the_token_does_not_suffice(server: LoopbackHub, fetch: Fetch) -> None:
    server.faults["GET /api/datasets/"] = [(403, {"X-Error-Message": "no"})]
    with pytest.raises(hub.HubError, match=r"access denied \(403\)"):
        fetch("hub:lab/rollouts")


def read_all(terminal: IO[bytes]) -> Iterator[bytes]:
    """What stands in a terminal whose other end is closed: after that, Linux says EIO."""
    with suppress(OSError):
        while piece := terminal.read(10_000):
            yield piece


@pytest.mark.parametrize("is_watched", [True, False])
def test_the_address_comes_from_the_environment_and_progress_is_shown_to_a_person(
    server: LoopbackHub, tmp_path: Path, is_watched: bool
) -> None:
    code = f"from analysis.sources.hub import fetch; print(fetch('hub:{TRAJECTORIES}').paths[0])"
    here, there = os.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with (tmp_path / "said").open("w+b") as piped:
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "HF_ENDPOINT": server.endpoint, "HF_HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=there if is_watched else piped,
            text=True,
            check=True,
        )
    os.close(there)
    with os.fdopen(here, "rb", buffering=0) as terminal:
        said = b"".join(read_all(terminal)) if is_watched else (tmp_path / "said").read_bytes()
    assert Path(ran.stdout.strip()).read_bytes() == RECORDS
    assert (b"100%" in said) == is_watched


def test_a_hub_source_is_decoded_like_any_other_and_its_manifest_names_the_commit(
    server: LoopbackHub, tmp_path: Path
) -> None:
    records = [trajectory("t1", steps=[step(tool="get_user")]), trajectory("t2", steps=[step(says="Task Completed")])]
    server.repositories[TRAJECTORIES].files[METADATA] = json.dumps(records, indent=4).encode()
    code = f"import json; from analysis import load; print(json.dumps(load('hub:{TRAJECTORIES}').manifest))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ
        | {"HF_ENDPOINT": server.endpoint, "HF_HOME": str(tmp_path), "TRAJECTORY_CACHE": str(tmp_path / "tables")},
        capture_output=True,
        text=True,
        check=True,
    )
    manifest = json.loads(ran.stdout.splitlines()[-1])
    assert manifest["revision"] == COMMIT
    assert (manifest["records_in"], manifest["kept"]) == (2, 2)


# Siblings of the release ------------------------------------------------------------------------------------------

ENVIRONMENTS, SFT, RL = (f"XXHStudyHard/EnvScaler-{name}" for name in ("191-Env", "SFT-Scenario", "RL-Scenario"))


def _scenario(env_id: str, task: str) -> dict[str, Any]:
    return {
        "env_id": env_id,
        "env_class_name": "Bank",
        "task_id": f"{env_id}-{task}",
        "init_config": "{}",
        "task": "Pay.",
    }


@pytest.fixture
def release(server: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoopbackHub:
    """The release and its three sibling sets on the hub, which every `hub:` source of this process goes to."""
    monkeypatch.setenv("TRAJECTORY_CACHE", str(tmp_path / "tables"))
    monkeypatch.setattr(
        hub, "fetch", partial(hub.fetch, progress=False, endpoint=server.endpoint, cache_dir=tmp_path / "cache")
    )
    held: dict[str, tuple[str, list[dict[str, Any]]]] = {
        TRAJECTORIES: (METADATA, [trajectory("t1", steps=[step("get_user")]), trajectory("t2", env_id="env_2_sft")]),
        ENVIRONMENTS: (
            "191_env_metadata_processed.json",
            [{"env_id": f"env_{n}", "operation_list": []} for n in ("1_sft", "2_sft", "3_rl")],
        ),
        SFT: (
            "envscaler_sft_scenario_metadata.json",
            [_scenario("env_1_sft", "t1"), _scenario("env_1_sft", "t9"), _scenario("env_2_sft", "t2")],
        ),
        RL: ("envscaler_rl_scenario_metadata.json", [_scenario("env_3_rl", "t1") | {"checklist_with_func": []}]),
    }
    for number, (name, (file, rows)) in enumerate(held.items()):
        commit = f"{number}" * 40
        content = {file: json.dumps(rows, indent=4).encode(), "extra.json": b"[]"}
        server.repositories[name] = Repository(content, revisions={"main": commit})
    return server


def test_the_release_brings_its_siblings_pinned_to_their_commits_and_its_joins_are_counted(
    release: LoopbackHub,
) -> None:
    data = load(f"hub:{TRAJECTORIES}", progress=False)
    assert data.environments.collect()["env_id"].to_list() == ["env_1_sft", "env_2_sft", "env_3_rl"]
    assert data.scenarios.collect().height == 4
    assert data.manifest["revision"] == "0" * 40
    assert {held["source"]: held["revision"] for held in data.manifest["siblings"]} == {
        f"hub:{ENVIRONMENTS}": "1" * 40,
        f"hub:{SFT}": "2" * 40,
        f"hub:{RL}": "3" * 40,
    }
    joins = {(join["rows"], join["of"]): (join["keys"], join["missing"]) for join in data.manifest["joins"]}
    assert joins == {
        ("trajectories", "environments"): (2, 0),
        ("trajectories", "scenarios"): (2, 0),
        ("scenarios", "environments"): (3, 0),
    }
    assert len(release.transfers()) == 4


def test_a_sibling_that_is_not_there_is_said_and_done_without(
    release: LoopbackHub, caplog: pytest.LogCaptureFixture
) -> None:
    del release.repositories[RL]
    data = load(f"hub:{TRAJECTORIES}", progress=False)
    assert data.scenarios.collect().height == 3
    assert "Going on without it" in caplog.text
    with pytest.raises(hub.HubError, match="no public data set"):
        load(f"hub:{TRAJECTORIES}", scenarios="hub", progress=False)


def test_a_file_of_this_machine_asks_the_hub_only_when_that_is_said(release: LoopbackHub, tmp_path: Path) -> None:
    source = tmp_path / "trajectories.json"
    source.write_text(json.dumps([trajectory("t1"), trajectory("t7")]), encoding="utf-8")
    assert load(str(source), progress=False).environments.collect().is_empty()
    assert load("hub:lab/rollouts", progress=False).manifest["siblings"] == []
    assert not [request for request in release.asked if "EnvScaler" in request]
    data = load(str(source), environments="hub", scenarios="hub", progress=False)
    assert [held["revision"] for held in data.manifest["siblings"]] == ["1" * 40, "2" * 40, "3" * 40]


def test_none_keeps_the_siblings_of_the_release_where_they_are(release: LoopbackHub) -> None:
    data = load(f"hub:{TRAJECTORIES}", environments="none", scenarios="none", progress=False)
    assert data.manifest["siblings"] == []
    assert data.environments.collect().is_empty()
    assert len(release.transfers()) == 1


def test_records_without_their_scenario_are_counted_and_named(
    release: LoopbackHub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = tmp_path / "trajectories.json"
    # t7 is no scenario; the second names a scenario of another environment.
    moved = trajectory("t2", env_id="env_2_sft")
    moved["task_info"]["env_id"] = "env_1_sft"
    source.write_text(json.dumps([trajectory("t7"), moved, trajectory("t1")]), encoding="utf-8")
    manifest = load(str(source), scenarios=f"hub:{SFT}", progress=False).manifest
    assert manifest["joins"] == [
        {
            "rows": "trajectories",
            "of": "scenarios",
            "by": ["env_id", "task_id"],
            "keys": 3,
            "missing": 2,
            "examples": ["env_1_sft env_1_sft-t7", "env_1_sft env_2_sft-t2"],
        }
    ]
    assert "2 of 3 different env_id and task_id are not among the scenarios given" in caplog.text


def test_importing_the_module_does_not_import_the_client() -> None:
    code = "import sys, analysis.sources.hub; print({'huggingface_hub', 'datasets', 'httpx2'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"

"""The switches of the index count what the command beside them exports, by the keyboard alone and without a network."""

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analysis.cli.main import main
from tests.browser.opening import opened
from tests.conftest import Suite

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def told(page: "Page", name: str) -> str:
    return page.inner_text(f'[data-told="{name}"]')


@pytest.mark.parametrize(
    ("ticked", "limits"),
    [
        ([], {}),
        (["copy", "loops"], {}),
        (["failed"], {"scenario": "1"}),
        (["copy", "loops", "failed"], {"scenario": "1", "tokens": "6000"}),
    ],
)
def test_switches_count_what_their_command_exports(
    chromium: "Browser", sample_suite: Suite, tmp_path: Path, ticked: list[str], limits: dict[str, str]
) -> None:
    with opened(chromium, sample_suite.html / "index.html") as seen:
        page = seen.page
        for name in ticked:
            page.focus(f'[name="{name}"]')
            page.keyboard.press("Space")
        for name, value in limits.items():
            page.focus(f'#switches [name="{name}"]')
            page.keyboard.type(value)
        shown = {name: int(told(page, name).replace(",", "")) for name in ("trajectories", "calls", "environments")}
        command = told(page, "command")
        seen.assert_quiet()
    words = shlex.split(command)
    assert words[:4] == ["python", "-m", "analysis", "export"]
    words[words.index("kept/")] = str(tmp_path / "kept")
    assert main([*words[3:], "--quiet"]) == 0
    manifest = json.loads((tmp_path / "kept/manifest.json").read_text("utf-8"))
    rows = json.loads((tmp_path / "kept/train.json").read_text("utf-8"))
    calls = sum(len(message.get("tool_calls") or ()) for row in rows for message in json.loads(row["messages"]))
    assert shown == {
        "trajectories": manifest["exported"],
        "calls": calls,
        "environments": manifest["splits"]["train"]["environments"],
    }
    assert bool(ticked or limits) == (manifest["exported"] < 420)


def test_without_scripts_the_index_says_what_it_lacks_and_keeps_its_numbers(
    chromium: "Browser", sample_suite: Suite
) -> None:
    context = chromium.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((sample_suite.html / "index.html").as_uri())
    text = page.inner_text("main")
    context.close()
    assert "needs JavaScript" in text
    assert re.search(r"420 trajectories with 5,647 calls in 14 environments", text)

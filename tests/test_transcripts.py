"""A trajectory as something to read: in order, folded where long, honest about errors, safe whatever it holds."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.model import Call, Finding, Message, Trajectory
from analysis.transcripts import LARGEST_PARSED, LONGEST_SHOWN, anchor, html, pretty
from tests.builders import decode, step, trajectory

ALLOWED = {"details", "summary", "b", "small", "span", "ol", "ul", "li", "div", "p", "pre", "code", "em", "i"}


class Tags(HTMLParser):
    """Opens and closes as a browser would see them, and every attribute."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def only(*steps: list[dict[str, object]], **facts: object) -> Trajectory:
    """The one trajectory of these steps, as the decoder reads it."""
    data = decode(trajectory("t1", steps=list(steps), **facts))  # type: ignore[arg-type]
    (id_,) = data.trajectories.select("trajectory_id").collect().to_series()
    return data.read([id_])[0]


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def test_turns_stand_in_the_order_they_were_taken() -> None:
    shown = words(html(only(step(tool="get_user"), step(tool="transfer")), "0-1"))
    assert shown.index("get_user") < shown.index("transfer")
    assert shown.index("step 1") < shown.index("step 2")


def test_the_head_says_what_it_is_before_it_is_opened() -> None:
    made = only(step(tool="get_user"), step(tool="transfer", error="no funds"), env_id="bank")
    head = words(html(made, "0-1", "most errors").partition("</summary>")[0])
    for fact in ("0-1", "most errors", "bank", "2 calls", "1 error"):
        assert fact in head


def test_reasoning_is_folded_and_says_how_long_it_is() -> None:
    made = html(only(step(tool="get_user", reasoning="Because. " * 100)), "0-1")
    (folded,) = re.findall(r'<details class="reasoning">(.*?)</details>', made, flags=re.DOTALL)
    assert "900 characters" in folded
    assert "open" not in made.partition('class="reasoning"')[2][:3]


def test_an_error_is_marked_at_its_call_and_at_its_result() -> None:
    made = html(only(step(tool="get_user"), step(tool="transfer", error="no funds")), "0-1")
    assert len(re.findall(r'class="turn tool error"', made)) == 1
    (call,) = re.findall(r'<div class="call">(?:(?!</div>).)*?transfer.*?</div>', made, flags=re.DOTALL)
    assert ">error</em>" in call
    assert "get_user" not in call


def test_a_call_nobody_answered_is_marked() -> None:
    assert ">no result</em>" in html(only(step(tool="get_user", answered=False)), "0-1")


def test_findings_stand_at_their_message_and_those_of_the_whole_record_on_top() -> None:
    made = only(step(tool="get_user"))
    planted = msgspec.structs.replace(
        made, findings=[Finding("at_a_message", 2, "here"), Finding("of_all", None, "all"), Finding("lost", 99, "gone")]
    )
    shown = html(planted, "0-1")
    top, turns = shown.split('<ol class="turns">')
    assert "of all" in top
    assert "lost" in top, "a finding about a message that is not there is still shown"
    (message,) = [part for part in turns.split('<li class="turn') if "message 2<" in part]
    assert "at a message" in message


def test_a_result_is_labelled_with_the_call_it_answers() -> None:
    assert "Result · get_user · ok" in words(html(only(step(tool="get_user")), "0-1"))


def test_json_and_python_literals_are_indented_and_nothing_else_is_touched() -> None:
    assert pretty('{"a": [1, 2]}') == json.dumps({"a": [1, 2]}, indent=2)
    wide = {"success": True, "data": [{"name": "O'Brien", "note": "x" * 60}, {"name": None, "note": "y" * 60}]}
    assert pretty(repr(wide)).count("\n") > 1
    for text in ("plain text", "", "None", "{'a': <object at 0x7f>}", "{'a': 1", "1", "datetime.datetime(2024, 1, 1)"):
        assert pretty(text) == text


def test_results_are_never_run(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    text = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    assert pretty(text) == text
    assert pretty(f"[{text}]") == f"[{text}]"
    assert not trap.exists()


@pytest.mark.parametrize(
    "text", ["[" * 10_000, "{" * 19_000, "(" * 5_000 + ")" * 5_000, '"' + "a" * 30_000, "9" * 19_000]
)
def test_what_would_choke_a_parser_is_shown_as_it_is(text: str) -> None:
    assert pretty(text) == text


def test_long_texts_are_cut_and_how_much_is_said() -> None:
    shown = words(html(only(step(says="z" * (LONGEST_SHOWN + 1234))), "0-1"))
    assert "1,234 more characters in the source" in shown
    assert LARGEST_PARSED >= LONGEST_SHOWN


@given(st.text(min_size=1, max_size=60))
def test_whatever_is_said_arrives_as_text(said: str) -> None:
    made = msgspec.structs.replace(BASE, messages=[msgspec.structs.replace(m, content=said) for m in BASE.messages])
    made = msgspec.structs.replace(made, env_id=said, task_id=said, findings=[Finding(said, 1, said)])
    tags = Tags(html(made, said, said))
    assert tags.open == []
    assert tags.seen <= ALLOWED
    assert tags.attributes <= {"class", "id", "dir"}


def test_hostile_strings_are_text_in_every_position() -> None:
    evil = "</script></details><img src=x onerror=alert(1)> \x00 \" '"
    made = only(step(tool=evil, arguments={evil: evil}, reasoning=evil, error=evil), step(says=evil, user=evil))
    shown = html(made, evil, evil)
    shown.encode()
    assert Tags(shown).seen <= ALLOWED
    assert "<img src=x onerror=alert(1)>" in words(shown)


@given(st.lists(st.text(max_size=50), min_size=2, max_size=2, unique=True))
def test_anchors_are_harmless_and_differ_where_ids_do(ids: list[str]) -> None:
    first, second = map(anchor, ids)
    assert re.fullmatch(r"t-[A-Za-z0-9_-]*", first)
    assert first != second


def test_an_ordinary_id_is_its_own_anchor() -> None:
    assert anchor("00000-00012") == "t-00000-00012"


BASE = only(step(tool="get_user"), step(tool="transfer", error="no funds"))


def long_run(messages: int) -> Trajectory:
    """Of so many messages, every tenth result an error."""
    made: list[Message] = []
    calls = []
    for place in range(0, messages, 2):
        call = Call("get_user", "{}", "string", message=place, result_message=place + 1)
        call.outcome = "error" if place % 20 == 10 else "ok"
        made += [Message("assistant", f"I ask {place}.", calls=[call]), Message("tool", f"result {place + 1}")]
        calls.append(call)
    findings = [Finding("orphan_result", place, "lost") for place in range(0, messages, 2)]
    return Trajectory("o", "release", "conversation", "e", "t", "task", None, (), "", made, findings, calls)


def test_of_a_long_run_the_ends_and_every_error_are_shown() -> None:
    run = long_run(1_000)
    seen = [int(place) for place in re.findall(r"message ([0-9]+)</small>", html(run, "0-1", most=40))]
    errors = {place for call in run.calls if call.outcome == "error" for place in (call.message, call.result_message)}
    assert seen == sorted({*range(20), *range(980, 1_000), *errors})
    assert html(run, "0-1", most=1_000).count("message ") >= 1_000


def test_what_is_left_out_of_a_long_run_adds_up_with_what_is_shown() -> None:
    shown = html(long_run(1_000), "0-1", most=40)
    left = sum(int(count) for count in re.findall(r"… ([0-9]+) messages?, ", shown))
    assert left + shown.count('<small class="position">') == 1_000
    assert (
        'and 9 findings on them: not shown here. 85_transcripts shows them with trajectory_id = "0-1" and most = 1000.'
        in (words(shown))
    )


def test_the_size_of_a_transcript_does_not_grow_with_its_messages() -> None:
    assert len(html(long_run(40_000), "0-1")) < 1.2 * len(html(long_run(10_000), "0-1")) < 2_000_000

"""Qwen3's chat template, by the letter: expected texts are written out by hand."""

import pytest

from analysis.records.chat_template import MARKERS, render, turns
from analysis.records.model import Call, Message, Tool, Trajectory

TOOL = Tool("get_user", "Looks a user up.", '{"type": "object", "properties": {"name": {"type": "string"}}}')
TOOLS_TEXT = """# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{"type": "function", "function": {"name": "get_user", "description": "Looks a user up.", "parameters": {"type": "object", "properties": {"name": {"type": "string"}}}}}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>"""  # noqa: E501


def trajectory(*messages: Message, tools: tuple[Tool, ...] = ()) -> Trajectory:
    return Trajectory("here", "release", "conversation", "bank", "1", "Pay.", None, tools, "", list(messages), [])


def call(name: str = "get_user", arguments: str = '{"name": "Ann"}', form: str = "string") -> Call:
    return Call(name, arguments, "object" if form == "object" else "string")


def test_the_tools_stand_in_the_system_part_after_its_text() -> None:
    found = render(trajectory(Message("system", "You are a clerk."), tools=(TOOL,)))
    assert found == f"<|im_start|>system\nYou are a clerk.\n\n{TOOLS_TEXT}<|im_end|>\n"


def test_without_a_system_message_the_tools_open_the_text_all_the_same() -> None:
    found = render(trajectory(Message("user", "Hello"), tools=(TOOL,)))
    assert found == f"<|im_start|>system\n{TOOLS_TEXT}<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"


def test_without_tools_the_system_text_stands_alone() -> None:
    assert render(trajectory(Message("system", "Be kind."))) == "<|im_start|>system\nBe kind.<|im_end|>\n"


def test_tools_that_the_system_text_already_holds_are_not_written_twice() -> None:
    prompt = "# Tools\n<tools>\n{}\n</tools>"
    found = render(trajectory(Message("system", prompt), tools=(TOOL,)))
    assert found == f"<|im_start|>system\n{prompt}<|im_end|>\n"


def test_a_thought_stands_before_the_answer_and_is_gone_from_the_history() -> None:
    seen = trajectory(Message("assistant", "Done.", reasoning=" Let me see. \n"))
    assert render(seen) == "<|im_start|>assistant\n<think>\nLet me see.\n</think>\n\nDone.<|im_end|>\n"
    assert render(seen, thoughts=False) == "<|im_start|>assistant\nDone.<|im_end|>\n"


@pytest.mark.parametrize("reasoning", [None, "", "  \n"])
def test_a_turn_without_reasoning_is_trained_with_an_empty_thought(reasoning: str | None) -> None:
    found = render(trajectory(Message("assistant", "Done.", reasoning=reasoning)))
    assert found == "<|im_start|>assistant\n<think>\n\n</think>\n\nDone.<|im_end|>\n"


def test_a_call_without_text_opens_the_turn() -> None:
    found = render(trajectory(Message("assistant", "", calls=[call()])), thoughts=False)
    assert found == (
        "<|im_start|>assistant\n"
        '<tool_call>\n{"name": "get_user", "arguments": {"name": "Ann"}}\n</tool_call><|im_end|>\n'
    )


def test_text_and_calls_stand_a_line_apart() -> None:
    found = render(trajectory(Message("assistant", "I look.", calls=[call(), call(arguments="{}")])), thoughts=False)
    assert found == (
        "<|im_start|>assistant\nI look.\n"
        '<tool_call>\n{"name": "get_user", "arguments": {"name": "Ann"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "get_user", "arguments": {}}\n</tool_call><|im_end|>\n'
    )


def test_arguments_given_as_text_stay_to_the_letter_and_an_object_is_written_as_python_writes_it() -> None:
    spaced = '{"name" :"Änn"}'
    assert spaced in render(trajectory(Message("assistant", "", calls=[call(arguments=spaced)])))
    found = render(trajectory(Message("assistant", "", calls=[call(arguments='{"name":"Änn"}', form="object")])))
    assert '"arguments": {"name": "Änn"}}' in found


def test_results_in_a_row_share_one_user_turn() -> None:
    found = render(trajectory(Message("tool", "{'a': 1}"), Message("tool", ""), Message("user", "And?")))
    assert found == (
        "<|im_start|>user\n<tool_response>\n{'a': 1}\n</tool_response>\n<tool_response>\n\n</tool_response><|im_end|>\n"
        "<|im_start|>user\nAnd?<|im_end|>\n"
    )


def test_a_role_the_template_does_not_know_leaves_nothing() -> None:
    seen = trajectory(Message("user", "Hello"), Message("other", "note"))
    assert render(seen) == "<|im_start|>user\nHello<|im_end|>\n"
    assert [len(pieces) > 0 for pieces in turns(seen)] == [True, False]


def test_a_trajectory_without_messages_is_no_text() -> None:
    assert render(trajectory(tools=(TOOL,))) == ""


def test_every_marker_is_a_piece_of_its_own() -> None:
    seen = trajectory(
        Message("system", "Be kind."),
        Message("assistant", "I look.", reasoning="Hm.", calls=[call()]),
        Message("tool", "{}"),
    )
    texts = [piece.text for pieces in turns(seen) for piece in pieces]
    assert {text for text in texts if text in MARKERS} == MARKERS
    assert not [text for text in texts if text not in MARKERS and any(marker in text for marker in MARKERS)]

"""The engine keeps a description's states and rules; a call that fails changes nothing."""

import copy
from typing import Any

import pytest

from analysis.sample.description import descriptions
from analysis.sample.engine import Environment
from analysis.sample.naming import environment
from analysis.sample.scenarios import scenario
from analysis.sample.toolbox import toolbox

SEED = 7


def rows(columns: str, *rows: tuple[Any, ...]) -> dict[str, dict[str, Any]]:
    """Records by their ids, which stand first."""
    return {row[0]: dict(zip(columns.split(), row, strict=True)) for row in rows}


@pytest.fixture
def library() -> Environment:
    """Two members, two copies, one open loan; today is 2024-05-02."""
    state = {
        "members": rows(
            "member_id name city email fee joined_on status",
            ("MMB-001", "Siobhan O'Hara", "Corvale", "s@example.org", 0.0, "2023-01-01", "active"),
            ("MMB-002", "Ravi Sato", "Innsford", "r@example.org", 31.5, "2023-02-01", "suspended"),
        ),
        "copies": rows(
            "copy_id title category shelf status",
            ("CPY-001", "Winter Harbours", "travel", "A1", "lent"),
            ("CPY-002", "The Baker's Almanac", "craft", "A2", "available"),
        ),
        "loans": rows(
            "loan_id member_id copy_id due_on renewals closed_on status",
            ("LNO-001", "MMB-001", "CPY-001", "2024-05-20", 0, None, "open"),
        ),
    }
    return Environment(environment(0, SEED), toolbox(0, SEED), state, "2024-05-02")


def test_a_query_returns_the_record(library: Environment) -> None:
    result = library.call("get_copy_by_id", {"copy_id": "CPY-002"})
    assert repr(result) == (
        "{'success': True, 'data': {'copy_id': 'CPY-002', 'title': \"The Baker's Almanac\", 'category': 'craft', "
        "'shelf': 'A2', 'status': 'available'}}"
    )


def test_a_query_hands_out_copies(library: Environment) -> None:
    library.call("get_copy_by_id", {"copy_id": "CPY-002"})["data"]["status"] = "gone"
    assert library.state["copies"]["CPY-002"]["status"] == "available"


def test_a_loan_takes_the_copy_off_the_shelf_and_its_return_puts_it_back(library: Environment) -> None:
    lent = {"member_id": "MMB-001", "copy_id": "CPY-002", "due_on": "2024-06-01"}
    assert library.call("open_loan", lent) == {"success": True, "message": "Loan LNO-002 opened"}
    assert library.state["copies"]["CPY-002"]["status"] == "lent"
    assert library.call("return_loan", {"loan_id": "LNO-002"}) == {"success": True, "message": "Loan LNO-002 returned"}
    assert library.state["copies"]["CPY-002"]["status"] == "available"
    assert library.state["loans"]["LNO-002"]["closed_on"] == "2024-05-02"


def test_a_lost_copy_costs_the_member_a_fee(library: Environment) -> None:
    assert library.call("declare_loan_lost", {"loan_id": "LNO-001"})["success"]
    assert library.state["members"]["MMB-001"]["fee"] == 15.0
    assert library.state["copies"]["CPY-001"]["status"] == "withdrawn"


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("get_loan_by_id", {"loan_id": "LNO-009"}, "Loan not found"),
        ("get_loan_by_id", {}, "get_loan_by_id() is missing the argument 'loan_id'"),
        ("get_loan_by_id", {"loan_id": "LNO-001", "x": 1}, "get_loan_by_id() got an unexpected argument 'x'"),
        ("get_loan_by_id", {"loan_id": 1}, "loan_id must be text"),
        ("list_loans_by_status", {"status": "Open"}, "Invalid status 'Open'; it must be one of open, returned, lost"),
        ("charge_member_fee", {"member_id": "MMB-001", "amount": "5"}, "amount must be a number"),
        ("charge_member_fee", {"member_id": "MMB-001", "amount": True}, "amount must be a number"),
        ("charge_member_fee", {"member_id": "MMB-001", "amount": -1}, "The fee can't go below 0; it is 0 now"),
        ("suspend_member", {"member_id": "MMB-002"}, "Member is suspended; it can only be suspended when active"),
        ("reinstate_member", {"member_id": "MMB-002"}, "Member owes more than 20 and cannot be reinstated"),
        (
            "open_loan",
            {"member_id": "MMB-001", "copy_id": "CPY-001", "due_on": "2024-06-01"},
            "Copy isn't available",
        ),
        ("get_book_info", {}, "Unknown operation 'get_book_info'"),
    ],
)
def test_mistakes_and_rules_are_answered_in_words_and_change_nothing(
    library: Environment, tool: str, arguments: dict[str, Any], error: str
) -> None:
    before = copy.deepcopy(library.state)
    assert library.call(tool, arguments) == {"success": False, "error": error}
    assert library.state == before


def test_a_fourth_open_loan_is_refused(library: Environment) -> None:
    shelf = library.state["copies"]
    for number in range(3, 7):
        shelf[f"CPY-00{number}"] = {**shelf["CPY-002"], "copy_id": f"CPY-00{number}"}
    lend = [
        library.call("open_loan", {"member_id": "MMB-001", "copy_id": f"CPY-00{n}", "due_on": "2024-06-01"})
        for n in range(2, 6)
    ]
    assert [result["success"] for result in lend] == [True, True, False, False]
    assert lend[-1]["error"] == "Member already holds three open loans"


def test_an_argument_with_a_default_may_be_left_out_though_the_schema_requires_it(library: Environment) -> None:
    tool = library.tools["search_members_by_name"]
    assert "limit" in tool.schema["function"]["parameters"]["required"]
    assert [r["name"] for r in library.call(tool.name, {"text": "o'hara"})["data"]] == ["Siobhan O'Hara"]
    assert library.call(tool.name, {"text": "", "limit": 1})["data"] == [library.state["members"]["MMB-001"]]


@pytest.mark.parametrize("number", range(1, 26))
def test_a_library_s_scenarios_keep_its_rules_from_beginning_to_end(number: int) -> None:
    """A second opinion on the rules, by plain Python over the states."""
    played = scenario(0, SEED, number)
    for state in (played.initial, played.final):
        held = [loan for loan in state["loans"].values() if loan["status"] == "open"]
        assert all(state["copies"][loan["copy_id"]]["status"] == "lent" for loan in held)
        assert len({loan["copy_id"] for loan in held}) == len(held), "one copy, two open loans"
        members = [loan["member_id"] for loan in held]
        assert all(members.count(member) <= 3 for member in members)
        assert all((loan["closed_on"] is None) == (loan["status"] != "returned") for loan in state["loans"].values())


@pytest.mark.parametrize("index", range(len(descriptions())))
def test_every_record_refers_to_records_that_exist(index: int) -> None:
    description = environment(index, SEED)
    for number in range(1, 6):
        state = scenario(index, SEED, number).initial
        for entity in description.entities.values():
            assert state[entity.many], f"{entity.many} is empty"
            for record in state[entity.many].values():
                for ref in entity.refs:
                    assert record[ref.column] in state[description.entities[ref.to].many]


@pytest.mark.parametrize("index", range(len(descriptions())))
def test_a_task_can_be_done_in_the_order_of_its_parts(index: int) -> None:
    """A faultless run reaches the final state: every part succeeds but those that are there to be refused."""
    for number in range(1, 9):
        played = scenario(index, SEED, number)
        env = played.start()
        for goal in played.goals:
            looked = [env.call(step.tool.name, step.arguments) for step in goal.looks]
            assert all(result["success"] for result in looked), (goal.ask, looked)
            acted = [env.call(step.tool.name, step.arguments)["success"] for step in goal.acts]
            assert all(acted) or goal.is_refused, goal.ask
            assert not (goal.is_refused and all(acted)), goal.ask
            assert goal.calls <= 8, "a careful run might be longer than the publisher's filter allows"
        assert env.state == played.final

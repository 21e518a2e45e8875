"""The wall: whatever environment or check code does ends as one trajectory's reason, and the next one replays."""

import resource
import time

import pytest

from analysis.replay.play import play
from analysis.replay.sandbox import NotReplayableError
from analysis.replay.stage import open_stage
from tests.replay.worlds import QUICK, environment, kinds, method, recorded, replay, scenario

# Code of a method, and a word of the reason it comes to.
REFUSED = {
    "opens a file": ('return open("/etc/passwd").read()', "open"),
    "opens a file by another name": ('f = open\nreturn f("/etc/passwd").read()', "open"),
    "imports os": ('import os\nreturn os.listdir("/")', "imports os"),
    "imports socket": ("import socket\nreturn 1", "imports socket"),
    "imports subprocess by a call": ('return __import__("subprocess")', "__import__"),
    "evaluates": ("return eval(\"open('/etc/passwd')\")", "eval"),
    "loops for ever": ("while True: pass", "out of time"),
    "loops and catches": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "out of time",
    ),
    "waits for the clock": ("import time\nwhile True: time.time()", "asked for the time"),
    "allocates without end": ('a = []\nwhile True: a.append("x" * 1000000)', "out of memory"),
    "allocates at once": ('return "x" * 10 ** 10', "out of memory"),
    "allocates and catches": (
        'a = []\nwhile True:\n    try: a.append("x" * 1000000)\n    except BaseException: pass',
        "out of memory",
    ),
    "recurses": ("return self.go()", "recursed"),
    "prints megabytes": ('print("x" * 5000000)\nreturn 1', "printed too much"),
    "takes the driver's place": (
        "global _replay_call\n_replay_call = lambda *a: 5\nreturn 1",
        "which is what plays it",
    ),
    "reads the driver's values": ("return _replay_env.__init__.__globals__", "which is what plays it"),
}


def largest() -> int:
    """Bytes of the largest process that this one has waited for, or, as a fork begins with what it holds, of itself."""
    whose = (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)
    return max(resource.getrusage(one).ru_maxrss for one in whose) * 1024


@pytest.mark.parametrize(("body", "word"), REFUSED.values(), ids=REFUSED)
def test_code_that_goes_too_far_is_one_reason_in_bounded_time(body: str, word: str) -> None:
    start, before = time.monotonic(), largest()
    record = recorded(("go", {}, "1"), ("go", {}, "1"))
    with open_stage(QUICK) as stage:
        with pytest.raises(NotReplayableError) as refusal:
            play(stage, method(body), scenario(), record)
        assert word in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert kinds(play(stage, method("return 1"), scenario(), record)) == ["reproduced: text"] * 2
    assert time.monotonic() - start < 10
    assert largest() <= max(before, 1 << 30)


@pytest.mark.parametrize(
    "body",
    [
        "return ().__class__.__bases__[0].__subclasses__()",
        "return self.go.__globals__",
    ],
)
def test_code_reaches_none_of_our_objects(body: str) -> None:
    assert kinds(replay(method(body), recorded(("go", {}, "1")))) == ["untold: sandbox"]


def test_a_result_of_many_megabytes_is_cut_before_it_leaves_the_sandbox() -> None:
    played = replay(method('return "x" * 20000000'), recorded(("go", {}, "1")))
    assert len(played.calls[0].answer.text) == 1 << 20
    assert kinds(played) == ["differing: outcome"] or kinds(played) == ["differing: content"]


def test_a_sleep_takes_no_time() -> None:
    start = time.monotonic()
    assert kinds(replay(method("import time\ntime.sleep(100000)\nreturn 1"), recorded(("go", {}, "1")))) == [
        "reproduced: text"
    ]
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(("body", "word"), list(REFUSED.values())[:12], ids=list(REFUSED)[:12])
def test_a_check_that_goes_too_far_cannot_be_asked(body: str, word: str) -> None:
    code = "def check_func(final_state):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    played = replay(method("return 1"), recorded(("go", {}, "1")), scenario([code]))
    (check,) = played.checks
    assert check.is_passed is None
    assert word in check.reason


def test_code_that_runs_at_import_is_inside_the_wall_too() -> None:
    with pytest.raises(NotReplayableError, match="out of time"):
        replay(environment("def go(self): return 1", head="while True: pass"), recorded(("go", {}, "1")))

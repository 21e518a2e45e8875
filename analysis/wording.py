"""Numbers as words: the only place where a count, a rate, a percentage, an interval, a plural or a mode becomes text.

Headlines, chart titles, tables, transcripts, the card, the gate, the index and SARIF all ask here, so that one number
has one spelling wherever it stands.
"""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import polars as pl

from analysis.schema import FEWEST_FOR_A_RATE

# Stands for an absent value: "null" is a word of programmers, and nothing at all looks forgotten.
ABSENT = "–"
# A space that no line breaks at.
GAP = "\u00a0"

# What Polars hands out as a number of one cell or one sum.
Number = float | Decimal | None

CONVERSATION, NON_CONVERSATION = "conversation", "non_conversation"
MODES: Mapping[str, str] = {CONVERSATION: "with user", NON_CONVERSATION: "without user"}
BOTH_MODES = " / ".join(MODES.values())


def plural(number: float | Decimal, noun: str, several: str = "") -> str:
    """The noun for so many of it; `several` where that is not by rule.

    >>> plural(1, "trajectory"), plural(2, "trajectory"), plural(0, "call"), plural(3, "match"), plural(2, "is", "are")
    ('trajectory', 'trajectories', 'calls', 'matches', 'are')
    """
    if number == 1 or several:
        return noun if number == 1 else several
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def count(number: Number, noun: str = "") -> str:
    """A count with thousands apart, and with its noun where there is one.

    >>> count(9022), count(1, "environment"), count(9022, "trajectory"), count(None)
    ('9,022', '1 environment', '9,022 trajectories', '–')
    """
    if number is None:
        return ABSENT
    return f"{number:,.0f} {plural(number, noun)}" if noun else f"{number:,.0f}"


def percent(share: Number) -> str:
    """A part of a whole, in per cent. What rounds to nothing or to all, and is neither, says so.

    >>> percent(0.342), percent(1 / 5000), percent(4999 / 5000), percent(0), percent(1.0)
    ('34.2 %', 'under 0.1 %', 'over 99.9 %', '0 %', '100 %')
    """
    if share is None or not math.isfinite(share):
        return ABSENT
    share = float(share)
    if 0 < share < 0.0005:
        return "under 0.1 %"
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return f"{100 * share:.0f} %" if share in (0, 1) else f"{100 * share:.1f} %"


def chance(p_value: float) -> str:
    """The chance of a difference where there is none: never nothing at all.

    >>> chance(0.0), chance(0.0413)
    ('under 0.001', '0.0413')
    """
    return "under 0.001" if p_value < 0.001 else cell(p_value)


def rate(events: Number, trials: Number) -> str:
    """Events of trials as a percentage; as counts under 20 trials.

    >>> rate(1, 5000), rate(3, 15), rate(0, 0)
    ('under 0.1 %', '3 of 15', '0 of 0')
    """
    events, trials = float(events or 0), float(trials or 0)
    return percent(events / trials) if trials >= FEWEST_FOR_A_RATE else f"{count(events)} of {count(trials)}"


def rate_of(events: Number, trials: Number, noun: str, whose: str = "the") -> str:
    """The same with what was tried, as it is said in a sentence.

    >>> rate_of(30, 40, "tool"), rate_of(3, 15, "tool"), rate_of(1, 1, "call"), rate_of(3, 6, "call", "its")
    ('75.0 % of the tools', '3 of 15 tools', '1 of 1 call', '3 of its 6 calls')
    """
    trials = float(trials or 0)
    if trials >= FEWEST_FOR_A_RATE:
        return f"{rate(events, trials)} of {whose} {plural(2, noun)}"
    whole = count(trials, noun)
    return f"{count(events or 0)} of {whole if whose == 'the' else f'{whose} {whole}'}"


def decimal(number: Number, digits: int = 1) -> str:
    """A number that is no count, rounded, without a needless end of zeros.

    >>> decimal(12.5), decimal(9.04), decimal(None), decimal(1234.56, 2)
    ('12.5', '9', '–', '1,234.56')
    """
    if number is None or not math.isfinite(number):
        return ABSENT
    text = f"{number:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def setting(number: float, *, is_share: bool = False) -> str:
    """A number that somebody chose, in full: never rounded to "under 0.1 %".

    >>> setting(0.0005, is_share=True), setting(0.05, is_share=True), setting(3)
    ('0.05 %', '5 %', '3')
    """
    return f"{decimal(100 * number, 6)} %" if is_share else decimal(number, 6)


def signed(number: Number, digits: int = 1) -> str:
    """A difference with its sign, unless it rounds to nothing.

    >>> signed(7.62), signed(-0.01), signed(-3)
    ('+7.6', '±0', '-3')
    """
    text = decimal(number, digits)
    return text if text.startswith(("-", ABSENT)) else "±0" if text == "0" else f"+{text}"


def more(difference: float, noun: str) -> str:
    """How many more or fewer there are, as it is said in a sentence.

    >>> more(7.62, "call"), more(-1, "call"), more(0.01, "call")
    ('7.6 more calls', '1 fewer call', 'the same number of calls')
    """
    size = decimal(abs(difference))
    if size == "0":
        return f"the same number of {plural(2, noun)}"
    return f"{size} {'more' if difference > 0 else 'fewer'} {noun if size == '1' else plural(2, noun)}"


def interval(low: Number, high: Number, digits: int = 1) -> str:
    """A 95 % interval in words.

    >>> interval(1.25, 3), interval(None, None)
    ('95 % interval 1.2 to 3', 'too few for an interval')
    """
    if low is None or high is None:
        return "too few for an interval"
    return f"95 % interval {decimal(low, digits)} to {decimal(high, digits)}"


def verdict(compared: int, different: int, by_chance: float, noun: str = "number") -> str:
    """What many comparisons together say: how many differ more than chance would make any, and what chance would make.

    A sentence that ranks or compares has to earn it, and earns it here.

    >>> verdict(61, 0, 3.05, "tool")
    'Of 61 tools compared, none differs more than chance would make it (about 3 would seem to)'
    >>> verdict(12, 2, 0.6)
    '2 of 12 numbers compared differ more than chance would make any'
    >>> verdict(0, 0, 0)
    'Too few scenarios to say whether any number differs'
    """
    if not compared:
        return f"Too few scenarios to say whether any {noun} differs"
    if different:
        differ = plural(different, "differs", "differ")
        return f"{count(different)} of {count(compared, noun)} compared {differ} more than chance would make any"
    seeming = f" (about {decimal(by_chance, 0)} would seem to)" if by_chance >= 1 else ""
    return f"Of {count(compared, noun)} compared, none differs more than chance would make it{seeming}"


def mode(traj_type: str) -> str:
    """The name of a mode on every page; what is none stays as it is.

    >>> mode("conversation"), mode("non_conversation")
    ('with user', 'without user')
    """
    return MODES.get(traj_type, traj_type)


def by_mode(values: Mapping[str, str]) -> str:
    """What each mode has, in a sentence; keys are modes by either name.

    >>> by_mode({"conversation": "34 steps", "non_conversation": "12"})
    '34 steps with user, 12 without user'
    """
    return ", ".join(f"{text} {mode(name)}" for name, text in values.items())


def modes_side_by_side(values: Mapping[str, Any], as_text: Callable[[Any], str] = decimal) -> str:
    """What each mode has, in the order of BOTH_MODES, a dash for a mode that is not there.

    >>> modes_side_by_side({"conversation": 12.5, "non_conversation": 9}), modes_side_by_side({"non_conversation": 1})
    ('12.5 / 9', '– / 1')
    """
    return " / ".join(as_text(values.get(name)) for name in MODES)


def words(name: str) -> str:
    """The name of a rule, a class or a column as words.

    >>> words("answered_by_user")
    'answered by user'
    """
    return name.replace("_", " ")


def unbroken(text: str) -> str:
    """The same text, with no line to break between a number and its per cent sign.

    >>> unbroken("34.2 %") == f"34.2{GAP}%"
    True
    """
    return text.replace(" %", f"{GAP}%")


def cell(value: Any, *, is_share: bool = False, is_class: bool = False) -> str:
    """A value of a table as a reader wants it: shares in per cent, thousands apart, three digits, a dash for nothing.

    Whole numbers are never rounded; the name of a rule, a class or a mode is said in words.

    >>> cell(12345.6), cell(0.012345), cell(0.5, is_share=True), cell(True), cell([1, None])
    ('12,346', '0.0123', '50.0 %', 'yes', '1, –')
    >>> cell("over_required", is_class=True), cell("conversation", is_class=True), cell("get_user")
    ('over required', 'with user', 'get_user')
    """
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return percent(value) if is_share and 0 <= value <= 1 else _three_digits(value)
    if isinstance(value, list | tuple | pl.Series):
        return ", ".join(cell(item, is_share=is_share, is_class=is_class) for item in value)
    return words(mode(str(value))) if is_class else str(value)


def _three_digits(value: float) -> str:
    if not math.isfinite(value):
        return ABSENT if math.isnan(value) else f"{value:+}".replace("inf", "∞")
    if value == round(value):
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{value:,.{min(max(digits, 0), 6)}f}"

"""A gate's outcome as a table to read in a terminal."""

from collections.abc import Sequence

from analysis.gate.check import Check, counts
from analysis.gate.quantities import QUANTITIES
from analysis.schema import FEWEST_FOR_A_RATE
from analysis.wording import ABSENT, cell, count, percent, rate, words

MARKS = {"holds": "holds", "falls short": "FALLS SHORT", "not known": "not known"}


def table(checks: Sequence[Check]) -> str:
    """One line per bound: verdict, name, value with what it is counted of, and the bound."""
    rows = [("", "quantity", "value", "of", "bound")]
    rows += [(MARKS[c.verdict], _name(c), value(c), _of(c), c.bound) for c in checks]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        mark, name, number, of, bound = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        lines.append(
            f"{mark}  {name}  {number.strip().rjust(widths[2])}  {of.strip().rjust(widths[3])}  {bound}".rstrip()
        )
    return "\n".join(lines)


def summary(checks: Sequence[Check]) -> str:
    """One sentence: how many bounds hold, of how many."""
    number = counts(checks)
    names = ", ".join(dict.fromkeys(words(check.name) for check in checks if check.verdict == "not known"))
    unknown = f"; not known: {number['not known']} ({names})" if names else ""
    hold = f"bounds that hold: {count(number['holds'])} of {count(len(checks))}"
    return f"{hold}; that fall short: {count(number['falls short'])}{unknown}"


def value(check: Check) -> str:
    """The value as on every page: a rate, counts under 20, or a number; a dash where it is not known."""
    if check.value is None:
        return ABSENT
    if not _is_rate(check):
        return cell(check.value)
    # Beside a baseline of which only the share is known there is a share.
    return percent(check.value) if check.kind == "baseline" else rate(check.events, check.of)


def _name(check: Check) -> str:
    return {
        "threshold": check.name,
        "finding": f"finding: {words(check.name)}",
        "baseline": f"{check.name}, baseline",
    }[check.kind]


def _of(check: Check) -> str:
    if check.kind == "baseline":
        before = percent(check.baseline) if _is_rate(check) else cell(check.baseline)
        return ABSENT if check.baseline is None else f"was {before}"
    if check.value is None:
        return check.reason
    if not _is_rate(check):
        return f"n = {count(check.of)}" if check.of is not None else ""
    # Under 20 the value is these counts already.
    return f"{count(check.events)} of {count(check.of)}" if (check.of or 0) >= FEWEST_FOR_A_RATE else ""


def _is_rate(check: Check) -> bool:
    """Events of so many, where a share is asked for; evenness is a share of nothing that is counted."""
    return check.events is not None and (check.kind == "finding" or QUANTITIES[check.name].is_share)

"""A gate's outcome as a table to read in a terminal."""

from collections.abc import Sequence

from analysis.gate.check import Check, counts

MARKS = {"holds": "holds", "falls short": "FALLS SHORT", "not known": "not known"}


def table(checks: Sequence[Check]) -> str:
    """One line a bound: verdict, name, value with what it is counted of, and what is asked for."""
    rows = [("", "what", "value", "of", "asked for")]
    rows += [(MARKS[c.verdict], _name(c), _value(c), _of(c), c.bound) for c in checks]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        mark, name, value, of, bound = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        lines.append(
            f"{mark}  {name}  {value.strip().rjust(widths[2])}  {of.strip().rjust(widths[3])}  {bound}".rstrip()
        )
    return "\n".join(lines)


def summary(checks: Sequence[Check]) -> str:
    """One sentence: how many bounds hold, of how many."""
    count = counts(checks)
    names = ", ".join(dict.fromkeys(check.name for check in checks if check.verdict == "not known"))
    unknown = f", {count['not known']} not known: {names}" if names else ""
    return f"{count['holds']} of {len(checks)} bounds hold, {count['falls short']} fall short{unknown}"


def _name(check: Check) -> str:
    return {"threshold": check.name, "finding": f"finding {check.name}", "baseline": f"{check.name}, baseline"}[
        check.kind
    ]


def _value(check: Check) -> str:
    return "–" if check.value is None else _number(check.value)


def _of(check: Check) -> str:
    if check.kind == "baseline":
        return "–" if check.baseline is None else f"was {_number(check.baseline)}"
    if check.events is not None and check.of is not None:
        return f"{check.events:,.0f} of {check.of:,.0f}"
    return check.reason if check.value is None else f"n = {check.of:,.0f}" if check.of is not None else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and abs(value) > 1 else f"{value:.4f}"

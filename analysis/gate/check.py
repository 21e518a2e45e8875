"""Hold tables against a gate, and against a baseline."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec
import polars as pl

from analysis.gate.config import Gate, GateError, Threshold
from analysis.gate.quantities import QUANTITIES, Measurement
from analysis.records.rules import BY_ID
from analysis.tables import Tables
from analysis.wording import setting

Verdict = Literal["holds", "falls short", "not known"]


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One bound and how the set stands to it.

    `value` is `events` / `of` where it is a share. `bound` says in words what is asked for. A value that is not known
    (nothing to count) falls short only where the gate says that it must be known.
    """

    name: str
    kind: Literal["threshold", "finding", "baseline"]
    meaning: str
    verdict: Verdict
    bound: str
    value: float | None = None
    events: float | None = None
    of: float | None = None
    baseline: float | None = None
    reason: str = ""
    why: str = ""


def check(
    data: Tables, gate: Gate, baseline: Tables | None = None, *, report: Callable[[str], None] = lambda name: None
) -> list[Check]:
    """Hold a source against a gate.

    Args:
        data: the tables to judge.
        gate: the bounds.
        baseline: tables no quantity of the gate may be much worse than, e.g. those of the revision before.
        report: called with the name of each quantity before it is computed.

    Returns:
        One check per bound, thresholds first, in the order of the gate; with a baseline one more per threshold.
    """
    checks: list[Check] = []
    for threshold in gate.threshold:
        report(threshold.quantity)
        quantity = QUANTITIES[threshold.quantity]
        measurement = quantity.find(data, gate)
        if threshold.at_most is not None or threshold.at_least is not None or threshold.tolerance is None:
            checks.append(_bounded(threshold, measurement, gate))
        if baseline is not None:
            checks.append(_compared(threshold, measurement, quantity.find(baseline, gate), gate))
    if gate.finding:
        report("findings")
    return [*checks, *_findings(data, gate)]


def refuse_unread(data: Tables) -> None:
    """Refuse a source from which nothing was read: it breaks no bound, and keeps none.

    Raises:
        GateError: it holds no record.
    """
    if not data.manifest["records_in"]:
        raise GateError(f"{data.source}: nothing was read; it holds no record")


def failed(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.verdict == "falls short"]


def outcome(checks: Sequence[Check]) -> Verdict:
    """Of all bounds together: "falls short" if one does, "not known" if none is known, else "holds"."""
    verdicts = {check.verdict for check in checks}
    return "falls short" if "falls short" in verdicts else "holds" if "holds" in verdicts else "not known"


def counts(checks: Sequence[Check]) -> dict[Verdict, int]:
    """How many bounds hold, fall short, and are not known."""
    verdicts: tuple[Verdict, ...] = ("holds", "falls short", "not known")
    return {verdict: sum(check.verdict == verdict for check in checks) for verdict in verdicts}


def _bounded(threshold: Threshold, measurement: Measurement, gate: Gate) -> Check:
    value = measurement.value
    low, high = threshold.at_least, threshold.at_most
    is_share = QUANTITIES[threshold.quantity].is_share
    bounds = [f"at least {setting(low, is_share=is_share)}"] if low is not None else []
    bounds += [f"at most {setting(high, is_share=is_share)}"] if high is not None else []
    return Check(
        name=threshold.quantity,
        kind="threshold",
        meaning=QUANTITIES[threshold.quantity].meaning,
        verdict=_verdict(
            value,
            value is not None and (low is None or value >= low) and (high is None or value <= high),
            must_be_known=threshold.must_be_known or gate.must_be_known,
        ),
        bound=" and ".join(bounds) or "known",
        value=value,
        events=measurement.events,
        of=measurement.of,
        reason=measurement.reason,
        why=threshold.why,
    )


def _compared(threshold: Threshold, measurement: Measurement, before: Measurement, gate: Gate) -> Check:
    tolerance = gate.tolerance if threshold.tolerance is None else threshold.tolerance
    quantity = QUANTITIES[threshold.quantity]
    value = None if measurement.value is None or before.value is None else measurement.value
    worse = 0.0
    if measurement.value is not None and before.value is not None:
        worse = (measurement.value - before.value) * (1 if quantity.is_less_better else -1)
        # A share is compared in points; what has no upper end, as a part of what it was.
        worse = worse if quantity.is_share or not before.value else worse / abs(before.value)
    unit = "points" if quantity.is_share else "%"
    way = "higher" if quantity.is_less_better else "lower"
    return Check(
        name=threshold.quantity,
        kind="baseline",
        meaning=quantity.meaning,
        verdict=_verdict(value, worse <= tolerance, must_be_known=threshold.must_be_known or gate.must_be_known),
        bound=f"no more than {setting(100 * tolerance)} {unit} {way} than the baseline",
        value=measurement.value,
        events=measurement.events,
        of=measurement.of,
        baseline=before.value,
        reason=measurement.reason or (before.reason and f"in the baseline {before.reason}"),
        why=threshold.why,
    )


def _verdict(value: float | None, holds: bool, *, must_be_known: bool) -> Verdict:
    if value is None:
        return "falls short" if must_be_known else "not known"
    return "holds" if holds else "falls short"


def _findings(data: Tables, gate: Gate) -> Iterator[Check]:
    if not gate.finding:
        return
    kept = data.trajectories.select(pl.len()).collect().item()
    broken = dict(data.findings.group_by("rule").agg(pl.col("trajectory_id").n_unique()).collect().iter_rows())
    for finding in gate.finding:
        events = broken.get(finding.rule, 0)
        value = events / kept if kept else None
        yield Check(
            name=finding.rule,
            kind="finding",
            meaning=f"records that break: {BY_ID[finding.rule].sentence}",
            verdict=_verdict(
                value,
                value is not None and value <= finding.at_most,
                must_be_known=finding.must_be_known or gate.must_be_known,
            ),
            bound=f"at most {setting(finding.at_most, is_share=True)}",
            value=value,
            events=events,
            of=kept,
            reason="" if kept else "there are no records kept",
            why=finding.why,
        )

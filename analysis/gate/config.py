"""What a gate asks for, as read from a TOML file.

cutoff = 32768          # longest training sample, in tokens
tokenizer = ""          # as in notebook 60; empty for qwen if installed
near_duplicate = 0.8    # Jaccard similarity of two tasks that count as nearly the same
near_task = 0.5         # the same of a task and one of the set of --against
near_tool = 0.8         # the same of two tools, by words of the names and names of the parameters
tolerance = 0.02        # how much worse than a baseline a quantity may be
must_be_known = false   # true: what there is nothing to count of falls short, here or at one threshold or finding

[[threshold]]
quantity = "rejected_share"
at_most = 0
why = "a record that cannot be read is a record lost"

[[finding]]
rule = "unanswered_call"
at_most = 0             # share of the records kept that have such a finding
"""

from math import isfinite
from pathlib import Path

import msgspec

from analysis.gate.quantities import QUANTITIES
from analysis.nearest import hint
from analysis.records.rules import BY_ID

DEFAULT = Path(__file__).with_name("default.toml")


class GateError(ValueError):
    """A gate cannot be read; the message names the place and the remedy."""


class Threshold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bound on a quantity. `tolerance` is for a comparison with a baseline; None for the gate's."""

    quantity: str
    at_most: float | None = None
    at_least: float | None = None
    tolerance: float | None = None
    must_be_known: bool = False
    why: str = ""


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bound on the share of the records kept that break a rule of the contract."""

    rule: str
    at_most: float
    must_be_known: bool = False
    why: str = ""


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole gate."""

    threshold: list[Threshold] = []
    finding: list[Finding] = []
    cutoff: int = 32_768
    tokenizer: str = ""
    near_duplicate: float = 0.8
    near_task: float = 0.5
    near_tool: float = 0.8
    tolerance: float = 0.02
    must_be_known: bool = False


def read(path: Path = DEFAULT) -> Gate:
    """Read a gate.

    Raises:
        GateError: it is not there, no TOML, or asks for what there is not.
    """
    try:
        gate = msgspec.toml.decode(path.read_bytes(), type=Gate)
    except OSError as error:
        raise GateError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise GateError(f"{path}: {error}") from None
    problems = [*_problems(gate)]
    if problems:
        raise GateError(f"{path}: {'; '.join(problems)}")
    return gate


def _problems(gate: Gate) -> list[str]:
    problems = []
    if not gate.threshold and not gate.finding:
        problems.append("it holds no [[threshold]] and no [[finding]], so that everything would pass")
    for threshold in gate.threshold:
        name = threshold.quantity
        if name not in QUANTITIES:
            problems.append(f"there is no quantity {name!r}; {hint(name, QUANTITIES)}")
        elif not _bounds(threshold) and not threshold.must_be_known:
            problems.append(f"{name} has no bound; give at_most or at_least")
        problems += [
            f"{name}: {bound} is no bound; give a number" for bound in _bounds(threshold) if not isfinite(bound)
        ]
        if threshold.at_least is not None and threshold.at_most is not None and threshold.at_least > threshold.at_most:
            problems.append(f"{name}: nothing is at least {threshold.at_least:g} and at most {threshold.at_most:g}")
    for finding in gate.finding:
        if finding.rule not in BY_ID:
            problems.append(f"there is no rule {finding.rule!r}; {hint(finding.rule, BY_ID)}")
        if not 0 <= finding.at_most <= 1:
            problems.append(f"{finding.rule}: at_most is a share, 0 to 1, not {finding.at_most:g}")
    return problems


def _bounds(threshold: Threshold) -> list[float]:
    return [bound for bound in (threshold.at_most, threshold.at_least, threshold.tolerance) if bound is not None]

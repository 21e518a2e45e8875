"""A gate: thresholds a data set has to keep, on what it is measured to be and on what breaks its contract.

`read` a gate, `check` tables against it, `sarif.log` the outcome for the tools that read that format.
"""

from analysis.gate.check import Check, check, counts, failed, outcome, refuse_unread
from analysis.gate.config import Gate, GateError, read
from analysis.gate.quantities import QUANTITIES

__all__ = ["QUANTITIES", "Check", "Gate", "GateError", "check", "counts", "failed", "outcome", "read", "refuse_unread"]

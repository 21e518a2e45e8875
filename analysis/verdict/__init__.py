"""The verdict on a source: ready to train on, ready after steps that a command takes, or not; each reason counted.

`remedies` says what mends a bound that is broken, `judge` holds the source against a gate, applies what mends it, and
holds what is left against the gate once more: what remains is counted, never estimated.
"""

from analysis.verdict.judge import Reason, Remains, Step, Unjudged, Verdict, judge
from analysis.verdict.switches import rows_of

__all__ = ["Reason", "Remains", "Step", "Unjudged", "Verdict", "judge", "rows_of"]

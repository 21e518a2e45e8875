"""What is asked of a run of reports: the options of `python -m analysis report`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analysis.report import kernels
from analysis.report.suite import HOME, ROOT, SUITE

# An installed package writes where it is called, a checkout beside its suite.
PLACE = Path("reports") if HOME != ROOT else ROOT / "reports"
HTML = PLACE / "html"
EXECUTED = PLACE / "executed"


@dataclass(frozen=True)
class ReportRequest:
    """What is asked for: the options of `python -m analysis report`.

    `gate` is the file of limits that the verdict is by; None for those of a data set like the release.

    0 jobs means one more than there are cores: at any time some notebook waits for its kernel to start or to end.
    """

    source: str = "sample"
    only: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    out: Path = HTML
    executed: Path = EXECUTED
    jobs: int = 0
    each: str = ""
    timeout: int = 600
    environments: str = ""
    scenarios: str = ""
    against: str = ""
    suite: Path = SUITE
    gate: Path | None = None
    engine: str = kernels.WARM
    progress: bool = True
